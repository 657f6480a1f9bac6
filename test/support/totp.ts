/** An authenticator app, as a customer has it on their phone. */
import { Secret, TOTP } from 'otpauth';

export const STEP_MS = 30_000;

/** Returns the code at a moment of real time, now by default. */
export function totpAt(secret: string, atMs = Date.now()): string {
  return TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: atMs });
}

/** Returns six digits that are not a valid code at any time from five minutes ago to five minutes ahead. */
export function wrongTotp(secret: string, atMs = Date.now()): string {
  const near = Array.from({ length: 21 }, (_, index) => totpAt(secret, atMs + (index - 10) * STEP_MS));
  const wrong = Array.from({ length: near.length + 1 }, (_, index) => String(index).padStart(6, '0'));
  return wrong.find((code) => !near.includes(code)) ?? '';
}
