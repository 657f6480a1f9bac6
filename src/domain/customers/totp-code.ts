/**
 * One-time codes as authenticators make them (RFC 6238): six digits of SHA-1, another every 30 seconds of real time. Business
 * time would not do: a sandbox's clock can be moved, and a phone's does not follow.
 */
import { HOTP, Secret, TOTP } from 'otpauth';
import { timingSafeEqualText } from '../../kernel/secrets.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';

/** Of the issuer, written as in an address: a QR code has to hold it twice, beside an address of any length. */
const ISSUER_MAX_CHARS = 60;
const SECRET_BYTES = 20;
const STEP_S = 30;
const TOTP_PARAMS = { algorithm: 'SHA1', digits: 6 } as const;
const SKEW_STEPS = Math.ceil(LIMITS.clockSkewS / STEP_S);

/** Base32, as it is typed into an authenticator. */
export function generateSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** `otpauth://totp/Skerry:ann%40example.org?…`: what a QR code holds. The site's name tells it apart from other hosts'. */
export function secretUri(secret: string, { siteName, email }: { siteName: string; email: string }): string {
  const issuer = formatIssuer(siteName);
  return new TOTP({ ...TOTP_PARAMS, issuer, label: email, period: STEP_S, secret }).toString();
}

/** Without colons, which end it for an authenticator, and cut where it is long. */
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

/** The code of one step. */
export function codeForStep(secret: string, step: number): string {
  return HOTP.generate({ ...TOTP_PARAMS, secret: Secret.fromBase32(secret), counter: step });
}

/** A code as typed, without what people put between its digits. */
export function normalizeCode(typed: string): string {
  return typed.replace(/[\s-]/g, '');
}

/** The step later than `after` that the code is of; undefined where it is of none that may be used now. */
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
