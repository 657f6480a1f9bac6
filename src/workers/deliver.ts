/**
 * Sends what is queued for webhooks. What is leased is the subscription, so each has a turn of its own (turn.ts), and a
 * receiver that is dead, slow or hostile has nothing but its own turn to spoil. Turns cost sockets, not CPU: those that wait
 * for slow ones are counted apart, and never take the places of those that answer.
 *
 * A run leases what is due as far as there are places, and returns while turns go on beside it. What they have to write is
 * gathered from all of them into one transaction at a time.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../domain/context.ts';
import { isSwitchOn } from '../domain/switches/switch.ts';
import {
  cancelAndRelease,
  postponeAndRelease,
  recordBatches,
  recordGone,
} from '../domain/webhooks/record.ts';
import { createDeliverySender, loadEventContents, openWebhookSecret } from '../domain/webhooks/send.ts';
import { crashPoint } from '../kernel/crash.ts';
import type { WebhookSender } from '../ports/webhooks.ts';
import {
  claimQueues,
  extendQueues,
  hasDueQueues,
  type LeasedQueue,
  nextQueueDue,
  readDueDeliveries,
} from '../store/webhook-queues.ts';
import { DeliveryBatch, type DeliveryBatchOptions } from './delivery-batch.ts';
import type { Job } from './job.ts';

/** Turns of subscriptions that answer in good time, and of those that do not. */
const QUICK_BATCHES_MAX = 256;
const SLOW_BATCHES_MAX = 512;
/** Deliveries of one turn. */
const QUICK_BATCH_SIZE = 32;
const SLOW_BATCH_SIZE = 8;

const LEASE_S = 15;
const HEARTBEAT_MS = 4_000;
/** How long results wait for others, to be written together; where turns are few, there is nothing to wait for. */
const WRITE_DELAY_MS = 5;
const FEW_BATCHES = 8;
/** How long a run waits for the turns that are under way. */
const RUN_WAIT_MAX_MS = 500;
/** After a fault of our own: no sockets left, no database. */
const FAULT_PAUSE_MS = 1_000;
/** When the service stops: for what is under way. What is not answered by then is sent again by whoever comes next. */
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
      for (const turn of this.#batches) turn.stop();
      return 0;
    }
    await this.#startBatches();
    if (this.#batches.size > 0) await this.#waitForProgress();
    const processed = this.#endedCount + this.#batches.size;
    this.#endedCount = 0;
    return processed;
  }

  /** More may be due: a run that waits for its turns looks again. */
  wake(): void {
    this.#isWoken = true;
    this.#wakeRun();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.wake();
    for (const turn of this.#batches) turn.stop();
    const deadline = performance.now() + this.#stopMs;
    while (this.#batches.size > 0 && performance.now() < deadline) await pause(WRITE_DELAY_MS);
    // Whatever is cut by this ends now, and is given back.
    await this.#sender.close();
    await pause(0);
    await this.#writing;
    clearInterval(this.#heartbeat);
  }

  /** Leases what is due, as far as there is room, and begins its turns. */
  async #startBatches(): Promise<void> {
    const { db, clock } = this.#service;
    const { quick: quickMax, slow: slowMax } = this.#capacity();
    if ((quickMax === 0 && slowMax === 0) || performance.now() < this.#pausedUntilMs) return;
    const now = clock.now();
    const leaseId = randomUUID();
    const queues = await claimQueues(db, { leaseId, leaseS: LEASE_S, now, quickMax, slowMax });
    if (queues.length === 0) return;
    crashPoint('deliver.claimed');
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
      const turn = this.#createBatch({ queue, leaseId, deliveries: due.get(webhook_id) ?? [], send });
      this.#batches.add(turn);
      turn.advance();
    }
  }

  /** By subscription; what waits for one that nothing can be sent to is taken back, or put off. */
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
    for (const turn of this.#batches) if (turn.isSlow) slow += 1;
    const quick = this.#batches.size - slow;
    // Slow ones beyond their places take those of others, until they have had their time.
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
    // Its text may name the address that was to be connected to.
    const { code = 'unknown' } = error as { code?: unknown };
    this.#service.log.warn({ code }, 'webhooks could not be sent');
  }

  /** Resolves when a turn has ended, when more may be due, or when its patience is over. */
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

  /** Begins to write, unless it is being done: then what is new goes with the next transaction. */
  #scheduleWrite(): void {
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      await pause(this.#batches.size < FEW_BATCHES ? 0 : WRITE_DELAY_MS);
      const turns = [...this.#batches].filter((turn) => turn.needsWriting);
      if (turns.length === 0) {
        // Here and not a moment later: what is new after this look begins to be written again.
        this.#writing = undefined;
        return;
      }
      try {
        await this.#record(turns);
      } catch (error) {
        this.#service.log.warn({ err: error }, 'what became of webhooks could not be written');
        // Their leases end by themselves.
        if (this.#isStopping) this.#batches.clear();
        await pause(FAULT_PAUSE_MS);
      }
    }
  }

  async #record(turns: readonly DeliveryBatch[]): Promise<void> {
    const reports = turns.map((turn) => turn.report());
    const revisions = await recordBatches(this.#service, reports);
    turns.forEach((turn, n) => {
      const report = reports[n];
      const revision = revisions.get(turn.queue.webhook_id);
      if (!report) return;
      // Another one holds it by now, or the customer has changed it: what was read of it holds no longer.
      if (revision !== turn.queue.revision) turn.stop();
      turn.markWritten(report.results.length);
      if (report.finished || (revision === undefined && turn.isOver)) this.#endBatch(turn);
    });
    for (const turn of turns) {
      if (!this.#batches.has(turn) || !turn.isOver || turn.goneResults.length === 0) continue;
      await recordGone(this.#service, { ...turn.lease, ...turn.queue }, turn.goneResults);
      turn.markGoneWritten();
      this.#service.wake();
    }
  }

  #endBatch(turn: DeliveryBatch): void {
    this.#batches.delete(turn);
    this.#endedCount += 1;
    this.#wakeRun();
  }

  #extendLeases(): void {
    if (this.#batches.size === 0) return;
    const leases = [...this.#batches].map((turn) => turn.lease);
    extendQueues(this.#service.db, leases, LEASE_S).catch((error: unknown) => {
      this.#service.log.warn({ err: error }, 'a lease could not be extended');
    });
  }
}
