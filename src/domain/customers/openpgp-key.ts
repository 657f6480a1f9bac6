import { updateOpenPgpKey } from '../../store/customers/customers.ts';
import type { CustomerActor, Service } from '../context.ts';
import { checkOpenPgpKey } from '../mail/openpgp.ts';
import { recordAudit } from '../record.ts';
import { notifyAccountChange } from './notify-change.ts';
import { checkPassword, lockChecked } from './password.ts';

/**
 * Sets the public key that mail to the customer is encrypted to, and notifies by mail. An empty text
 * removes the key. Returns the fingerprint. Fails with `bad_openpgp_key` or `bad_credentials`.
 */
export async function setOpenPgpKey(
  service: Service,
  actor: CustomerActor,
  form: { readonly currentPassword: string; readonly armored: string },
): Promise<string | null> {
  const checked = await checkPassword(service, actor, form.currentPassword);
  const key = form.armored.trim() === '' ? null : await checkOpenPgpKey(form.armored);
  await service.db.transaction(async (tx) => {
    const customer = await lockChecked(tx, actor, checked);
    const now = service.clock.now();
    await updateOpenPgpKey(tx, actor.customerId, key, now);
    await recordAudit(tx, { actor, action: 'customer.set_openpgp_key', resource: null }, now);
    const fingerprint = key?.fingerprint ?? null;
    if (fingerprint === customer.openpgp_fingerprint) return;
    const change = { kind: 'openpgp_key_changed', fingerprint, to: customer.email } as const;
    await notifyAccountChange(tx, service, actor, change, now);
  });
  service.wake();
  return key?.fingerprint ?? null;
}
