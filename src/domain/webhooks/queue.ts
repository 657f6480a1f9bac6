/** What a customer has sent on purpose: a ping, or an event once more. Both are only queued here. */
import { fail, notFound } from '../../kernel/fail.ts';
import { newId, parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Action } from '../../spec/actions.ts';
import type { FindableResource } from '../../spec/error-messages.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Delivery } from '../../spec/schemas/delivery.ts';
import { findDelivery, type QueuedDelivery, queueDelivery } from '../../store/deliveries.ts';
import { countRequestedDeliveries, lockWebhook, type WebhookRow } from '../../store/webhooks.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { SaveResponse } from '../idempotency.ts';
import { recordAudit } from '../record.ts';
import { deliveryLog } from './delivery-log.ts';
import { deliveryObject, webhookObject } from './object.ts';

/**
 * Queues a ping, whatever the subscription's events. Refuses with `conflict_state` while it is inactive, and while too much
 * waits to be sent to it.
 */
export async function testWebhook(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  saveResponse?: SaveResponse,
): Promise<Delivery> {
  return await enqueueDelivery(
    service,
    actor,
    { shownId, action: 'webhook.test', missing: 'webhook', saveResponse },
    async (_tx, webhook, now) => ({
      event_id: newId(now),
      event_type: 'ping',
      event_data: { webhook: webhookObject(webhook) },
    }),
  );
}

/**
 * Queues the event of an earlier delivery again, as a new delivery. Refuses with `not_found` when the log of the last
 * days does not show it, and with `conflict_state` as a ping is.
 */
export async function replayDelivery(
  service: Service,
  actor: CustomerActor,
  shown: { readonly webhook: string; readonly delivery: string },
  saveResponse?: SaveResponse,
): Promise<Delivery> {
  const missing = 'delivery';
  const deliveryId = parseId('delivery', shown.delivery) ?? notFound(missing);
  const request = { shownId: shown.webhook, action: 'webhook.replay', missing, saveResponse } as const;
  return await enqueueDelivery(service, actor, request, async (tx, webhook, now) => {
    return (await findDelivery(tx, deliveryLog(actor, webhook.id, now), deliveryId)) ?? notFound(missing);
  });
}

interface QueueRequest {
  readonly shownId: string;
  readonly action: Action;
  /** What there is none of where the subscription is unknown. */
  readonly missing: FindableResource;
  readonly saveResponse: SaveResponse | undefined;
}

type Event = Pick<QueuedDelivery, 'event_id' | 'event_type' | 'event_data'>;

async function enqueueDelivery(
  service: Service,
  actor: CustomerActor,
  { shownId, action, missing, saveResponse }: QueueRequest,
  eventOf: (tx: Sql, webhook: WebhookRow, now: Date) => Promise<Event>,
): Promise<Delivery> {
  const { customerId } = actor;
  const id = parseId('webhook', shownId) ?? notFound(missing);
  const delivery = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const webhook = (await lockWebhook(tx, customerId, id)) ?? notFound(missing);
    const { event_id, event_type, event_data } = await eventOf(tx, webhook, now);
    requireActive(webhook);
    // The subscription's lock lets those that are queued at the same moment count each other.
    await requireQueueCapacity(tx, customerId, id);
    const queued = { id: newId(now), webhook_id: id, customer_id: customerId, created_at: now };
    const row = await queueDelivery(tx, { ...queued, event_id, event_type, event_data });
    await recordAudit(tx, { actor, action, resource: shownId }, now);
    const object = deliveryObject(row);
    await saveResponse?.(tx, object);
    return object;
  });
  service.wake();
  return delivery;
}

function requireActive(webhook: WebhookRow): void {
  if (webhook.active) return;
  fail('conflict_state', {}, 'The webhook is not active: nothing is sent to it. Set active to true first.');
}

/** Whoever asks faster than his endpoint answers would fill the queue without end. */
async function requireQueueCapacity(tx: Sql, customerId: string, webhookId: string): Promise<void> {
  const limit = LIMITS.webhookPendingMax;
  if ((await countRequestedDeliveries(tx, customerId, webhookId, limit)) < limit) return;
  fail(
    'conflict_state',
    {},
    `${limit} pings and replays wait to be sent to this webhook; try again when some have been, or set active to false to ` +
      'cancel all that waits.',
  );
}
