/** Creates, changes, and deletes webhooks. */

import { fail, notFound, requireQuota } from '../../kernel/fail.ts';
import { newId, parseId } from '../../kernel/ids.ts';
import { eventScope } from '../../spec/events.ts';
import type { CreatedWebhook, CreateWebhook, UpdateWebhook, Webhook } from '../../spec/schemas/webhook.ts';
import { type Scope, scopeCovers } from '../../spec/scopes.ts';
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
import type { CustomerActor, ScopedActor, Service } from '../context.ts';
import { notifyAccountChange } from '../customers/notify-change.ts';
import { readQuotas } from '../customers/own-limits.ts';
import { recordAudit } from '../record.ts';
import { requireCredentials } from './credentials.ts';
import { webhookObject } from './read.ts';
import { hintOf, newWebhookSecret } from './secret.ts';
import { requireWebhookUrl } from './url.ts';

/**
 * Creates a webhook with the scope of its creator. The response contains the signing secret, only here. Fails
 * with `forbidden_scope` if an event needs a broader scope, and with `limit_reached` {limit}.
 */
export async function createWebhook(
  service: Service,
  actor: ScopedActor,
  body: CreateWebhook,
): Promise<CreatedWebhook> {
  const wanted = normalizeWebhook(service, body);
  requireEventScopes(actor.scope, wanted.events);
  const { customerId } = actor;
  const secret = newWebhookSecret();
  const answer = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    // Under the customer's lock, concurrent requests count each other.
    const customer = (await lockCustomer(tx, customerId)) ?? fail('auth_required');
    await requireCredentials(tx, actor);
    const { webhooks: limit } = await readQuotas(service, tx, customerId);
    requireQuota('webhooks', limit, await countWebhooks(tx, customerId, limit));
    const row: WebhookRow = {
      id: newId(now),
      url: wanted.url,
      events: wanted.events,
      active: wanted.active ?? true,
      paused_reason: null,
      scope: actor.scope,
      secret_hint: hintOf(secret),
      next_secret_hint: null,
      created_at: now,
    };
    const secret_sealed = service.keys.seal(SEALED.webhookSecret, row.id, secret);
    const limited = { limited_by: actor.limits?.chain ?? null, reach: actor.limits?.reach ?? null };
    await insertWebhook(tx, { ...row, ...limited, customer_id: customerId, secret_sealed });
    const webhook = webhookObject(row);
    await recordAudit(tx, { actor, action: 'webhook.create', resource: webhook.id }, now);
    const mailed = { webhook: webhook.id, url: row.url, byToken: actor.tokenId !== null };
    const change = { kind: 'webhook_created', webhook: mailed, to: customer.email } as const;
    await notifyAccountChange(tx, service, actor, change, now);
    const created = { ...webhook, secret };
    await actor.saveResponse?.(tx, created);
    return created;
  });
  service.wake();
  return answer;
}

/**
 * Updates the given fields. Pausing a webhook cancels its pending deliveries. Fails with `forbidden_scope` if
 * a lesser token changes the URL or the events, which decide what is sent to whom.
 */
export async function updateWebhook(
  service: Service,
  actor: ScopedActor,
  shownId: string,
  body: UpdateWebhook,
): Promise<Webhook> {
  const wanted = normalizeWebhook(service, body);
  const { customerId } = actor;
  const id = parseId('webhook', shownId) ?? notFound('webhook');
  return await service.db.transaction(async (tx) => {
    const current = (await lockWebhook(tx, customerId, id)) ?? notFound('webhook');
    await requireCredentials(tx, actor);
    const now = service.clock.now();
    const row = changedRow(current, wanted, actor.scope);
    await updateRow(tx, customerId, row, now);
    if (!row.active) await cancelDeliveries(tx, customerId, id);
    else if (row.url !== current.url) await incrementQueueRevision(tx, id);
    const webhook = webhookObject(row);
    await recordAudit(tx, { actor, action: 'webhook.update', resource: webhook.id }, now);
    return webhook;
  });
}

function changedRow(current: WebhookRow, wanted: UpdateWebhook, actorScope: Scope): WebhookRow {
  const url = wanted.url ?? current.url;
  const events = wanted.events ?? current.events;
  const active = wanted.active ?? current.active;
  const hasNewEvents = String(events) !== String(current.events);
  if (hasNewEvents) requireEventScopes(actorScope, events);
  if ((hasNewEvents || url !== current.url) && !scopeCovers(actorScope, current.scope)) {
    fail(
      'forbidden_scope',
      {},
      `A token with scope ${actorScope} cannot change the URL or the events of a webhook with scope ` +
        `${current.scope}. It can pause or delete the webhook.`,
    );
  }
  // Only a name raises the scope: saving a form with `*` must not show a lesser webhook more than before.
  const scope = events.some((type) => !scopeCovers(current.scope, eventScope(type)))
    ? actorScope
    : current.scope;
  const isPausedByUs = !active && !current.active;
  return {
    ...current,
    url,
    events,
    active,
    scope,
    paused_reason: isPausedByUs ? current.paused_reason : null,
  };
}

/** Fails with `forbidden_scope` if an event needs a broader scope. `*` means all that the scope may read. */
function requireEventScopes(scope: Scope, events: readonly string[]): void {
  const refused = events.find((type) => !scopeCovers(scope, eventScope(type)));
  if (refused === undefined) return;
  fail(
    'forbidden_scope',
    {},
    `A token with scope ${scope} cannot subscribe to ${refused}, which needs scope ${eventScope(refused)}.`,
  );
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
