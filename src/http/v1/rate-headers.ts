/** What the rate headers say (SPEC "Limits"). */
import type { BucketRule, Draw } from '../../domain/tokens/buckets.ts';

/** `X-RateLimit-Limit`, `-Remaining`, `-Reset` (Unix seconds when full), and `Retry-After` where nothing was left. */
export function rateHeaders(rule: BucketRule, draw: Draw): Record<string, string> {
  const costMs = 1_000 / rule.refillPerS;
  const missing = (draw.fullAtMs - draw.nowMs) / costMs;
  const left = Math.max(Math.floor(rule.capacity - missing + 1e-6), 0);
  const headers: Record<string, string> = {
    'x-ratelimit-limit': String(Math.round(rule.refillPerS * 60)),
    'x-ratelimit-remaining': String(left),
    'x-ratelimit-reset': String(Math.ceil(draw.fullAtMs / 1_000)),
  };
  if (!draw.allowed) {
    const waitMs = draw.fullAtMs + costMs - rule.capacity * costMs - draw.nowMs;
    headers['retry-after'] = String(Math.max(Math.ceil(waitMs / 1_000), 1));
  }
  return headers;
}
