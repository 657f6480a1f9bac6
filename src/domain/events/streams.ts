/**
 * The event streams that are open in this process. Events are numbered after their commit, whole transactions at a time
 * and one holder of a customer's counter at a time, so whoever sees a number sees all below it, and a stream is no more
 * than a place in a row of numbers: what was missed while it was closed and what happens while it is open are read
 * the same way, and nothing is buffered for a client that does not read.
 *
 * One statement at each look asks for all streams at once how far their customers' counters have come and whether
 * their tokens still live. A look comes when this process is woken and at the latest after the poll interval; polling
 * is the guarantee, since another process may do the numbering. Without a stream there is no look.
 */
import { fail, invalid } from '../../kernel/fail.ts';
import { Turns } from '../../kernel/turns.ts';
import { LIMITS } from '../../spec/limits.ts';
import {
  findEventEdges,
  type NumberedEventRow,
  readNumberedEvents,
  watchReaders,
} from '../../store/event-stream.ts';
import type { Service } from '../context.ts';
import { EventStream, type StreamReader } from './stream.ts';

const POLL_MS = 500;
/** Between two looks lie at least so long, and so many times what the one before took: many wakes cost no more than few. */
const REST_MIN_MS = 20;
const REST_PER_LOOK = 20;
/** Batches of events that are read at the same time, so that the pool is there for others. */
const READS_AT_ONCE = 2;
const RETRY_AFTER_S = 60;

/** Where a client wants to go on, and what it said so with. */
export interface StreamPlace {
  readonly field: 'after' | 'Last-Event-ID';
  readonly seq: number;
}

export class EventStreams {
  readonly #service: Service;
  readonly #streams = new Set<EventStream>();
  /** Streams by customer, those that are being opened included. */
  readonly #places = new Map<string, number>();
  #taken = 0;
  readonly #reads = new Map<string, Promise<readonly NumberedEventRow[]>>();
  readonly #turns = new Turns();
  #turn = 0;
  #watching: Promise<void> | null = null;
  #woken = false;
  #rise: () => void = () => undefined;
  #away = false;
  #closed = false;

  constructor(service: Service) {
    this.#service = service;
  }

  /**
   * Opens a stream after this place, or from now on. Refuses a place that does not exist or is no longer kept by its
   * field with 400, and one stream too many with `conflict_state`. Whoever opens it ends it.
   */
  async open(reader: StreamReader, place: StreamPlace | null): Promise<EventStream> {
    const { customerId } = reader;
    this.#takePlace(customerId);
    try {
      const asked = place === null ? null : BigInt(place.seq);
      const edges = await findEventEdges(this.#service.db, customerId, asked ?? 0n);
      if (place !== null) requireKept(place, edges.last_seq, edges.next_seq);
      const after = asked ?? edges.last_seq;
      const read = (id: string, seq: bigint) => this.#read(id, seq);
      const ended = () => {
        this.#streams.delete(stream);
        this.#freePlace(customerId);
      };
      const stream = new EventStream({ reader, after, last: edges.last_seq, read, ended });
      this.#streams.add(stream);
      if (this.#closed) stream.end('stopping');
      this.#watching ??= this.#watch();
      return stream;
    } catch (error) {
      this.#freePlace(customerId);
      throw error;
    }
  }

  /** Something may have happened: there is a look soon. */
  wake(): void {
    this.#woken = true;
    this.#rise();
  }

  /** Ends all streams and lets none be opened any more. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const stream of this.#streams) stream.end('stopping');
    this.wake();
    await this.#watching;
  }

  #takePlace(customerId: string): void {
    const { eventStreamsPerCustomer: mostOfOne, eventStreamsMax: mostOfAll } = LIMITS;
    const own = this.#places.get(customerId) ?? 0;
    if (own >= mostOfOne) {
      fail(
        'conflict_state',
        {},
        `You have ${mostOfOne} event streams open; close one, or wait until one that was lost is noticed, and try again.`,
      );
    }
    if (this.#closed || this.#taken >= mostOfAll) {
      fail('maintenance', { retry_after_s: this.#closed ? 1 : RETRY_AFTER_S });
    }
    this.#places.set(customerId, own + 1);
    this.#taken += 1;
  }

  #freePlace(customerId: string): void {
    const left = (this.#places.get(customerId) ?? 1) - 1;
    if (left > 0) this.#places.set(customerId, left);
    else this.#places.delete(customerId);
    this.#taken -= 1;
  }

  /** Streams of one customer that stand at the same number share one reading. */
  async #read(customerId: string, after: bigint): Promise<readonly NumberedEventRow[]> {
    const key = `${customerId} ${after}`;
    const other = this.#reads.get(key);
    if (other) return await other;
    this.#turn = (this.#turn + 1) % READS_AT_ONCE;
    const reading = this.#turns
      .take(String(this.#turn), () => readNumberedEvents(this.#service.db, customerId, after))
      .finally(() => this.#reads.delete(key));
    this.#reads.set(key, reading);
    return await reading;
  }

  async #watch(): Promise<void> {
    while (this.#streams.size > 0) {
      const began = performance.now();
      this.#woken = false;
      await this.#look();
      const tookMs = performance.now() - began;
      const restMs = Math.min(Math.max(REST_MIN_MS, tookMs * REST_PER_LOOK), POLL_MS);
      await this.#sleep(restMs, () => this.#closed);
      await this.#sleep(POLL_MS - restMs, () => this.#woken);
    }
    this.#watching = null;
  }

  /** While the database is away nothing is numbered and nothing revoked either; the next look asks it again. */
  async #look(): Promise<void> {
    const streams = [...this.#streams];
    try {
      const news = await watchReaders(this.#service.db, knownOf(streams), this.#service.clock.now());
      const byToken = new Map(news.map((row) => [row.token_id, row]));
      for (const stream of streams) {
        const row = byToken.get(stream.reader.tokenId);
        if (row?.lives === false) stream.end('revoked');
        else if (row) stream.reach(row.last_seq);
      }
      this.#away = false;
    } catch (error) {
      if (!this.#away) this.#service.log.warn({ err: error }, 'open event streams cannot be looked at');
      this.#away = true;
    }
  }

  /** Until the time is over or, when it is risen, `enough` says so. */
  async #sleep(ms: number, enough: () => boolean): Promise<void> {
    if (ms <= 0 || enough()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#rise = () => {
        if (!enough()) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The last number that is known to all streams of a token. */
function knownOf(streams: readonly EventStream[]): ReadonlyMap<string, bigint> {
  const known = new Map<string, bigint>();
  for (const { reader, last } of streams) {
    const other = known.get(reader.tokenId);
    if (other === undefined || last < other) known.set(reader.tokenId, last);
  }
  return known;
}

/** The place where what follows is neither lost nor still to come. */
function requireKept({ field, seq }: StreamPlace, last: bigint, next: bigint | null): void {
  if (BigInt(seq) > last) {
    invalid(
      [{ field, issue: 'max', max: Number(last) }],
      `The last event has the number ${last}; go on after ${last} at most, or leave it out to begin now.`,
    );
  }
  const oldest = (next ?? last + 1n) - 1n;
  if (BigInt(seq) < oldest) {
    invalid(
      [{ field, issue: 'min', min: Number(oldest) }],
      `Events up to ${oldest} are no longer kept: read again what they were about, and go on after ${oldest}.`,
    );
  }
}
