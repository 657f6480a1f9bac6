/** An authenticator, as a customer has it on a phone. */
import { Secret, TOTP } from 'otpauth';

export const STEP_MS = 30_000;

/** What it shows at a moment of real time; now when left out. */
export function totpAt(secret: string, atMs = Date.now()): string {
  return TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: atMs });
}

/** Six digits that none of its codes are, from five minutes before to five after. */
export function wrongTotp(secret: string, atMs = Date.now()): string {
  const near = Array.from({ length: 21 }, (_, index) => totpAt(secret, atMs + (index - 10) * STEP_MS));
  const wrong = Array.from({ length: near.length + 1 }, (_, index) => String(index).padStart(6, '0'));
  return wrong.find((code) => !near.includes(code)) ?? '';
}
