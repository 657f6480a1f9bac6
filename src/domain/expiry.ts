import { fail } from '../kernel/fail.ts';
import { parseRfc3339, SECOND_MS } from '../kernel/time.ts';
import { LIMITS } from '../spec/limits.ts';

/**
 * A customer's `expires_at`: RFC 3339, in the future, else `bad_expiry`. In whole seconds, so that the time shown is the
 * time it ends. A clock of the caller's may be 30 seconds off.
 */
export function requireExpiry(text: string, now: Date): Date {
  const time = parseRfc3339(text);
  if (!time || time.getUTCFullYear() > 9_999) fail('bad_expiry');
  if (time.getTime() <= now.getTime() - LIMITS.clockSkewS * SECOND_MS) fail('bad_expiry');
  return new Date(Math.floor(time.getTime() / SECOND_MS) * SECOND_MS);
}
