import { SECOND_MS } from './time.ts';

/** Business time: cycles, expirations, retention, retry times. Never for leases, timeouts, or signatures. */
export interface Clock {
  now(): Date;
}

/** The clock of this machine counts while it differs by no more from the database's. */
const TOLERANCE_MS = 2 * SECOND_MS;
/** A slower answer does not say precisely enough which time it is. The first one counts in any case. */
const ANSWER_MAX_MS = SECOND_MS;

/**
 * Real time plus an offset. The offset is stored in the database, and only a sandbox can move it. A machine
 * whose clock is wrong uses the time of the database: otherwise, it would charge customers too early, or
 * schedule work too late.
 */
export class OffsetClock implements Clock {
  offsetMs = 0;
  /** The database's time at a moment of the timer that no one can set. */
  #reference: { readonly timeMs: number; readonly timerMs: number } | null = null;

  now(): Date {
    return new Date(this.#realMs() + this.offsetMs);
  }

  /** Compares with `time`, which the database answered between two readings of `performance.now()`. */
  compare(
    time: Date,
    { sentMs, receivedMs }: { readonly sentMs: number; readonly receivedMs: number },
  ): void {
    if (this.#reference !== null && receivedMs - sentMs > ANSWER_MAX_MS) return;
    this.#reference = { timeMs: time.getTime(), timerMs: (sentMs + receivedMs) / 2 };
  }

  /** How far this machine's clock is ahead of the database's, if that is too far to count. */
  get wrongByMs(): number | null {
    const differenceMs = Date.now() - this.#databaseMs();
    return Math.abs(differenceMs) > TOLERANCE_MS ? Math.round(differenceMs) : null;
  }

  #realMs(): number {
    const [wallMs, databaseMs] = [Date.now(), this.#databaseMs()];
    return Math.abs(wallMs - databaseMs) > TOLERANCE_MS ? Math.round(databaseMs) : wallMs;
  }

  #databaseMs(): number {
    if (this.#reference === null) return Date.now();
    return this.#reference.timeMs + performance.now() - this.#reference.timerMs;
  }
}
