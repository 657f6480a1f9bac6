/** Queues deliveries on a customer's request: a ping, or an event again. */
import { fail, notFound } from '../../kernel/fail.ts';
import { newId, parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Action } from '../../spec/actions.ts';
import type { FindableResource } from '../../spec/error-messages.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Delivery } from '../../spec/schemas/webhook.ts';
import { findDelivery, type QueuedDelivery, queueDelivery } from '../../store/webhooks/deliveries.ts';
import { countRequestedDeliveries, lockWebhook, type WebhookRow } from '../../store/webhooks/webhooks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { deliveryLog, deliveryObject, webhookObject } from './read.ts';

/**
 * Queues a ping, regardless of the webhook's events. Fails with `conflict_state` if the webhook is inactive
 * or its queue is full.
 */
export async function testWebhook(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<Delivery> {
  return await enqueueDelivery(
    service,
    actor,
    { shownId, action: 'webhook.test', missing: 'webhook' },
    async (_tx, webhook, now) => ({
      event_id: newId(now),
      event_type: 'ping',
      event_data: { webhook: webhookObject(webhook) },
    }),
  );
}

/**
 * Queues the event of an earlier delivery again as a new delivery. Fails with `not_found` if the delivery
 * log no longer has it, and with `conflict_state` like a ping.
 */
export async function replayDelivery(
  service: Service,
  actor: CustomerActor,
  shown: { readonly webhook: string; readonly delivery: string },
): Promise<Delivery> {
  const missing = 'delivery';
  const deliveryId = parseId('delivery', shown.delivery) ?? notFound(missing);
  const request = { shownId: shown.webhook, action: 'webhook.replay', missing } as const;
  return await enqueueDelivery(service, actor, request, async (tx, webhook, now) => {
    return (await findDelivery(tx, deliveryLog(actor, webhook.id, now), deliveryId)) ?? notFound(missing);
  });
}

interface QueueRequest {
  readonly shownId: string;
  readonly action: Action;
  /** The resource to report as missing if the webhook is unknown. */
  readonly missing: FindableResource;
}

type Event = Pick<QueuedDelivery, 'event_id' | 'event_type' | 'event_data'>;

async function enqueueDelivery(
  service: Service,
  actor: CustomerActor,
  { shownId, action, missing }: QueueRequest,
  eventOf: (tx: Sql, webhook: WebhookRow, now: Date) => Promise<Event>,
): Promise<Delivery> {
  const { customerId } = actor;
  const id = parseId('webhook', shownId) ?? notFound(missing);
  const delivery = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const webhook = (await lockWebhook(tx, customerId, id)) ?? notFound(missing);
    const { event_id, event_type, event_data } = await eventOf(tx, webhook, now);
    requireActive(webhook);
    // Under the webhook's lock, concurrent requests count each other.
    await requireQueueCapacity(tx, customerId, id);
    const queued = { id: newId(now), webhook_id: id, customer_id: customerId, created_at: now };
    const row = await queueDelivery(tx, { ...queued, event_id, event_type, event_data });
    await recordAudit(tx, { actor, action, resource: shownId }, now);
    const object = deliveryObject(row);
    await actor.saveResponse?.(tx, object);
    return object;
  });
  service.wake();
  return delivery;
}

function requireActive(webhook: WebhookRow): void {
  if (webhook.active) return;
  fail('conflict_state', {}, 'The webhook is inactive and receives nothing. Set active to true first.');
}

/** Bounds the queue for a client that asks faster than its endpoint responds. */
async function requireQueueCapacity(tx: Sql, customerId: string, webhookId: string): Promise<void> {
  const limit = LIMITS.webhookPendingMax;
  if ((await countRequestedDeliveries(tx, customerId, webhookId, limit)) < limit) return;
  fail(
    'conflict_state',
    {},
    `${limit} pings and replays are pending for this webhook. Try again later, or set active to false ` +
      'to cancel all pending deliveries.',
  );
}
