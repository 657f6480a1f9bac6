/**
 * One subscription's turn: what was due to it when it was leased, sent a few at once. A turn knows nothing of others. It
 * hands out results to be written, and goes on when they are: so it hears before each request whether the subscription has
 * been paused, and no more than those few are sent twice should the process be killed.
 */
import { isGone, toAttemptResult } from '../domain/webhooks/outcome.ts';
import type { BatchReport } from '../domain/webhooks/record.ts';
import type { Clock } from '../kernel/clock.ts';
import { crashPoint } from '../kernel/crash.ts';
import type { WebhookResponse } from '../ports/webhooks.ts';
import { LIMITS } from '../spec/limits.ts';
import type { AttemptResult } from '../store/deliveries.ts';
import type { DueDelivery, LeasedQueue, QueueLease } from '../store/webhook-queues.ts';

/** Whoever takes longer waits among his like the next time, and gives others his place now. */
const SLOW_MS = 500;
/** Nothing new is begun later than this, so that others have their turn. */
const BATCH_MAX_MS = 2_000;

export interface DeliveryBatchOptions {
  readonly queue: LeasedQueue;
  readonly leaseId: string;
  readonly deliveries: readonly DueDelivery[];
  /** null: there is nothing to send any more. Rejects where nothing is known of what became of it. */
  readonly send: (delivery: DueDelivery) => Promise<WebhookResponse | null>;
  readonly clock: Clock;
  /** There are results to be written, or it is over. */
  readonly onChange: () => void;
  readonly onInternalError: (error: unknown) => void;
}

export class DeliveryBatch {
  readonly queue: LeasedQueue;
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
    this.#options = parts;
  }

  /** Nothing is under way and nothing more will be begun. */
  get isOver(): boolean {
    return this.#inFlight.size === 0 && (this.#isStopped || this.#next >= this.#options.deliveries.length);
  }

  /** It does not answer in good time, or did not the last time. */
  get isSlow(): boolean {
    if (this.#wasSlow) return true;
    if (this.queue.slow && !this.#hasAnswered) return true;
    const oldest = this.#inFlight.values().next().value;
    return oldest !== undefined && performance.now() - oldest.sinceMs > SLOW_MS;
  }

  get needsWriting(): boolean {
    return this.#results.length > 0 || this.isOver;
  }

  /** Begins as many as may be under way. */
  advance(): void {
    // One that is not known to answer is asked by one request, not by four that hang.
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

  /** What is under way ends; nothing more is begun. */
  stop(): void {
    this.#isStopped = true;
    if (this.isOver) this.#options.onChange();
  }

  get lease(): QueueLease {
    return { webhookId: this.queue.webhook_id, leaseId: this.#options.leaseId };
  }

  /** What is to be written next. The results stay until they are `written`. */
  report(): BatchReport {
    const finished = this.isOver && this.#goneResults.length === 0;
    return { ...this.lease, results: [...this.#results], finished, slow: this.isSlow };
  }

  /** Attempts that were answered 410: to be written when the turn is over. */
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
      crashPoint('deliver.answered');
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
    // The rest would hang as long; others are due.
    else if (tookMs > SLOW_MS) this.#isStopped = true;
    if (isGone(answer)) this.#isStopped = true;
  }
}
