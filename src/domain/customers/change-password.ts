import { fail } from '../../kernel/fail.ts';
import { lockCustomer, updatePassword } from '../../store/customers.ts';
import { dropLinks } from '../../store/mail-links.ts';
import { deleteSessionsOf } from '../../store/sessions.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { checkPassword } from './check-password.ts';
import { requireGoodPassword } from './password.ts';
import { tellOfChange } from './tell-change.ts';

/** Changes the password, ends all sessions but the actor's and mails that. Refuses: `weak_password bad_credentials`. */
export async function changePassword(
  service: Service,
  actor: CustomerActor,
  form: { readonly currentPassword: string; readonly newPassword: string },
): Promise<void> {
  requireGoodPassword(form.newPassword);
  const checked = await checkPassword(service, actor, form.currentPassword);
  const passwordHash = await service.passwords.hash(form.newPassword);
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const current = await lockCustomer(tx, actor.customerId);
    if (current?.password_hash !== checked) fail('bad_credentials');
    await updatePassword(tx, actor.customerId, passwordHash);
    await deleteSessionsOf(tx, actor.customerId, actor.sessionId);
    // Whoever asked for something by mail with the old password gets it no more.
    await dropLinks(tx, actor.customerId, ['change', 'reset']);
    await recordAudit(tx, { actor, action: 'customer.change_password', resource: null }, now);
    await tellOfChange(tx, service, actor, { kind: 'password_changed', to: current.email }, now);
  });
  service.wake();
}
