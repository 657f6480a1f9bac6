/**
 * One-time codes as authenticators make them (RFC 6238): six digits of SHA-1, another every 30 seconds of real time. Business
 * time would not do: a sandbox's clock can be moved, and a phone's does not follow.
 */
import { HOTP, Secret, TOTP } from 'otpauth';
import { sameText } from '../../kernel/secrets.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';

/** Of the issuer, written as in an address: a QR code has to hold it twice, beside an address of any length. */
const ISSUER_MAX_CHARS = 60;
const SECRET_BYTES = 20;
const STEP_S = 30;
const KIND = { algorithm: 'SHA1', digits: 6 } as const;
const SKEW_STEPS = Math.ceil(LIMITS.clockSkewS / STEP_S);

/** Base32, as it is typed into an authenticator. */
export function newSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** `otpauth://totp/Skerry:ann%40example.org?…`: what a QR code holds. The site's name tells it apart from other hosts'. */
export function secretUri(secret: string, { siteName, email }: { siteName: string; email: string }): string {
  const issuer = issuerOf(siteName);
  return new TOTP({ ...KIND, issuer, label: email, period: STEP_S, secret }).toString();
}

/** Without colons, which end it for an authenticator, and cut where it is long. */
function issuerOf(siteName: string): string {
  let issuer = '';
  for (const sign of siteName.replaceAll(':', ' ')) {
    if (encodeURIComponent(issuer + sign).length > ISSUER_MAX_CHARS) break;
    issuer += sign;
  }
  return issuer.trim();
}

export function stepAt(atMs: number): number {
  return Math.floor(atMs / (STEP_S * SECOND_MS));
}

/** The code of one step. */
export function codeOf(secret: string, step: number): string {
  return HOTP.generate({ ...KIND, secret: Secret.fromBase32(secret), counter: step });
}

/** A code as typed, without what people put between its digits. */
export function bareCode(typed: string): string {
  return typed.replace(/[\s-]/g, '');
}

/** The step later than `after` that the code is of; undefined where it is of none that may be used now. */
export function stepOfCode(
  secret: string,
  typed: string,
  { atMs, after }: { readonly atMs: number; readonly after: number },
): number | undefined {
  const now = stepAt(atMs);
  const steps = Array.from({ length: 2 * SKEW_STEPS + 1 }, (_, index) => now - SKEW_STEPS + index);
  return steps.find((step) => step > after && isCodeOf(secret, step, typed));
}

export function isCodeOf(secret: string, step: number, typed: string): boolean {
  return sameText(codeOf(secret, step), bareCode(typed));
}
