/** Creates, changes, and deletes webhooks. */
import { randomBytes } from 'node:crypto';
import { notFound, quotaExceeded } from '../../kernel/fail.ts';
import { base32, newId, parseId } from '../../kernel/ids.ts';
import type { CreatedWebhook, CreateWebhook, UpdateWebhook, Webhook } from '../../spec/schemas/webhook.ts';
import { SEALED } from '../../spec/sealed.ts';
import { lockCustomer } from '../../store/customers/customers.ts';
import { cancelDeliveries } from '../../store/webhooks/deliveries.ts';
import { incrementQueueRevision } from '../../store/webhooks/queues.ts';
import {
  countWebhooks,
  deleteWebhook as deleteRow,
  insertWebhook,
  lockWebhook,
  updateWebhook as updateRow,
  type WebhookRow,
} from '../../store/webhooks/webhooks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { webhookObject } from './read.ts';
import { requireWebhookUrl } from './url.ts';

/**
 * Creates a webhook. The response contains the signing secret, only here. Fails with `limit_reached`
 * {limit}.
 */
export async function createWebhook(
  service: Service,
  actor: CustomerActor,
  body: CreateWebhook,
): Promise<CreatedWebhook> {
  const wanted = normalizeWebhook(service, body);
  const { customerId } = actor;
  const secret = `whsec_${base32(randomBytes(32))}`;
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    // Under the customer's lock, concurrent requests count each other.
    await lockCustomer(tx, customerId);
    const limit = service.settings.quotas.webhooks;
    if ((await countWebhooks(tx, customerId, limit)) >= limit) quotaExceeded('webhooks', limit);
    const row: WebhookRow = {
      id: newId(now),
      url: wanted.url,
      events: wanted.events,
      active: wanted.active ?? true,
      secret_hint: secret.slice(-4),
      created_at: now,
    };
    const secret_sealed = service.keys.seal(SEALED.webhookSecret, row.id, secret);
    await insertWebhook(tx, { ...row, customer_id: customerId, secret_sealed });
    const webhook = webhookObject(row);
    await recordAudit(tx, { actor, action: 'webhook.create', resource: webhook.id }, now);
    const created = { ...webhook, secret };
    await actor.saveResponse?.(tx, created);
    return created;
  });
}

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
    const now = service.clock.now();
    const row: WebhookRow = {
      ...current,
      url: wanted.url ?? current.url,
      events: wanted.events ?? current.events,
      active: wanted.active ?? current.active,
    };
    await updateRow(tx, customerId, row, now);
    if (!row.active) await cancelDeliveries(tx, customerId, id);
    else if (row.url !== current.url) await incrementQueueRevision(tx, id);
    const webhook = webhookObject(row);
    await recordAudit(tx, { actor, action: 'webhook.update', resource: webhook.id }, now);
    return webhook;
  });
}

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

type Wanted = Partial<Pick<CreateWebhook, 'url' | 'events'>>;

/** Checks fields that a schema cannot express, and removes duplicate events. */
export function normalizeWebhook<const Body extends Wanted>(service: Service, wanted: Body): Body {
  const { url, events } = wanted;
  if (url !== undefined) {
    requireWebhookUrl(url, { allowLoopback: service.settings.webhookAllowLoopback });
  }
  return events === undefined ? wanted : { ...wanted, events: [...new Set(events)] };
}
