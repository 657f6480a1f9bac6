/** The delivery log: attempts of the last seven days (SPEC "Delivery and signature" 6). */
import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { Delivery } from '../../spec/schemas/delivery.ts';
import { type DeliveryLog, pageDeliveries } from '../../store/webhooks/deliveries.ts';
import { findWebhook } from '../../store/webhooks/webhooks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { deliveryObject } from './object.ts';

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
): Promise<{ items: Delivery[]; next: PagePosition | null }> {
  const id = parseId('webhook', shownId) ?? notFound('webhook');
  if (!(await findWebhook(service.reads, actor.customerId, id))) notFound('webhook');
  const log = deliveryLog(actor, id, service.clock.now());
  const { rows, next } = await pageDeliveries(service.db, log, page);
  return { items: rows.map(deliveryObject), next };
}
