/**
 * Reads webhooks and their delivery log: attempts of the last seven days (SPEC "Delivery and signature" 6).
 */
import { notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { DAY_MS, formatRfc3339 } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { Delivery, Webhook } from '../../spec/schemas/webhook.ts';
import { type DeliveryLog, type DeliveryRow, pageDeliveries } from '../../store/webhooks/deliveries.ts';
import { findWebhook as findRow, pageWebhooks, type WebhookRow } from '../../store/webhooks/webhooks.ts';
import type { CustomerActor, Service } from '../context.ts';

/** Returns a webhook by its public id. Unknown, malformed, and another customer's ids are `not_found`. */
export async function findWebhook(service: Service, actor: CustomerActor, shownId: string): Promise<Webhook> {
  const id = parseId('webhook', shownId) ?? notFound('webhook');
  return webhookObject((await findRow(service.reads, actor.customerId, id)) ?? notFound('webhook'));
}

export async function listWebhooks(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<Webhook>> {
  const maker = actor.limits?.reach ? (actor.tokenId ?? undefined) : undefined;
  const { rows, next } = await pageWebhooks(service.db, actor.customerId, page, maker);
  return { items: rows.map(webhookObject), next };
}

/** Returns the scope of a customer's delivery log. */
export function deliveryLog(actor: CustomerActor, webhookId: string, now: Date): DeliveryLog {
  const since = new Date(now.getTime() - LIMITS.deliveryRetentionDays * DAY_MS);
  return { customerId: actor.customerId, webhookId, since };
}

export async function listDeliveries(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  page: PageRequest,
): Promise<Page<Delivery>> {
  const id = parseId('webhook', shownId) ?? notFound('webhook');
  if (!(await findRow(service.reads, actor.customerId, id))) notFound('webhook');
  const log = deliveryLog(actor, id, service.clock.now());
  const { rows, next } = await pageDeliveries(service.db, log, page);
  return { items: rows.map(deliveryObject), next };
}

export function webhookObject(row: WebhookRow): Webhook {
  return {
    id: formatId('webhook', row.id),
    object: 'webhook',
    url: row.url,
    events: [...row.events],
    active: row.active,
    paused_reason: row.active ? null : row.paused_reason,
    scope: row.scope,
    secret_hint: row.secret_hint,
    next_secret_hint: row.next_secret_hint,
    created_at: formatRfc3339(row.created_at),
  };
}

export function deliveryObject(row: DeliveryRow): Delivery {
  return {
    id: formatId('delivery', row.delivery_id),
    object: 'webhook_delivery',
    event: formatId('event', row.event_id),
    event_type: row.event_type,
    attempt: row.attempt,
    status: row.status,
    http_status: row.http_status,
    error: row.error,
    duration_ms: row.duration_ms,
    attempted_at: row.attempted_at && formatRfc3339(row.attempted_at),
    next_attempt_at: row.next_attempt_at && formatRfc3339(row.next_attempt_at),
    created_at: formatRfc3339(row.created_at),
  };
}
