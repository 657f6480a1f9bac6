/** What the operator may do about one subscription: see whose it is, and silence it. */
import { formatId, parseId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { cancelDeliveries } from '../../store/deliveries.ts';
import {
  findWebhookOwner,
  listOperatorWebhooks,
  lockWebhook,
  updateWebhook,
  type WebhookRow,
} from '../../store/webhooks.ts';
import type { Service } from '../context.ts';
import { requireCustomer } from '../customers/by-email.ts';
import { recordAudit, systemActor } from '../record.ts';

export interface OperatorWebhook {
  /** Shown: `whk_…`. */
  readonly id: string;
  readonly active: boolean;
  readonly url: string;
  readonly events: WebhookRow['events'];
  readonly createdAt: Date;
}

/** All that a customer has, newest first: a quota bounds them. */
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

/** Makes it inactive, and takes back what waits, as its customer may; he may also make it active again. False when it was so already. */
export async function pauseWebhook(
  service: Pick<Service, 'db' | 'clock'>,
  shownId: string,
): Promise<boolean> {
  const id = parseId('webhook', shownId) ?? throwWebhookNotFound();
  return await service.db.transaction(async (tx) => {
    const customerId = (await findWebhookOwner(tx, id)) ?? throwWebhookNotFound();
    const webhook = (await lockWebhook(tx, customerId, id)) ?? throwWebhookNotFound();
    if (!webhook.active) return false;
    await updateWebhook(tx, customerId, { ...webhook, active: false });
    await cancelDeliveries(tx, customerId, id);
    const now = service.clock.now();
    const actor = systemActor(now);
    await recordAudit(tx, { actor, action: 'webhook.update', resource: shownId, customerId }, now);
    return true;
  });
}

function throwWebhookNotFound(): never {
  throw new OperatorError('there is no such webhook: skerryd webhooks list shows their ids');
}
