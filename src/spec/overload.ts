/**
 * The requests that are refused when there are more than the process can answer. A burst is admitted, and a
 * queue that does not drain is not. SKERRY_OVERLOAD_MS and SKERRY_REQUESTS_MAX set the rest.
 */
import { BILLING_PATHS, LIVE_PATH, PANEL_PATHS } from './paths.ts';

/** `always`: never refused. `first`: while others are refused, up to as many as keep their own time short. */
export type RequestClass = 'always' | 'first' | 'write' | 'read';

export const OVERLOAD = {
  /** As many requests in progress as are always admitted. */
  admittedMin: 64,
  /** The same, while the event loop is this late. */
  admittedMinWhenLate: 16,
  lateMs: 250,
  /** A burst is admitted for this long. Programs send many changes at once, and then wait. */
  burstMs: { first: 1_000, write: 1_000, read: 100 },
  /** The next burst is admitted after no request was above the limit for this long. */
  calmMs: 1_000,
  /** Completed requests are counted over this time. */
  windowMs: 1_000,
} as const;

/** Requests that may take any time, so that they don't count as being in progress. */
const UNCOUNTED_PREFIXES = ['/sandbox/', '/v1/events', LIVE_PATH, '/v1/images'] as const;

const ALWAYS_PREFIXES = ['/healthz', '/readyz', '/sandbox/'] as const;
/** Signing in, and looking at a payment. */
const FIRST_PREFIXES = [
  ...['/csrf.php', '/me.php', '/auth-api.php', '/topup-status.php'],
  ...[PANEL_PATHS.signIn, PANEL_PATHS.recover, `${BILLING_PATHS.topups}/`, '/v1/billing/topup/'],
] as const;

export function classOfRequest(method: string, url: string): RequestClass {
  if (ALWAYS_PREFIXES.some((prefix) => url.startsWith(prefix))) return 'always';
  if (FIRST_PREFIXES.some((prefix) => url.startsWith(prefix))) return 'first';
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? 'read' : 'write';
}

export function isCounted(url: string): boolean {
  return !UNCOUNTED_PREFIXES.some((prefix) => url.startsWith(prefix));
}
