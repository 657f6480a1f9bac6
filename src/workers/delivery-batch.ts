/**
 * One batch of one subscription: the deliveries that were due when it was leased, sent a few at a time. It
 * hands out results and continues once they are written. So it learns before each request whether the
 * subscription was paused, and a killed process resends only those few deliveries.
 */
import { isGone, toAttemptResult } from '../domain/webhooks/attempt.ts';
import type { BatchReport } from '../domain/webhooks/record.ts';
import type { Clock } from '../kernel/clock.ts';
import type { WebhookResponse } from '../ports/webhooks.ts';
import { LIMITS } from '../spec/limits.ts';
import type { AttemptResult } from '../store/webhooks/deliveries.ts';
import type { DueDelivery, LeasedQueue, QueueLease } from '../store/webhooks/queues.ts';

/** A slower endpoint moves to the slow lane for its next batch and frees its slot now. */
const SLOW_MS = 500;
/** A batch starts no new request after this time, so that other subscriptions have their turn. */
const BATCH_MAX_MS = 2_000;

export interface DeliveryBatchOptions {
  readonly queue: LeasedQueue;
  readonly leaseId: string;
  readonly deliveries: readonly DueDelivery[];
  /** Resolves to null if there is no longer anything to send. Rejects if the outcome is unknown. */
  readonly send: (delivery: DueDelivery) => Promise<WebhookResponse | null>;
  readonly clock: Clock;
  /** Called when there are results to write, or when the batch is over. */
  readonly onChange: () => void;
  readonly onInternalError: (error: unknown) => void;
}

export class DeliveryBatch {
  readonly queue: LeasedQueue;
  /** Resolves when its owner has written everything, or given it up. */
  readonly ended: Promise<void>;
  readonly markEnded: () => void;
  readonly #options: DeliveryBatchOptions;
  readonly #startedMs = performance.now();
  readonly #inFlight = new Set<{ readonly sinceMs: number }>();
  #next = 0;
  #isStopped = false;
  #hasAnswered = false;
  #wasSlow = false;
  #unwritten = 0;
  #results: AttemptResult[] = [];
  #goneResults: AttemptResult[] = [];

  constructor(parts: DeliveryBatchOptions) {
    this.queue = parts.queue;
    ({ promise: this.ended, resolve: this.markEnded } = Promise.withResolvers<void>());
    this.#options = parts;
  }

  /** Nothing is in flight and nothing more will start. */
  get isOver(): boolean {
    return this.#inFlight.size === 0 && (this.#isStopped || this.#next >= this.#options.deliveries.length);
  }

  /** The endpoint responds slowly, or did so in the previous batch. */
  get isSlow(): boolean {
    if (this.#wasSlow) return true;
    if (this.queue.slow && !this.#hasAnswered) return true;
    const oldest = this.#inFlight.values().next().value;
    return oldest !== undefined && performance.now() - oldest.sinceMs > SLOW_MS;
  }

  get needsWriting(): boolean {
    return this.#results.length > 0 || this.isOver;
  }

  /** Starts as many requests as may be in flight. */
  advance(): void {
    // Probe an endpoint that may hang with one request instead of several.
    const atOnce = this.queue.slow && !this.#hasAnswered ? 1 : LIMITS.webhookConcurrency;
    const { deliveries } = this.#options;
    if (performance.now() - this.#startedMs > BATCH_MAX_MS) this.#isStopped = true;
    while (!this.#isStopped && this.#unwritten < atOnce) {
      const due = deliveries[this.#next];
      if (!due) break;
      this.#next += 1;
      void this.#attempt(due);
    }
    if (this.isOver) this.#options.onChange();
  }

  /** Lets requests in flight finish and starts no more. */
  stop(): void {
    this.#isStopped = true;
    if (this.isOver) this.#options.onChange();
  }

  get lease(): QueueLease {
    return { webhookId: this.queue.webhook_id, leaseId: this.#options.leaseId };
  }

  /** Returns the results to write next. They are kept until `markWritten`. */
  report(): BatchReport {
    const finished = this.isOver && this.#goneResults.length === 0;
    return { ...this.lease, results: [...this.#results], finished, slow: this.isSlow };
  }

  /** Attempts that were answered with 410: to be written when the batch is over. */
  get goneResults(): readonly AttemptResult[] {
    return this.#goneResults;
  }

  markGoneWritten(): void {
    this.#goneResults = [];
  }

  markWritten(count: number): void {
    this.#results.splice(0, count);
    this.#unwritten -= count;
    this.advance();
  }

  async #attempt(due: DueDelivery): Promise<void> {
    const { send, clock, onChange, onInternalError } = this.#options;
    const attemptedAt = clock.now();
    const attempt = { sinceMs: performance.now() };
    this.#inFlight.add(attempt);
    this.#unwritten += 1;
    try {
      const answer = await send(due);
      const tookMs = performance.now() - attempt.sinceMs;
      const timing = { attemptedAt, endedAt: clock.now(), durationMs: Math.round(tookMs) };
      this.#classifyAnswer(answer, tookMs);
      (isGone(answer) ? this.#goneResults : this.#results).push(toAttemptResult(due, answer, timing));
    } catch (error) {
      this.#isStopped = true;
      onInternalError(error);
    }
    this.#inFlight.delete(attempt);
    onChange();
  }

  #classifyAnswer(answer: WebhookResponse | null, tookMs: number): void {
    if (tookMs > SLOW_MS) this.#wasSlow = true;
    if (answer !== null && 'status' in answer) this.#hasAnswered = true;
    // Further requests would hang as long, and other subscriptions are due.
    else if (tookMs > SLOW_MS) this.#isStopped = true;
    if (isGone(answer)) this.#isStopped = true;
  }
}
