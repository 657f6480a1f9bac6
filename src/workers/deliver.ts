/**
 * Delivers queued webhooks. The unit of leasing is the subscription: each one is sent its own batch
 * (delivery-batch.ts), so a dead, slow, or hostile endpoint affects only itself.
 *
 * A run leases due subscriptions while slots are free (delivery-lanes.ts), and returns while batches continue
 * in the background. Their results are written together (group-commit.ts).
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../domain/context.ts';
import { isSwitchOn } from '../domain/rules/switches.ts';
import {
  createDeliverySender,
  loadEventContents,
  openWebhookSecrets,
  type SigningSecrets,
} from '../domain/webhooks/attempt.ts';
import {
  cancelAndRelease,
  postponeAndRelease,
  recordBatches,
  recordGone,
} from '../domain/webhooks/record.ts';
import { settlesWithin } from '../kernel/timeout.ts';
import type { WebhookSender } from '../ports/webhooks.ts';
import { HEARTBEAT_MS, LEASE_S, newLeaseId } from '../store/leases.ts';
import {
  claimQueues,
  extendQueues,
  hasDueQueues,
  type LeasedQueue,
  nextQueueDue,
  readDueDeliveries,
} from '../store/webhooks/queues.ts';
import { DeliveryBatch, type DeliveryBatchOptions } from './delivery-batch.ts';
import { batchSize, freeSlots } from './delivery-lanes.ts';
import { GroupCommit } from './group-commit.ts';
import type { Job } from './job.ts';
import { Signal } from './signal.ts';

/** How long results wait to be written together. With few batches there is nothing to wait for. */
const WRITE_DELAY_MS = 5;
const FEW_BATCHES = 8;
/** How long a run waits for batches in progress. */
const RUN_WAIT_MAX_MS = 500;
/** Pause after an internal fault, such as a lack of sockets or an unreachable database. */
const FAULT_PAUSE_MS = 1_000;
/** How long shutdown waits for requests in progress. The next process sends unanswered ones again. */
const STOP_TIMEOUT_MS = 4_000;

export interface DeliverOptions {
  readonly stopMs?: number;
}

export function deliverJob(
  service: Service,
  sender: WebhookSender,
  { stopMs = STOP_TIMEOUT_MS }: DeliverOptions = {},
): Job {
  const deliverer = new Deliverer(service, sender, stopMs);
  return {
    name: 'deliver',
    blocksClock: true,
    run: () => deliverer.run(),
    nextDue: async () => ((await isSwitchOn(service.db, 'webhooks')) ? await nextQueueDue(service.db) : null),
    busy: () => deliverer.busy(),
    wake: () => deliverer.wake(),
    stop: () => deliverer.stop(),
  };
}

class Deliverer {
  readonly #service: Service;
  readonly #sender: WebhookSender;
  readonly #stopMs: number;
  readonly #batches = new Set<DeliveryBatch>();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #results: GroupCommit<DeliveryBatch>;
  /** A batch has ended, or more may be due. */
  readonly #progress = new Signal();
  #endedCount = 0;
  #pausedUntilMs = 0;
  #isStopping = false;

  constructor(service: Service, sender: WebhookSender, stopMs: number) {
    this.#service = service;
    this.#sender = sender;
    this.#stopMs = stopMs;
    this.#heartbeat = setInterval(() => this.#extendLeases(), HEARTBEAT_MS).unref();
    this.#results = new GroupCommit({
      delayMs: () => (this.#batches.size < FEW_BATCHES ? 0 : WRITE_DELAY_MS),
      collect: () => [...this.#batches].filter((batch) => batch.needsWriting),
      write: (batches) => this.#record(batches),
      onFailure: (error) => this.#pauseAfterFailedWrite(error),
    });
  }

  async busy(): Promise<boolean> {
    const { db, clock } = this.#service;
    if (!(await isSwitchOn(db, 'webhooks'))) return false;
    return this.#batches.size > 0 || (await hasDueQueues(db, clock.now()));
  }

