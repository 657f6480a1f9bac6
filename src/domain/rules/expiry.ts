import { fail } from '../../kernel/fail.ts';
import { parseRfc3339, SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';

const INVALID_TIME_MESSAGE =
  'expires_at is not a valid time. Use an RFC 3339 time, such as 2030-01-31T12:00:00Z.';

/**
 * Parses a customer's `expires_at`: RFC 3339 and in the future, else `bad_expiry`. Truncated to seconds, so
 * that the time shown is the exact expiry. Allows the caller's clock to be 30 seconds off.
 */
export function requireExpiry(text: string, now: Date): Date {
  const time = parseRfc3339(text);
  if (!time || time.getUTCFullYear() > 9_999) fail('bad_expiry', {}, INVALID_TIME_MESSAGE);
  if (time.getTime() <= now.getTime() - LIMITS.clockSkewS * SECOND_MS) fail('bad_expiry');
  return new Date(Math.floor(time.getTime() / SECOND_MS) * SECOND_MS);
}
