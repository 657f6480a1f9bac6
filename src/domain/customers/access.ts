/**
 * Takes an account back from someone who had access to it. Ending the sessions is not enough: an API token
 * outlives its session, a webhook keeps telling what happens, and a console stays open while its token lives.
 * Webhooks are paused and not deleted, because most of them are the customer's own.
 */
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { MailData } from '../../spec/mails/data.ts';
import { deletePasskeys } from '../../store/customers/passkeys.ts';
import { deleteAllTokens } from '../../store/customers/tokens.ts';
import { cancelDeliveries } from '../../store/webhooks/deliveries.ts';
import { lockActiveWebhooks, updateWebhook } from '../../store/webhooks/webhooks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { recordRevocations } from '../tokens/object.ts';
import { notifyAccountChange } from './notify-change.ts';

/**
 * Revokes all API tokens, which closes their consoles, removes all passkeys, and pauses all webhooks.
 * Notifies by mail if there were any. The caller holds the customer's lock, deletes the sessions, and wakes
 * the service.
 */
export async function revokeAccess(
  tx: Sql,
  service: Service,
  actor: CustomerActor,
  by: MailData['access_revoked']['by'],
  now: Date,
): Promise<void> {
  const { customerId } = actor;
  const tokens = await deleteAllTokens(tx, customerId);
  await recordRevocations(tx, actor, tokens, now);
  const webhooks = await lockActiveWebhooks(tx, customerId);
  for (const webhook of webhooks) {
    await updateWebhook(tx, customerId, { ...webhook, active: false, paused_reason: 'access_revoked' }, now);
    await cancelDeliveries(tx, customerId, webhook.id);
    const resource = formatId('webhook', webhook.id);
    await recordAudit(tx, { actor, action: 'webhook.update', resource }, now);
  }
  const passkeys = await deletePasskeys(tx, customerId);
  for (const id of passkeys) {
    const resource = formatId('passkey', id);
    await recordAudit(tx, { actor, action: 'customer.remove_passkey', resource }, now);
  }
  if (tokens.length + webhooks.length + passkeys.length === 0) return;
  const counts = { tokens: tokens.length, webhooks: webhooks.length, passkeys: passkeys.length };
  const revoked = { by, ...counts };
  // To the address at the time of sending: undoing a change of address has just restored it.
  await notifyAccountChange(tx, service, actor, { kind: 'access_revoked', revoked, to: null }, now);
}
