/** Writes what became of attempts, and lets go of subscriptions that were sent to. */
import { crashPoint } from '../../kernel/crash.ts';
import { showId } from '../../kernel/ids.ts';
import { type AttemptResult, cancelDeliveries, recordAttempts } from '../../store/deliveries.ts';
import { type HeldQueue, lockHeld, type QueueLease, releaseQueues } from '../../store/webhook-queues.ts';
import { lockWebhook, updateWebhook } from '../../store/webhooks.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { recordAudit, systemActor } from '../record.ts';

export interface TurnReport extends QueueLease {
  readonly results: readonly AttemptResult[];
  /** Nothing more is sent under this lease: it ends. */
  readonly over: boolean;
  readonly slow: boolean;
}

/**
 * In one transaction, for all subscriptions of which the lease is still ours. Returns their revisions; of one that is not
 * among them, nothing was written and nothing more may be sent.
 */
export async function recordTurns(
  service: Pick<Service, 'db' | 'clock'>,
  reports: readonly TurnReport[],
): Promise<ReadonlyMap<string, bigint>> {
  const revisions = await service.db.transaction(async (tx) => {
    const held = await lockHeld(tx, reports);
    const ours = reports.filter((report) => held.has(report.webhookId));
    const results = ours.flatMap((report) => report.results);
    if (results.length > 0) await recordAttempts(tx, results);
    const over = ours.filter((report) => report.over);
    if (over.length > 0) await releaseQueues(tx, over, service.clock.now());
    crashPoint('deliver.written');
    return held;
  });
  crashPoint('deliver.recorded');
  return revisions;
}

/**
 * The receiver answered 410: the subscription is paused, what waits is cancelled, and the owner is told. Where the customer
 * has named another URL meanwhile, these attempts have failed like others.
 */
export async function recordGone(
  service: Pick<Service, 'db' | 'clock' | 'keys'>,
  held: QueueLease & Pick<HeldQueue, 'customer_id' | 'url'>,
  results: readonly AttemptResult[],
): Promise<void> {
  const { webhookId, customer_id: customerId, url } = held;
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const webhook = await lockWebhook(tx, customerId, webhookId);
    if (!(await lockHeld(tx, [held])).has(webhookId)) return;
    const paused = webhook?.active === true && webhook.url === url;
    await recordAttempts(tx, paused ? results.map((one) => ({ ...one, nextAttemptAt: null })) : results);
    if (!paused) return;
    await updateWebhook(tx, customerId, { ...webhook, active: false });
    await cancelDeliveries(tx, customerId, webhookId);
    const shown = showId('webhook', webhookId);
    const actor = systemActor(now);
    await recordAudit(tx, { actor, action: 'webhook.update', resource: shown, customerId }, now);
    const mail = { webhook: shown, url, pausedAt: now };
    const cause = `${webhookId}:${now.toISOString()}`;
    await enqueueMail(tx, { customerId, kind: 'webhook_paused', cause, data: mail }, now, service.keys);
    crashPoint('deliver.paused_written');
  });
}

/** Takes back what waits for a subscription that is not active. */
export async function cancelWaiting(service: Pick<Service, 'db'>, held: HeldQueue): Promise<void> {
  await service.db.transaction(async (tx) => {
    const webhook = await lockWebhook(tx, held.customer_id, held.webhook_id);
    if (webhook && !webhook.active) await cancelDeliveries(tx, held.customer_id, held.webhook_id);
  });
}
