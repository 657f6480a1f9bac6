/**
 * One subscription's turn: what was due to it when it was leased, sent a few at once. A turn knows nothing of others. It
 * hands out results to be written, and goes on when they are: so it hears before each request whether the subscription has
 * been paused, and no more than those few are sent twice should the process be killed.
 */
import { isGone, outcome } from '../domain/webhooks/outcome.ts';
import type { TurnReport } from '../domain/webhooks/record.ts';
import type { Clock } from '../kernel/clock.ts';
import { crashPoint } from '../kernel/crash.ts';
import type { WebhookAnswer } from '../ports/webhooks.ts';
import { LIMITS } from '../spec/limits.ts';
import type { AttemptResult } from '../store/deliveries.ts';
import type { DueDelivery, HeldQueue, QueueLease } from '../store/webhook-queues.ts';

/** Whoever takes longer waits among his like the next time, and gives others his place now. */
const SLOW_MS = 500;
/** Nothing new is begun later than this, so that others have their turn. */
const TURN_MS = 2_000;

export interface TurnParts {
  readonly held: HeldQueue;
  readonly leaseId: string;
  readonly deliveries: readonly DueDelivery[];
  /** null: there is nothing to send any more. Rejects where nothing is known of what became of it. */
  readonly send: (delivery: DueDelivery) => Promise<WebhookAnswer | null>;
  readonly clock: Clock;
  /** There are results to be written, or it is over. */
  readonly onChange: () => void;
  readonly onOwnFault: (error: unknown) => void;
}

export class Turn {
  readonly held: HeldQueue;
  readonly #parts: TurnParts;
  readonly #beganMs = performance.now();
  readonly #underWay = new Set<{ readonly sinceMs: number }>();
  #next = 0;
  #stopped = false;
  #answered = false;
  #sawSlow = false;
  #unwritten = 0;
  #results: AttemptResult[] = [];
  #gone: AttemptResult[] = [];

  constructor(parts: TurnParts) {
    this.held = parts.held;
    this.#parts = parts;
  }

  /** Nothing is under way and nothing more will be begun. */
  get isOver(): boolean {
    return this.#underWay.size === 0 && (this.#stopped || this.#next >= this.#parts.deliveries.length);
  }

  /** It does not answer in good time, or did not the last time. */
  get isSlow(): boolean {
    if (this.#sawSlow) return true;
    if (this.held.slow && !this.#answered) return true;
    const oldest = this.#underWay.values().next().value;
    return oldest !== undefined && performance.now() - oldest.sinceMs > SLOW_MS;
  }

  get hasNews(): boolean {
    return this.#results.length > 0 || this.isOver;
  }

  /** Begins as many as may be under way. */
  advance(): void {
    // One that is not known to answer is asked by one request, not by four that hang.
    const atOnce = this.held.slow && !this.#answered ? 1 : LIMITS.webhookAtOnce;
    const { deliveries } = this.#parts;
    if (performance.now() - this.#beganMs > TURN_MS) this.#stopped = true;
    while (!this.#stopped && this.#unwritten < atOnce) {
      const due = deliveries[this.#next];
      if (!due) break;
      this.#next += 1;
      void this.#attempt(due);
    }
    if (this.isOver) this.#parts.onChange();
  }

  /** What is under way ends; nothing more is begun. */
  stop(): void {
    this.#stopped = true;
    if (this.isOver) this.#parts.onChange();
  }

  get lease(): QueueLease {
    return { webhookId: this.held.webhook_id, leaseId: this.#parts.leaseId };
  }

  /** What is to be written next. The results stay until they are `written`. */
  report(): TurnReport {
    const over = this.isOver && this.#gone.length === 0;
    return { ...this.lease, results: [...this.#results], over, slow: this.isSlow };
  }

  /** Attempts that were answered 410: to be written when the turn is over. */
  get gone(): readonly AttemptResult[] {
    return this.#gone;
  }

  goneWritten(): void {
    this.#gone = [];
  }

  written(count: number): void {
    this.#results.splice(0, count);
    this.#unwritten -= count;
    this.advance();
  }

  async #attempt(due: DueDelivery): Promise<void> {
    const { send, clock, onChange, onOwnFault } = this.#parts;
    const attemptedAt = clock.now();
    const mine = { sinceMs: performance.now() };
    this.#underWay.add(mine);
    this.#unwritten += 1;
    try {
      const answer = await send(due);
      crashPoint('deliver.answered');
      const tookMs = performance.now() - mine.sinceMs;
      const took = { attemptedAt, endedAt: clock.now(), durationMs: Math.round(tookMs) };
      this.#judge(answer, tookMs);
      (isGone(answer) ? this.#gone : this.#results).push(outcome(due, answer, took));
    } catch (error) {
      this.#stopped = true;
      onOwnFault(error);
    }
    this.#underWay.delete(mine);
    onChange();
  }

  #judge(answer: WebhookAnswer | null, tookMs: number): void {
    if (tookMs > SLOW_MS) this.#sawSlow = true;
    if (answer !== null && 'status' in answer) this.#answered = true;
    // The rest would hang as long; others are due.
    else if (tookMs > SLOW_MS) this.#stopped = true;
    if (isGone(answer)) this.#stopped = true;
  }
}
