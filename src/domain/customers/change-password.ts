import { fail } from '../../kernel/fail.ts';
import { lockCustomer, updatePassword } from '../../store/customers/customers.ts';
import { invalidateLinks } from '../../store/customers/mail-links.ts';
import { deleteOtherSessions } from '../../store/customers/sessions.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { checkPassword } from './check-password.ts';
import { notifyAccountChange } from './notify-change.ts';
import { requireValidPassword } from './password.ts';

/**
 * Changes the password, ends all other sessions, and notifies by mail. Fails with `weak_password`,
 * `bad_credentials`.
 */
export async function changePassword(
  service: Service,
  actor: CustomerActor,
  form: { readonly currentPassword: string; readonly newPassword: string },
): Promise<void> {
  requireValidPassword(form.newPassword);
  const checked = await checkPassword(service, actor, form.currentPassword);
  const passwordHash = await service.passwords.hash(form.newPassword);
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const current = await lockCustomer(tx, actor.customerId);
    if (current?.password_hash !== checked) fail('bad_credentials');
    await updatePassword(tx, actor.customerId, passwordHash);
    await deleteOtherSessions(tx, actor.customerId, actor.sessionId);
    // Links requested with the old password stop working.
    await invalidateLinks(tx, actor.customerId, ['change', 'reset']);
    await recordAudit(tx, { actor, action: 'customer.change_password', resource: null }, now);
    await notifyAccountChange(tx, service, actor, { kind: 'password_changed', to: current.email }, now);
  });
  service.wake();
}
