/**
 * Counts attempts per hour in named buckets: a flood of guesses must not get through, and must not shut out
 * honest people. A name may contain an address, so only its keyed hash is kept, and never an address.
 * One process keeps the buckets in memory, under a key that is lost with it. Several share them in unlogged
 * rows. Their key takes both the service key and a random key of the day, which is an unlogged row, too: a
 * backup has neither, and the next day deletes it.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../kernel/time.ts';
import {
  drawAttempts,
  findOrInsertAttemptKey,
  latestFullAt,
  refundAttempts,
} from '../../store/customers/attempts.ts';
import { readDatabaseTime } from '../../store/service/service.ts';
import type { Service } from '../context.ts';

export interface AttemptBucket {
  /** The kind of attempt, and who makes it. */
  readonly name: string;
  /** Above 0. */
  readonly perHour: number;
}

export interface AttemptCounter {
  /**
   * Counts one attempt in every bucket and returns 0. If one of them is empty, counts nothing and returns the
   * seconds to wait.
   */
  consume(buckets: readonly AttemptBucket[]): Promise<number>;
  /** Takes back an attempt that turned out not to count. */
  refund(buckets: readonly AttemptBucket[]): Promise<void>;
}

const BUCKETS_MAX = 100_000;

const costMs = ({ perHour }: AttemptBucket): number => HOUR_MS / perHour;

/** In the memory of this process. */
export class MemoryAttempts implements AttemptCounter {
  readonly #now: () => number;
  readonly #key = randomBytes(32);
  /** The time at which each bucket is full, in ms. Least recently used first. */
  readonly #fullAtMs = new BoundedMap<string, number>(BUCKETS_MAX);

  /** `now` is any timer, in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  async consume(buckets: readonly AttemptBucket[]): Promise<number> {
    return this.consumeNow(buckets);
  }

  /** The same in one step, for callers that cannot wait. */
  consumeNow(buckets: readonly AttemptBucket[]): number {
    const now = this.#now();
    const next = buckets.map((bucket) => {
      const name = this.#hash(bucket);
      return { bucket, name, fullAtMs: Math.max(this.#fullAtMs.get(name) ?? 0, now) + costMs(bucket) };
    });
    // Half an attempt of tolerance: rounding may push the last one slightly over the hour.
    const waits = next
      .map(({ bucket, fullAtMs }) => ({ waitMs: fullAtMs - now - HOUR_MS, toleranceMs: costMs(bucket) / 2 }))
      .flatMap(({ waitMs, toleranceMs }) => (waitMs > toleranceMs ? waitMs : []));
    if (waits.length > 0) return Math.ceil(Math.max(...waits) / SECOND_MS);
    for (const { name, fullAtMs } of next) {
      // Deleted first, so that the bucket becomes the newest.
      this.#fullAtMs.delete(name);
      this.#fullAtMs.set(name, fullAtMs);
    }
    return 0;
  }

  async refund(buckets: readonly AttemptBucket[]): Promise<void> {
    for (const bucket of buckets) {
      const name = this.#hash(bucket);
      const fullAtMs = this.#fullAtMs.get(name);
      if (fullAtMs !== undefined) this.#fullAtMs.set(name, fullAtMs - costMs(bucket));
    }
  }

  #hash({ name }: AttemptBucket): string {
    return createHmac('sha256', this.#key).update(name).digest('base64');
  }
}

/** In the database, for all processes. */
export class SharedAttempts implements AttemptCounter {
  readonly #service: Pick<Service, 'db' | 'keys'>;
  readonly #now: () => Promise<Date>;

  /** `now` is real time: by default that of the database, because machines may differ. */
  constructor(service: Pick<Service, 'db' | 'keys'>, now = async () => await readDatabaseTime(service.db)) {
    this.#service = service;
    this.#now = now;
  }

  async consume(buckets: readonly AttemptBucket[]): Promise<number> {
    if (buckets.length === 0) return 0;
    const { db } = this.#service;
    const now = await this.#now();
    const rows = await this.#rows(buckets, now);
    const drawn = new Set((await drawAttempts(db, rows, now)).map((name) => name.toString('hex')));
    if (drawn.size === rows.length) return 0;
    const granted = rows.filter(({ name }) => drawn.has(name.toString('hex')));
    if (granted.length > 0) await refundAttempts(db, granted);
    const empty = rows.filter((row) => !granted.includes(row));
    const fullAt = await latestFullAt(
      db,
      empty.map(({ name }) => name),
    );
    const cost = Math.max(...empty.map((row) => row.cost_ms));
    const waitMs = (fullAt?.getTime() ?? now.getTime()) + cost - now.getTime() - HOUR_MS;
    return Math.max(Math.ceil(waitMs / SECOND_MS), 1);
  }

  async refund(buckets: readonly AttemptBucket[]): Promise<void> {
    if (buckets.length > 0)
      await refundAttempts(this.#service.db, await this.#rows(buckets, await this.#now()));
  }

  async #rows(buckets: readonly AttemptBucket[], now: Date) {
    const key = await this.#readKey(now);
    return buckets.map((bucket) => ({
      name: createHmac('sha256', key).update(bucket.name).digest(),
      cost_ms: costMs(bucket),
    }));
  }

  /** Reads it every time: a database that has crashed has a new one. */
  async #readKey(now: Date): Promise<Buffer> {
    const { db, keys } = this.#service;
    const endsAt = new Date((Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS);
    return keys.hmac('attempt buckets', await findOrInsertAttemptKey(db, endsAt, randomBytes(32)));
  }
}
