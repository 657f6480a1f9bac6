import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { UpdateWebhook, Webhook } from '../../spec/schemas/webhook.ts';
import { cancelDeliveries } from '../../store/webhooks/deliveries.ts';
import { incrementQueueRevision } from '../../store/webhooks/queues.ts';
import { lockWebhook, updateWebhook as updateRow, type WebhookRow } from '../../store/webhooks/webhooks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { normalizeWebhook } from './check.ts';
import { webhookObject } from './object.ts';

/** Updates the given fields. Pausing a webhook cancels its pending deliveries. */
export async function updateWebhook(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  body: UpdateWebhook,
): Promise<Webhook> {
  const wanted = normalizeWebhook(service, body);
  const { customerId } = actor;
  const id = parseId('webhook', shownId) ?? notFound('webhook');
  return await service.db.transaction(async (tx) => {
    const current = (await lockWebhook(tx, customerId, id)) ?? notFound('webhook');
    const row: WebhookRow = {
      ...current,
      url: wanted.url ?? current.url,
      events: wanted.events ?? current.events,
      active: wanted.active ?? current.active,
    };
    await updateRow(tx, customerId, row);
    if (!row.active) await cancelDeliveries(tx, customerId, id);
    else if (row.url !== current.url) await incrementQueueRevision(tx, id);
    const webhook = webhookObject(row);
    const now = service.clock.now();
    await recordAudit(tx, { actor, action: 'webhook.update', resource: webhook.id }, now);
    return webhook;
  });
}
