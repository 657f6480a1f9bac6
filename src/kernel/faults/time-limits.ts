/**
 * Ends what takes too long, with one timer for all. A timer for each request and statement would cost more
 * than the check, and V8 would keep what ended timers refer to until a full garbage collection.
 */
const CHECK_MS = 100;
/** A check that is so late follows a pause of the process, which has not yet read what came meanwhile. */
const LATE_MS = 1_000;

interface Entry {
  readonly remainingMs: () => number;
  readonly expire: () => void;
  index: number;
}

export class TimeLimits {
  /**
   * In no order. Not a Set: V8 copies the table of a Set that changes often, and each copy refers to the
   * next, so that everything in them would stay in memory as well.
   */
  readonly #entries: Entry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #dueMs = 0;

  /** Calls `expire` when `remainingMs` is not positive, up to 100 ms late. Returns how to forget it. */
  add(remainingMs: () => number, expire: () => void): () => void {
    const entry = { remainingMs, expire, index: this.#entries.length };
    this.#entries.push(entry);
    if (!this.#timer) this.#schedule();
    return () => this.#remove(entry);
  }

  /** The last one takes its place. */
  #remove(entry: Entry): void {
    if (this.#entries[entry.index] !== entry) return;
    const last = this.#entries.pop();
    if (!last || last === entry) return;
    last.index = entry.index;
    this.#entries[last.index] = last;
  }

  #schedule(): void {
    this.#dueMs = performance.now() + CHECK_MS;
    this.#timer = setTimeout(() => this.#check(), CHECK_MS).unref();
  }

  #check(): void {
    if (performance.now() - this.#dueMs > LATE_MS) {
      this.#schedule();
      return;
    }
    const expired = this.#entries.filter(({ remainingMs }) => remainingMs() <= 0);
    for (const entry of expired) this.#remove(entry);
    this.#timer = undefined;
    if (this.#entries.length > 0) this.#schedule();
    for (const { expire } of expired) expire();
  }
}
