/** Checks and changes the password. */
import { fail } from '../../kernel/fail.ts';
import { timingSafeEqualText } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import { LIMITS } from '../../spec/limits.ts';
import {
  type CustomerRow,
  findCustomer,
  lockCustomer,
  updatePassword,
} from '../../store/customers/customers.ts';
import { invalidateLinks } from '../../store/customers/mail-links.ts';
import { deleteOtherSessions } from '../../store/customers/sessions.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { revokeAccess } from './access.ts';
import { notifyAccountChange } from './notify-change.ts';

/**
 * Changes the password, ends all other sessions, revokes all other access on request, and notifies by mail.
 * Fails with `weak_password`, `bad_credentials`.
 */
export async function changePassword(
  service: Service,
  actor: CustomerActor,
  form: {
    readonly currentPassword: string;
    readonly newPassword: string;
    /** Revokes all API tokens and pauses all webhooks. */
    readonly revokeTokens: boolean;
  },
): Promise<void> {
  requireValidPassword(form.newPassword);
  const checked = await checkPassword(service, actor, form.currentPassword);
  const passwordHash = await service.passwords.hash(form.newPassword, 'known');
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const current = await lockChecked(tx, actor, checked);
    await updatePassword(tx, actor.customerId, passwordHash);
    await deleteOtherSessions(tx, actor.customerId, actor.sessionId);
    // Links requested with the old password stop working.
    await invalidateLinks(tx, actor.customerId, ['change', 'reset']);
    await recordAudit(tx, { actor, action: 'customer.change_password', resource: null }, now);
    if (form.revokeTokens) await revokeAccess(tx, service, actor, 'password_change', now);
    await notifyAccountChange(tx, service, actor, { kind: 'password_changed', to: current.email }, now);
  });
  service.wake();
}

/**
 * Verifies the password of a signed-in customer; fails with `bad_credentials`. Returns the stored hash, so
 * that the caller can check in its transaction that it has not changed.
 */
export async function checkPassword(
  service: Service,
  actor: CustomerActor,
  password: string,
): Promise<string> {
  const customer = await findCustomer(service.db, actor.customerId);
  const matches = await service.passwords.verify(password, customer?.password_hash ?? null, 'known');
  if (!customer || !matches) refusePassword(password);
  return customer.password_hash;
}

/** The caller is signed in, so the message names the password, not the email. */
function refusePassword(password?: string): never {
  const message = password === '' ? 'Enter your current password.' : 'The current password is incorrect.';
  fail('bad_credentials', { field: 'current_password' }, message);
}

/** Locks the customer whose password was checked; fails with `bad_credentials` if it has changed since. */
export async function lockChecked(
  tx: Sql,
  { customerId }: CustomerActor,
  checked: string,
): Promise<CustomerRow> {
  const customer = await lockCustomer(tx, customerId);
  if (customer?.password_hash !== checked) refusePassword();
  return customer;
}

/** Checks a new password and its repetition; fails with `weak_password`, then `password_mismatch`. */
export function requireNewPassword(password: string, confirm: string): void {
  requireValidPassword(password);
  if (!timingSafeEqualText(password.normalize('NFC'), confirm.normalize('NFC'))) fail('password_mismatch');
}

/** Fails with `weak_password` if the password is too short or too long. Counts characters, not bytes. */
export function requireValidPassword(password: string): void {
  const chars = [...password.normalize('NFC')].length;
  if (chars < LIMITS.passwordMinChars || chars > LIMITS.passwordMaxChars) {
    fail('weak_password', { min: LIMITS.passwordMinChars, max: LIMITS.passwordMaxChars });
  }
}
