/**
 * One-time codes as in RFC 6238: SHA-1, six digits, a new code every 30 seconds of real time. The business
 * clock does not fit: a sandbox can move it, but a phone's clock does not follow.
 */
import { HOTP, Secret, TOTP } from 'otpauth';
import { timingSafeEqualText } from '../../kernel/secrets.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';

/** URL-encoded length. A QR code contains the issuer twice, next to an address of any length. */
const ISSUER_MAX_CHARS = 60;
const SECRET_BYTES = 20;
const STEP_S = 30;
const TOTP_PARAMS = { algorithm: 'SHA1', digits: 6 } as const;
const SKEW_STEPS = Math.ceil(LIMITS.clockSkewS / STEP_S);

/** Returns a secret in base32, as typed into an authenticator. */
export function generateSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** Returns the QR code's `otpauth://totp/Skerry:ann%40example.org?…`. The site name tells hosts apart. */
export function secretUri(secret: string, { siteName, email }: { siteName: string; email: string }): string {
  const issuer = formatIssuer(siteName);
  return new TOTP({ ...TOTP_PARAMS, issuer, label: email, period: STEP_S, secret }).toString();
}

/** Removes colons, which end an issuer, and truncates long names. */
function formatIssuer(siteName: string): string {
  let issuer = '';
  for (const char of siteName.replaceAll(':', ' ')) {
    if (encodeURIComponent(issuer + char).length > ISSUER_MAX_CHARS) break;
    issuer += char;
  }
  return issuer.trim();
}

export function stepAt(atMs: number): number {
  return Math.floor(atMs / (STEP_S * SECOND_MS));
}

/** Returns the code of one step. */
export function codeForStep(secret: string, step: number): string {
  return HOTP.generate({ ...TOTP_PARAMS, secret: Secret.fromBase32(secret), counter: step });
}

/** Returns a code as typed, without spaces and dashes. */
export function normalizeCode(typed: string): string {
  return typed.replace(/[\s-]/g, '');
}

/** Returns the step of the code; undefined if it matches no acceptable step later than `after`. */
export function findStep(
  secret: string,
  typed: string,
  { atMs, after }: { readonly atMs: number; readonly after: number },
): number | undefined {
  const now = stepAt(atMs);
  const steps = Array.from({ length: 2 * SKEW_STEPS + 1 }, (_, index) => now - SKEW_STEPS + index);
  return steps.find((step) => step > after && matchesStep(secret, step, typed));
}

export function matchesStep(secret: string, step: number, typed: string): boolean {
  return timingSafeEqualText(codeForStep(secret, step), normalizeCode(typed));
}
