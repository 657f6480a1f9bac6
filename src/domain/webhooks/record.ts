/** Writes what became of attempts, and lets go of subscriptions that were sent to. */
import { crashPoint } from '../../kernel/crash.ts';
import { formatId } from '../../kernel/ids.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import {
  type AttemptResult,
  cancelDeliveries,
  postponeDeliveries,
  recordAttempts,
} from '../../store/deliveries.ts';
import {
  type LeasedQueue,
  lockLeasedQueues,
  type QueueLease,
  releaseQueues,
} from '../../store/webhook-queues.ts';
import { lockWebhook, updateWebhook } from '../../store/webhooks.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { recordAudit, systemActor } from '../record.ts';

/** What cannot be sent for a fault of ours is looked at again after that. */
const POSTPONE_MS = 10 * MINUTE_MS;

export interface BatchReport extends QueueLease {
  readonly results: readonly AttemptResult[];
  /** Nothing more is sent under this lease: it ends. */
  readonly finished: boolean;
  readonly slow: boolean;
}

/**
 * In one transaction, for all subscriptions of which the lease is still ours. Returns their revisions; of one that is not
 * among them, nothing was written and nothing more may be sent.
 */
export async function recordBatches(
  service: Pick<Service, 'db' | 'clock'>,
  reports: readonly BatchReport[],
): Promise<ReadonlyMap<string, bigint>> {
  const revisions = await service.db.transaction(async (tx) => {
    const leased = await lockLeasedQueues(tx, reports);
    const ours = reports.filter((report) => leased.has(report.webhookId));
    const results = ours.flatMap((report) => report.results);
    if (results.length > 0) await recordAttempts(tx, results);
    const finished = ours.filter((report) => report.finished);
    if (finished.length > 0) await releaseQueues(tx, finished, service.clock.now());
    crashPoint('deliver.written');
    return leased;
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
    await updateWebhook(tx, customerId, { ...webhook, active: false });
    await cancelDeliveries(tx, customerId, webhookId);
    const shown = formatId('webhook', webhookId);
    const actor = systemActor(now);
    await recordAudit(tx, { actor, action: 'webhook.update', resource: shown, customerId }, now);
    const mail = { webhook: shown, url, pausedAt: now };
    const cause = `${webhookId}:${now.toISOString()}`;
    await enqueueMail(tx, { customerId, kind: 'webhook_paused', cause, data: mail }, now, service.keys);
    crashPoint('deliver.paused_written');
  });
}

/** Of a lease under which nothing is sent. */
type UnsentLease = QueueLease & Pick<LeasedQueue, 'customer_id' | 'slow'>;

/** Takes back what waits for a subscription that is not active, and lets it go. */
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
 * Nothing can be sent to it, and the receiver is not to blame: what is due stays queued for later, without an attempt, and
 * it is let go.
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
