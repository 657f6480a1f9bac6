/** The recovery code: 128 random bits, shown once, that restore access when the password is lost. */
import { randomBytes } from 'node:crypto';
import { base32 } from '../../kernel/ids.ts';
import { digest } from '../../kernel/secrets.ts';

export interface RecoveryCode {
  /** In groups, for the customer to keep: `abcde-fghij-klmno-pqrst-uvwxyz`. */
  readonly text: string;
  /** SHA-256. The code itself is not stored. */
  readonly digest: Buffer;
}

export function newRecoveryCode(): RecoveryCode {
  const letters = base32(randomBytes(16));
  const starts = [0, 5, 10, 15, 20];
  const text = starts.map((start) => letters.slice(start, start === 20 ? undefined : start + 5)).join('-');
  return { text, digest: recoveryDigest(text) };
}

/** Returns the digest of a code as typed: case, spaces, and dashes do not matter. */
export function recoveryDigest(typed: string): Buffer {
  return digest(typed.toLowerCase().replace(/[\s-]/g, ''));
}
