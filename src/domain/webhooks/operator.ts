/** The operator's view of webhooks: list a customer's, and pause one. */
import { formatId, parseId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { cancelDeliveries } from '../../store/webhooks/deliveries.ts';
import {
  findWebhookOwner,
  listOperatorWebhooks,
  lockWebhook,
  updateWebhook,
  type WebhookRow,
} from '../../store/webhooks/webhooks.ts';
import type { Service } from '../context.ts';
import { requireCustomer } from '../customers/operator.ts';
import { recordAudit, systemActor } from '../record.ts';

export interface OperatorWebhook {
  /** Public id: `whk_…`. */
  readonly id: string;
  readonly active: boolean;
  readonly url: string;
  readonly events: WebhookRow['events'];
  readonly createdAt: Date;
}

/** Returns all webhooks of a customer, newest first. The quota bounds their number. */
export async function listWebhooksForOperator(
  service: Pick<Service, 'db'>,
  email: string,
): Promise<OperatorWebhook[]> {
  const { id: customerId } = await requireCustomer(service.db, email);
  return (await listOperatorWebhooks(service.db, customerId)).map((row) => ({
    id: formatId('webhook', row.id),
    active: row.active,
    url: row.url,
    events: row.events,
    createdAt: row.created_at,
  }));
}

/**
 * Deactivates a webhook and cancels its pending deliveries. The customer can reactivate it. False if it was
 * inactive.
 */
export async function pauseWebhook(
  service: Pick<Service, 'db' | 'clock'>,
  shownId: string,
): Promise<boolean> {
  const id = parseId('webhook', shownId) ?? throwWebhookNotFound();
  return await service.db.transaction(async (tx) => {
    const customerId = (await findWebhookOwner(tx, id)) ?? throwWebhookNotFound();
    const webhook = (await lockWebhook(tx, customerId, id)) ?? throwWebhookNotFound();
    if (!webhook.active) return false;
    const now = service.clock.now();
    await updateWebhook(tx, customerId, { ...webhook, active: false, paused_reason: 'operator' }, now);
    await cancelDeliveries(tx, customerId, id);
    const actor = systemActor(now);
    await recordAudit(tx, { actor, action: 'webhook.update', resource: shownId, customerId }, now);
    return true;
  });
}

function throwWebhookNotFound(): never {
  throw new OperatorError('webhook not found: `skerryd webhooks list` shows the ids');
}
