/** Records the results of attempts and releases the queues. */
import { formatId } from '../../kernel/ids.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import {
  type AttemptResult,
  cancelDeliveries,
  postponeDeliveries,
  recordAttempts,
} from '../../store/webhooks/deliveries.ts';
import {
  type LeasedQueue,
  lockLeasedQueues,
  type QueueLease,
  releaseQueues,
} from '../../store/webhooks/queues.ts';
import { lockWebhook, updateWebhook } from '../../store/webhooks/webhooks.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { recordAudit, systemActor } from '../record.ts';

/** The delay after an internal error that prevents sending. */
const POSTPONE_MS = 10 * MINUTE_MS;

export interface BatchReport extends QueueLease {
  readonly results: readonly AttemptResult[];
  /** Whether the lease ends, because nothing more is sent under it. */
  readonly finished: boolean;
  readonly slow: boolean;
}

/**
 * Records results in one transaction for all webhooks with a valid lease, and returns each webhook's
 * revision. For a webhook that is missing from the result, nothing was written and nothing more may be sent.
 */
export async function recordBatches(
  service: Pick<Service, 'db' | 'clock'>,
  reports: readonly BatchReport[],
): Promise<ReadonlyMap<string, bigint>> {
  return await service.db.transaction(async (tx) => {
    const leased = await lockLeasedQueues(tx, reports);
    const ours = reports.filter((report) => leased.has(report.webhookId));
    const results = ours.flatMap((report) => report.results);
    if (results.length > 0) await recordAttempts(tx, results);
    const finished = ours.filter((report) => report.finished);
    if (finished.length > 0) await releaseQueues(tx, finished, service.clock.now());
    return leased;
  });
}

/**
 * Handles a 410 response: pauses the webhook, cancels its pending deliveries, and notifies the customer. If
 * the URL has changed in the meantime, the attempts count as normal failures. The queue stays leased.
 */
export async function recordGone(
  service: Pick<Service, 'db' | 'clock' | 'keys'>,
  lease: QueueLease & Pick<LeasedQueue, 'customer_id' | 'url'>,
  results: readonly AttemptResult[],
): Promise<void> {
  const { webhookId, customer_id: customerId, url } = lease;
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const webhook = await lockWebhook(tx, customerId, webhookId);
    if (!(await lockLeasedQueues(tx, [lease])).has(webhookId)) return;
    const paused = webhook?.active === true && webhook.url === url;
    await recordAttempts(
      tx,
      paused ? results.map((result) => ({ ...result, nextAttemptAt: null })) : results,
    );
    if (!paused) return;
    await updateWebhook(tx, customerId, { ...webhook, active: false, paused_reason: 'endpoint_gone' }, now);
    await cancelDeliveries(tx, customerId, webhookId);
    const shown = formatId('webhook', webhookId);
    const actor = systemActor(now);
    await recordAudit(tx, { actor, action: 'webhook.update', resource: shown, customerId }, now);
    const mail = { webhook: shown, url, pausedAt: now };
    const cause = `${webhookId}:${now.toISOString()}`;
    await enqueueMail(tx, { customerId, kind: 'webhook_paused', cause, data: mail }, now, service.keys);
  });
}

/** A lease under which nothing is sent. */
type UnsentLease = QueueLease & Pick<LeasedQueue, 'customer_id' | 'slow'>;

/** Cancels the pending deliveries of an inactive webhook and releases its queue. */
export async function cancelAndRelease(
  service: Pick<Service, 'db' | 'clock'>,
  lease: UnsentLease,
): Promise<void> {
  const { webhookId, customer_id: customerId } = lease;
  await service.db.transaction(async (tx) => {
    const webhook = await lockWebhook(tx, customerId, webhookId);
    if (!(await lockLeasedQueues(tx, [lease])).has(webhookId)) return;
    if (webhook && !webhook.active) await cancelDeliveries(tx, customerId, webhookId);
    await releaseQueues(tx, [lease], service.clock.now());
  });
}

/**
 * Postpones deliveries that cannot be sent through no fault of the endpoint, without counting an attempt,
 * and releases the queue.
 */
export async function postponeAndRelease(
  service: Pick<Service, 'db' | 'clock'>,
  lease: UnsentLease,
): Promise<void> {
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    if (!(await lockLeasedQueues(tx, [lease])).has(lease.webhookId)) return;
    await postponeDeliveries(tx, lease.webhookId, { now, until: new Date(now.getTime() + POSTPONE_MS) });
    await releaseQueues(tx, [lease], now);
  });
}
