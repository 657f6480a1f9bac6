import { randomBytes } from 'node:crypto';
import { quotaExceeded } from '../../kernel/fail.ts';
import { base32, newId } from '../../kernel/ids.ts';
import type { CreatedWebhook, CreateWebhook } from '../../spec/schemas/webhook.ts';
import { lockCustomer } from '../../store/customers/customers.ts';
import { countWebhooks, insertWebhook, type WebhookRow } from '../../store/webhooks/webhooks.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { SaveResponse } from '../idempotency.ts';
import { recordAudit } from '../record.ts';
import { normalizeWebhook } from './check.ts';
import { webhookObject } from './object.ts';

/** The purpose that seals signing secrets. */
export const WEBHOOK_SEAL_PURPOSE = 'webhook secret';

/**
 * Creates a webhook. The response contains the signing secret, only here. Fails with `limit_reached`
 * {limit}.
 */
export async function createWebhook(
  service: Service,
  actor: CustomerActor,
  body: CreateWebhook,
  saveResponse?: SaveResponse,
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
    const secret_sealed = service.keys.seal(WEBHOOK_SEAL_PURPOSE, secret);
    await insertWebhook(tx, { ...row, customer_id: customerId, secret_sealed });
    const webhook = webhookObject(row);
    await recordAudit(tx, { actor, action: 'webhook.create', resource: webhook.id }, now);
    const created = { ...webhook, secret };
    await saveResponse?.(tx, created);
    return created;
  });
}
