/**
 * Delivers queued webhooks. The unit of leasing is the subscription: each one is sent its own batch
 * (delivery-batch.ts), so a dead, slow, or hostile endpoint affects only itself. Waiting costs sockets, not
 * CPU: batches to slow endpoints have their own limit and never take the slots of responsive ones.
 *
 * A run leases due subscriptions while slots are free, and returns while batches continue in the background.
 * Their results are collected and written together, one transaction at a time.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../domain/context.ts';
import { isSwitchOn } from '../domain/switches.ts';
import { createDeliverySender, loadEventContents, openWebhookSecret } from '../domain/webhooks/attempt.ts';
import {
  cancelAndRelease,
  postponeAndRelease,
  recordBatches,
  recordGone,
} from '../domain/webhooks/record.ts';
import type { WebhookSender } from '../ports/webhooks.ts';
import {
  claimQueues,
  extendQueues,
  hasDueQueues,
  type LeasedQueue,
  nextQueueDue,
  readDueDeliveries,
} from '../store/webhooks/queues.ts';
import { DeliveryBatch, type DeliveryBatchOptions } from './delivery-batch.ts';
import type { Job } from './job.ts';

/** Concurrent batches to responsive endpoints, and to slow ones. */
const QUICK_BATCHES_MAX = 256;
const SLOW_BATCHES_MAX = 512;
/** Deliveries per batch. */
const QUICK_BATCH_SIZE = 32;
const SLOW_BATCH_SIZE = 8;

const LEASE_S = 15;
const HEARTBEAT_MS = 4_000;
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
  #writing: Promise<void> | undefined;
  #endedCount = 0;
  #isWoken = false;
  #wakeRun: () => void = () => undefined;
  #pausedUntilMs = 0;
  #isStopping = false;

  constructor(service: Service, sender: WebhookSender, stopMs: number) {
    this.#service = service;
    this.#sender = sender;
    this.#stopMs = stopMs;
    this.#heartbeat = setInterval(() => this.#extendLeases(), HEARTBEAT_MS).unref();
  }

  async busy(): Promise<boolean> {
    const { db, clock } = this.#service;
    if (!(await isSwitchOn(db, 'webhooks'))) return false;
    return this.#batches.size > 0 || (await hasDueQueues(db, clock.now()));
  }

  async run(): Promise<number> {
    this.#isWoken = false;
    if (this.#isStopping) return 0;
    if (!(await isSwitchOn(this.#service.db, 'webhooks'))) {
      for (const batch of this.#batches) batch.stop();
      return 0;
    }
    await this.#startBatches();
    if (this.#batches.size > 0) await this.#waitForProgress();
    const processed = this.#endedCount + this.#batches.size;
    this.#endedCount = 0;
    return processed;
  }

  /** More may be due: makes a run that waits for its batches look again. */
  wake(): void {
    this.#isWoken = true;
    this.#wakeRun();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.wake();
    for (const batch of this.#batches) batch.stop();
    const deadline = performance.now() + this.#stopMs;
    while (this.#batches.size > 0 && performance.now() < deadline) await pause(WRITE_DELAY_MS);
    // Closing cuts the remaining requests, and their batches are released.
    await this.#sender.close();
    await pause(0);
    await this.#writing;
    clearInterval(this.#heartbeat);
  }

  /** Leases due subscriptions while slots are free, and starts their batches. */
  async #startBatches(): Promise<void> {
    const { db, clock } = this.#service;
    const { quick: quickMax, slow: slowMax } = this.#capacity();
    if ((quickMax === 0 && slowMax === 0) || performance.now() < this.#pausedUntilMs) return;
    const now = clock.now();
    const leaseId = randomUUID();
    const queues = await claimQueues(db, { leaseId, leaseS: LEASE_S, now, quickMax, slowMax });
    if (queues.length === 0) return;
    const secrets = await this.#openSecrets(queues, leaseId);
    const ready = queues.filter(({ webhook_id }) => secrets.has(webhook_id));
    const wanted = ready.map(({ webhook_id, slow }) => ({
      webhook_id,
      limit: slow ? SLOW_BATCH_SIZE : QUICK_BATCH_SIZE,
    }));
    const due = await readDueDeliveries(db, wanted, now);
    const contents = await loadEventContents(db, [...due.values()].flat());
    for (const queue of ready) {
      const { webhook_id, url } = queue;
      const send = createDeliverySender(
        this.#sender,
        { url, secret: secrets.get(webhook_id) ?? '' },
        contents,
      );
      const batch = this.#createBatch({ queue, leaseId, deliveries: due.get(webhook_id) ?? [], send });
      this.#batches.add(batch);
      batch.advance();
    }
  }

  /** Returns secrets by subscription. Cancels the queues of paused ones; postpones those without a secret. */
  async #openSecrets(queues: readonly LeasedQueue[], leaseId: string): Promise<ReadonlyMap<string, string>> {
    const secrets = new Map<string, string>();
    for (const leasedQueue of queues) {
      const secret = leasedQueue.active ? openWebhookSecret(this.#service, leasedQueue) : null;
      if (secret !== null) {
        secrets.set(leasedQueue.webhook_id, secret);
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

  #capacity(): { quick: number; slow: number } {
    let slow = 0;
    for (const batch of this.#batches) if (batch.isSlow) slow += 1;
    const quick = this.#batches.size - slow;
    // Slow batches beyond their limit use the slots of responsive ones until they end.
    const excess = Math.max(0, slow - SLOW_BATCHES_MAX);
    return {
      quick: Math.max(0, QUICK_BATCHES_MAX - quick - excess),
      slow: Math.max(0, SLOW_BATCHES_MAX - slow),
    };
  }

  #createBatch(
    parts: Pick<DeliveryBatchOptions, 'queue' | 'leaseId' | 'deliveries' | 'send'>,
  ): DeliveryBatch {
    return new DeliveryBatch({
      ...parts,
      clock: this.#service.clock,
      onChange: () => this.#scheduleWrite(),
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

  /** Resolves when a batch ends, when more may be due, or after a timeout. */
  async #waitForProgress(): Promise<void> {
    if (this.#isWoken || this.#endedCount > 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, RUN_WAIT_MAX_MS);
      this.#wakeRun = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wakeRun = () => undefined;
  }

  /** Starts writing, unless a write is in progress: the next transaction picks up new results then. */
  #scheduleWrite(): void {
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      await pause(this.#batches.size < FEW_BATCHES ? 0 : WRITE_DELAY_MS);
      const batches = [...this.#batches].filter((batch) => batch.needsWriting);
      if (batches.length === 0) {
        // Reset it synchronously with the check, so that a result that arrives later starts a new write.
        this.#writing = undefined;
        return;
      }
      try {
        await this.#record(batches);
      } catch (error) {
        this.#service.log.warn({ err: error }, 'webhook results could not be written');
        // Their leases expire on their own.
        if (this.#isStopping) this.#batches.clear();
        await pause(FAULT_PAUSE_MS);
      }
    }
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
    this.#endedCount += 1;
    this.#wakeRun();
  }

  #extendLeases(): void {
    if (this.#batches.size === 0) return;
    const leases = [...this.#batches].map((batch) => batch.lease);
    extendQueues(this.#service.db, leases, LEASE_S).catch((error: unknown) => {
      this.#service.log.warn({ err: error }, 'lease could not be extended');
    });
  }
}
