import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import { cancelDeliveries } from '../../store/webhooks/deliveries.ts';
import { deleteWebhook as deleteRow } from '../../store/webhooks/webhooks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';

/** Deletes a webhook and cancels its pending deliveries. */
export async function deleteWebhook(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  const { customerId } = actor;
  const id = parseId('webhook', shownId) ?? notFound('webhook');
  await service.db.transaction(async (tx) => {
    if (!(await deleteRow(tx, customerId, id))) notFound('webhook');
    await cancelDeliveries(tx, customerId, id);
    await recordAudit(tx, { actor, action: 'webhook.delete', resource: shownId }, service.clock.now());
  });
}
