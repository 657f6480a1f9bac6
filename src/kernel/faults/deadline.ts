/**
 * The time limit of a request. It follows the request through all asynchronous calls, so that the database
 * knows it without every function in between passing it on. Background work has none.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** The request's time is over. Nothing was changed: its transaction is rolled back. */
export class DeadlineExceeded extends Error {
  override readonly name: string = 'DeadlineExceeded';
  override readonly message: string = 'the time limit of the request has passed';
}

/** A change was sent to the database, and no response came: it may or may not have been made. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
  override readonly message = 'the database did not confirm a change';
}

export class Deadline {
  /** Whether the request changes something. */
  readonly changes: boolean;
  #endsAtMs: number;
  #waitCount = 0;
  readonly #onWait: (isWaiting: boolean) => void;

  constructor(timeoutMs: number, changes: boolean, onWait: (isWaiting: boolean) => void = () => undefined) {
    this.#endsAtMs = performance.now() + timeoutMs;
    this.changes = changes;
    this.#onWait = onWait;
  }

  /** Infinite during a wait that does not count. */
  get remainingMs(): number {
    return this.#waitCount > 0 ? Number.POSITIVE_INFINITY : this.#endsAtMs - performance.now();
  }

  /** Grants the time of `work`. */
  async extendBy<T>(work: () => Promise<T>): Promise<T> {
    const startedAtMs = performance.now();
    this.#waitCount += 1;
    if (this.#waitCount === 1) this.#onWait(true);
    try {
      return await work();
    } finally {
      this.#waitCount -= 1;
      if (this.#waitCount === 0) this.#onWait(false);
      this.#endsAtMs += performance.now() - startedAtMs;
    }
  }
}

const current = new AsyncLocalStorage<Deadline>();

export function runWithin<T>(deadline: Deadline, work: () => T): T {
  return current.run(deadline, work);
}

/** Returns the rest of the current request's time; infinite in background work. */
export function remainingMs(): number {
  return current.getStore()?.remainingMs ?? Number.POSITIVE_INFINITY;
}

/** Runs work that has a time limit of its own, and does not count against the request's. */
export async function runApart<T>(limitMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = current.getStore();
  if (!deadline) return await work();
  const own = new Deadline(limitMs, deadline.changes);
  return await deadline.extendBy(() => current.run(own, work));
}
