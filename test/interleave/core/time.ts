/** Virtual time: it stands still until the scheduler moves it, and timers of tasks belong to it. */

/** The last day of a month, after which cycles end earlier in the month. */
const START_MS = Date.UTC(2030, 0, 31, 12);

export interface Timer {
  readonly task: object;
  readonly order: number;
  dueMs: number;
  /** Null: it rises once. */
  readonly everyMs: number | null;
  readonly rise: () => void;
}

export class VirtualTime {
  #ms = START_MS;
  /** Added to `performance.now`: limits that were set before must not be over. */
  readonly #originMs = performance.now();
  readonly #timers = new Set<Timer>();
  #count = 0;

  get ms(): number {
    return this.#ms;
  }

  now(): Date {
    return new Date(this.#ms);
  }

  /** The monotonic clock of a process. */
  monotonicMs(): number {
    return this.#originMs + this.#ms - START_MS;
  }

  add(task: object, timer: Pick<Timer, 'everyMs' | 'rise'> & { readonly afterMs: number }): Timer {
    const dueMs = this.#ms + Math.max(0, Math.round(timer.afterMs));
    const added = { task, order: ++this.#count, dueMs, everyMs: timer.everyMs, rise: timer.rise };
    this.#timers.add(added);
    return added;
  }

  has(timer: Timer): boolean {
    return this.#timers.has(timer);
  }

  remove(timer: Timer): void {
    this.#timers.delete(timer);
  }

  removeOf(task: object): void {
    for (const timer of this.#timers) if (timer.task === task) this.#timers.delete(timer);
  }

  /**
   * When the next timer of these tasks rises; null if none of them only waits for time. A heartbeat counts as
   * well, unless time may jump over it.
   */
  nextMs(isAlive: (task: object) => boolean, mayJump: boolean): number | null {
    const theirs = [...this.#timers].filter(({ task }) => isAlive(task)).sort(byTime);
    const sleepers = theirs.filter(({ everyMs }) => everyMs === null);
    return sleepers.length === 0 ? null : ((mayJump ? sleepers : theirs)[0]?.dueMs ?? null);
  }

  /** Lets the timers rise that are due until then, in order. A repeated timer rises once for a long jump. */
  moveTo(ms: number): void {
    this.#ms = Math.max(this.#ms, ms);
    const due = [...this.#timers].filter(({ dueMs }) => dueMs <= this.#ms).sort(byTime);
    for (const timer of due) {
      if (timer.everyMs === null) this.#timers.delete(timer);
      else timer.dueMs = this.#ms + timer.everyMs;
      timer.rise();
    }
  }
}

function byTime(one: Timer, other: Timer): number {
  return one.dueMs - other.dueMs || one.order - other.order;
}
