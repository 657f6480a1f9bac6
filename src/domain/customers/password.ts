import { fail } from '../../kernel/fail.ts';
import { timingSafeEqualText } from '../../kernel/secrets.ts';
import { LIMITS } from '../../spec/limits.ts';

/** Fails with `weak_password` if the password is too short or too long. Counts characters, not bytes. */
export function requireValidPassword(password: string): void {
  const chars = [...password.normalize('NFC')].length;
  if (chars < LIMITS.passwordMinChars || chars > LIMITS.passwordMaxChars) {
    fail('weak_password', { min: LIMITS.passwordMinChars, max: LIMITS.passwordMaxChars });
  }
}

/** Checks a new password and its repetition; fails with `weak_password`, then `password_mismatch`. */
export function requireNewPassword(password: string, confirm: string): void {
  requireValidPassword(password);
  if (!timingSafeEqualText(password.normalize('NFC'), confirm.normalize('NFC'))) fail('password_mismatch');
}