  async run(): Promise<number> {
    this.#progress.clear();
    if (this.#isStopping) return 0;
    if (!(await isSwitchOn(this.#service.db, 'webhooks'))) {
      for (const batch of this.#batches) batch.stop();
      return 0;
    }
    await this.#startBatches();
    if (this.#batches.size > 0 && this.#endedCount === 0) await this.#progress.wait(RUN_WAIT_MAX_MS);
    const processed = this.#endedCount + this.#batches.size;
    this.#endedCount = 0;
    return processed;
  }

  /** More may be due: makes a run that waits for its batches look again. */
  wake(): void {
    this.#progress.raise();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.wake();
    for (const batch of this.#batches) batch.stop();
    await this.#allEnded(this.#stopMs);
    // Closing cuts the remaining requests, and their batches are released.
    await this.#sender.close();
    await this.#allEnded(this.#stopMs);
    await this.#results.settled();
    clearInterval(this.#heartbeat);
  }

  async #allEnded(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    // A run that was leasing may add more.
    while (this.#batches.size > 0 && performance.now() < deadline) {
      const ends = [...this.#batches].map((batch) => batch.ended);
      await settlesWithin(Promise.all(ends), deadline - performance.now());
    }
  }

  /** Leases due subscriptions while slots are free, and starts their batches. */
  async #startBatches(): Promise<void> {
    const { db, clock } = this.#service;
    const slots = freeSlots(this.#batches);
    if ((slots.quickMax === 0 && slots.slowMax === 0) || performance.now() < this.#pausedUntilMs) return;
    const now = clock.now();
    const leaseId = newLeaseId();
    const queues = await claimQueues(db, { leaseId, leaseS: LEASE_S, now, ...slots });
    if (queues.length === 0) return;
    const secrets = await this.#openSecrets(queues, leaseId);
    const ready = queues.filter(({ webhook_id }) => secrets.has(webhook_id));
    const wanted = ready.map((queue) => ({ webhook_id: queue.webhook_id, limit: batchSize(queue) }));
    const due = await readDueDeliveries(db, wanted, now);
    const contents = await loadEventContents(db, [...due.values()].flat());
    for (const queue of ready) {
      const { webhook_id, url } = queue;
      const signing = secrets.get(webhook_id);
      if (!signing) continue;
      const send = createDeliverySender(this.#sender, { url, ...signing }, contents);
      const batch = this.#createBatch({ queue, leaseId, deliveries: due.get(webhook_id) ?? [], send });
      this.#batches.add(batch);
      batch.advance();
    }
  }

  /** Returns secrets by subscription. Cancels the queues of paused ones; postpones those without a secret. */
  async #openSecrets(
    queues: readonly LeasedQueue[],
    leaseId: string,
  ): Promise<ReadonlyMap<string, SigningSecrets>> {
    const secrets = new Map<string, SigningSecrets>();
    for (const leasedQueue of queues) {
      const opened = leasedQueue.active ? openWebhookSecrets(this.#service, leasedQueue) : null;
      if (opened !== null) {
        secrets.set(leasedQueue.webhook_id, opened);
        continue;
      }
      await (leasedQueue.active ? postponeAndRelease : cancelAndRelease)(this.#service, {
        ...leasedQueue,
        webhookId: leasedQueue.webhook_id,
        leaseId,
      });
      this.#endedCount += 1;
    }
    return secrets;
  }

  #createBatch(
    parts: Pick<DeliveryBatchOptions, 'queue' | 'leaseId' | 'deliveries' | 'send'>,
  ): DeliveryBatch {
    return new DeliveryBatch({
      ...parts,
      clock: this.#service.clock,
      onChange: () => this.#results.schedule(),
      onInternalError: (error) => this.#pauseAfterFault(error),
    });
  }

  #pauseAfterFault(error: unknown): void {
    if (this.#isStopping) return;
    this.#pausedUntilMs = performance.now() + FAULT_PAUSE_MS;
    // Log only the code: the message may contain the target address.
    const { code = 'unknown' } = error as { code?: unknown };
    this.#service.log.warn({ code }, 'webhooks could not be sent');
  }

  async #pauseAfterFailedWrite(error: unknown): Promise<void> {
    this.#service.log.warn({ err: error }, 'webhook results could not be written');
    // Their leases expire on their own.
    if (this.#isStopping) for (const batch of this.#batches) this.#endBatch(batch);
    await pause(FAULT_PAUSE_MS);
  }

  async #record(batches: readonly DeliveryBatch[]): Promise<void> {
    const reports = batches.map((batch) => batch.report());
    const revisions = await recordBatches(this.#service, reports);
    batches.forEach((batch, n) => {
      const report = reports[n];
      const revision = revisions.get(batch.queue.webhook_id);
      if (!report) return;
      // Another process holds the lease now, or the customer changed the subscription: our copy is outdated.
      if (revision !== batch.queue.revision) batch.stop();
      batch.markWritten(report.results.length);
      if (report.finished || (revision === undefined && batch.isOver)) this.#endBatch(batch);
    });
    for (const batch of batches) {
      if (!this.#batches.has(batch) || !batch.isOver || batch.goneResults.length === 0) continue;
      await recordGone(this.#service, { ...batch.lease, ...batch.queue }, batch.goneResults);
      batch.markGoneWritten();
      this.#service.wake();
    }
  }

  #endBatch(batch: DeliveryBatch): void {
    this.#batches.delete(batch);
    batch.markEnded();
    this.#endedCount += 1;
    this.#progress.raise();
  }

  #extendLeases(): void {
    if (this.#batches.size === 0) return;
    const leases = [...this.#batches].map((batch) => batch.lease);
    extendQueues(this.#service.db, leases, LEASE_S).catch((error: unknown) => {
      this.#service.log.warn({ err: error }, 'lease could not be extended');
    });
  }
}
