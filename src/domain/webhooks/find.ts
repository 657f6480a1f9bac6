import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { Webhook } from '../../spec/schemas/webhook.ts';
import { findWebhook as findRow, pageWebhooks } from '../../store/webhooks/webhooks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { webhookObject } from './object.ts';

/** Returns a webhook by its public id. Unknown, malformed, and another customer's ids are `not_found`. */
export async function findWebhook(service: Service, actor: CustomerActor, shownId: string): Promise<Webhook> {
  const id = parseId('webhook', shownId) ?? notFound('webhook');
  return webhookObject((await findRow(service.reads, actor.customerId, id)) ?? notFound('webhook'));
}

export async function listWebhooks(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<{ items: Webhook[]; next: PagePosition | null }> {
  const { rows, next } = await pageWebhooks(service.db, actor.customerId, page);
  return { items: rows.map(webhookObject), next };
}
