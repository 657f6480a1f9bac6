/**
 * Decides whether a request is admitted under load. By Little's law, requests in progress divided by those
 * completed per second is the time that each takes. When that exceeds the target, and a burst is over, new
 * requests are refused until some have completed. Otherwise all would wait for responses that come too late.
 */
import { OVERLOAD, type RequestClass } from '../../spec/overload.ts';

const BUCKETS = 10;
const BUCKET_MS = OVERLOAD.windowMs / BUCKETS;
const LAG_INTERVAL_MS = 50;

export interface LoadLimits {
  /** The mean time of a request above which new ones are refused. 0: no request is refused. */
  readonly targetMs: number;
  /** Requests in progress. */
  readonly requestsMax: number;
}

/** Counts completions of the last second. */
class Rate {
  readonly #buckets = new Array<number>(BUCKETS).fill(0);
  #last = 0;
  #sum = 0;

  add(nowMs: number): void {
    this.#expire(nowMs);
    this.#buckets[this.#last % BUCKETS] = (this.#buckets[this.#last % BUCKETS] ?? 0) + 1;
    this.#sum += 1;
  }

  perMs(nowMs: number): number {
    this.#expire(nowMs);
    return this.#sum / OVERLOAD.windowMs;
  }

  #expire(nowMs: number): void {
    const bucket = Math.floor(nowMs / BUCKET_MS);
    for (let n = 0; n < BUCKETS && this.#last < bucket; n++) {
      this.#last = Math.max(this.#last + 1, bucket - BUCKETS + 1);
      this.#sum -= this.#buckets[this.#last % BUCKETS] ?? 0;
      this.#buckets[this.#last % BUCKETS] = 0;
    }
    this.#last = Math.max(this.#last, bucket);
  }
}

/** The requests of some classes: how many are in progress, how fast they complete. */
class Load {
  inProgress = 0;
  readonly rate = new Rate();
  #overSinceMs: number | null = null;
  #lastOverMs = Number.NEGATIVE_INFINITY;

  /** Whether one more fits, or is part of a burst. */
  admits(limit: number, burstMs: number, nowMs: number): boolean {
    if (nowMs - this.#lastOverMs > OVERLOAD.calmMs) this.#overSinceMs = null;
    if (this.inProgress < limit) return true;
    this.#lastOverMs = nowMs;
    this.#overSinceMs ??= nowMs;
    return nowMs - this.#overSinceMs < burstMs;
  }
}

/** An admitted request. */
export interface Ticket {
  /** It waits for something else than this process, or works again. */
  setWaiting(isWaiting: boolean): void;
  complete(): void;
}

export class LoadGate {
  readonly #limits: LoadLimits;
  readonly #now: () => number;
  readonly #lagMs: () => number;
  readonly #all = new Load();
  readonly #first = new Load();

  constructor(
    limits: LoadLimits,
    { now = () => performance.now(), lagMs = () => 0 }: { now?: () => number; lagMs?: () => number } = {},
  ) {
    this.#limits = limits;
    this.#now = now;
    this.#lagMs = lagMs;
  }

  get inProgress(): number {
    return this.#all.inProgress;
  }

  admits(kind: RequestClass): boolean {
    if (kind === 'always' || this.#limits.targetMs === 0) return true;
    const now = this.#now();
    const load = kind === 'first' ? this.#first : this.#all;
    if (load.inProgress >= this.#limits.requestsMax) return false;
    const isLate = this.#lagMs() > OVERLOAD.lateMs;
    const least = isLate ? OVERLOAD.admittedMinWhenLate : OVERLOAD.admittedMin;
    const limit = Math.max(least, load.rate.perMs(now) * this.#limits.targetMs);
    return load.admits(limit, OVERLOAD.burstMs[kind], now);
  }

  /** Counts a request as in progress until it is complete. */
  begin(kind: RequestClass): Ticket {
    const loads = kind === 'first' ? [this.#all, this.#first] : [this.#all];
    let isWorking = false;
    const setWorking = (isNow: boolean) => {
      if (isNow === isWorking) return;
      isWorking = isNow;
      for (const load of loads) load.inProgress += isNow ? 1 : -1;
    };
    setWorking(true);
    return {
      setWaiting: (isWaiting) => setWorking(!isWaiting),
      complete: () => {
        setWorking(false);
        for (const load of loads) load.rate.add(this.#now());
      },
    };
  }
}

/** Measures how late the event loop is, until `stop`. */
export function measureLag(): { readonly lagMs: () => number; stop(): void } {
  let lastMs = performance.now();
  let recentMs = 0;
  const late = () => performance.now() - lastMs - LAG_INTERVAL_MS;
  const timer = setInterval(() => {
    recentMs = Math.max(late(), recentMs / 2);
    lastMs = performance.now();
  }, LAG_INTERVAL_MS).unref();
  return { lagMs: () => Math.max(recentMs, late()), stop: () => clearInterval(timer) };
}
