/**
 * Reads the next events of many streams: one statement for those that wait, so that an event of a thousand
 * customers does not take a thousand statements. Streams at the same position share what is read.
 */
import { type NumberedEventRow, readNumberedEvents } from '../../store/events/events.ts';
import type { Service } from '../context.ts';

/** Concurrent statements, so that streams do not exhaust the connection pool. */
const CONCURRENCY = 2;
/** Positions in one statement. Each has its own bound on bytes. */
const POSITIONS_MAX = 50;

interface PendingRead {
  readonly customerId: string;
  readonly after: bigint;
  readonly resolve: (rows: readonly NumberedEventRow[]) => void;
  readonly reject: (error: unknown) => void;
}

export class EventReads {
  readonly #db: Service['db'];
  readonly #waiting: PendingRead[] = [];
  readonly #byPosition = new Map<string, Promise<readonly NumberedEventRow[]>>();
  #running = 0;

  constructor(db: Service['db']) {
    this.#db = db;
  }

  /** Returns the next batch of this customer's events. */
  async read(customerId: string, after: bigint): Promise<readonly NumberedEventRow[]> {
    const key = `${customerId} ${after}`;
    const other = this.#byPosition.get(key);
    if (other) return await other;
    const reading = new Promise<readonly NumberedEventRow[]>((resolve, reject) => {
      this.#waiting.push({ customerId, after, resolve, reject });
    }).finally(() => this.#byPosition.delete(key));
    this.#byPosition.set(key, reading);
    // All streams that one poll woke ask before the first statement begins.
    setImmediate(() => void this.#run());
    return await reading;
  }

  async #run(): Promise<void> {
    if (this.#running >= CONCURRENCY) return;
    this.#running += 1;
    for (let batch = this.#next(); batch.length > 0; batch = this.#next()) await this.#readBatch(batch);
    this.#running -= 1;
  }

  #next(): readonly PendingRead[] {
    return this.#waiting.splice(0, POSITIONS_MAX);
  }

  async #readBatch(batch: readonly PendingRead[]): Promise<void> {
    try {
      const rows = await readNumberedEvents(this.#db, batch);
      batch.forEach(({ resolve }, index) => {
        resolve(rows.get(index) ?? []);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
