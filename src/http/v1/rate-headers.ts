/** Builds the rate limit headers (SPEC "Limits"). */
import { type BucketRule, costMs, type Draw } from '../../domain/tokens/buckets.ts';

/** The precision of a current timestamp stored as a double, in milliseconds. */
const CLOCK_ERROR_MS = 0.001;

/**
 * `X-RateLimit-Limit`, `-Remaining`, `-Reset` (Unix seconds when full); `Retry-After` when nothing is left.
 */
export function rateHeaders(rule: BucketRule, draw: Draw): Record<string, string> {
  const cost = costMs(rule);
  const missing = (draw.fullAtMs - draw.nowMs - CLOCK_ERROR_MS) / cost;
  const left = draw.allowed ? Math.max(Math.floor(rule.capacity - missing), 0) : 0;
  const headers: Record<string, string> = {
    'x-ratelimit-limit': String(Math.round(rule.refillPerS * 60)),
    'x-ratelimit-remaining': String(left),
    'x-ratelimit-reset': String(Math.ceil(draw.fullAtMs / 1_000)),
  };
  if (!draw.allowed) {
    const waitMs = draw.fullAtMs + cost - rule.capacity * cost - draw.nowMs - CLOCK_ERROR_MS;
    headers['retry-after'] = String(Math.max(Math.ceil(waitMs / 1_000), 1));
  }
  return headers;
}
