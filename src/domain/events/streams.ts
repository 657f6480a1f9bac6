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
import { fail, invalidRequest } from '../../kernel/fail.ts';
import { KeyedMutex } from '../../kernel/keyed-mutex.ts';
import { LIMITS } from '../../spec/limits.ts';
import {
  findEventBounds,
  type NumberedEventRow,
  pollReaders,
  readNumberedEvents,
} from '../../store/event-stream.ts';
import type { Service } from '../context.ts';
import { EventStream, type StreamReader } from './stream.ts';

const POLL_MS = 500;
/** Between two looks lie at least so long, and so many times what the one before took: many wakes cost no more than few. */
const PAUSE_MIN_MS = 20;
const PAUSE_PER_POLL = 20;
/** Batches of events that are read at the same time, so that the pool is there for others. */
const READ_CONCURRENCY = 2;
const RETRY_AFTER_S = 60;

/** Where a client wants to go on, and what it said so with. */
export interface StreamCursor {
  readonly field: 'after' | 'Last-Event-ID';
  readonly seq: number;
}

export class EventStreams {
  readonly #service: Service;
  readonly #streams = new Set<EventStream>();
  /** Streams by customer, those that are being opened included. */
  readonly #openByCustomer = new Map<string, number>();
  #openTotal = 0;
  readonly #pendingReads = new Map<string, Promise<readonly NumberedEventRow[]>>();
  readonly #readSlots = new KeyedMutex();
  #nextSlot = 0;
  #pollLoop: Promise<void> | null = null;
  #woken = false;
  #interrupt: () => void = () => undefined;
  #unavailable = false;
  #closed = false;

  constructor(service: Service) {
    this.#service = service;
  }

  /**
   * Opens a stream after this place, or from now on. Refuses a place that does not exist or is no longer kept by its
   * field with 400, and one stream too many with `conflict_state`. Whoever opens it ends it.
   */
  async open(reader: StreamReader, place: StreamCursor | null): Promise<EventStream> {
    const { customerId } = reader;
    this.#reserveSlot(customerId);
    try {
      const requestedSeq = place === null ? null : BigInt(place.seq);
      const edges = await findEventBounds(this.#service.db, customerId, requestedSeq ?? 0n);
      if (place !== null) requireRetained(place, edges.last_seq, edges.next_seq);
      const after = requestedSeq ?? edges.last_seq;
      const read = (id: string, seq: bigint) => this.#read(id, seq);
      const onEnd = () => {
        this.#streams.delete(stream);
        this.#releaseSlot(customerId);
      };
      const stream = new EventStream({ reader, after, last: edges.last_seq, read, onEnd });
      this.#streams.add(stream);
      if (this.#closed) stream.end('stopping');
      this.#pollLoop ??= this.#runPollLoop();
      return stream;
    } catch (error) {
      this.#releaseSlot(customerId);
      throw error;
    }
  }

  /** Something may have happened: there is a look soon. */
  wake(): void {
    this.#woken = true;
    this.#interrupt();
  }

  /** Ends all streams and lets none be opened any more. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const stream of this.#streams) stream.end('stopping');
    this.wake();
    await this.#pollLoop;
  }

  #reserveSlot(customerId: string): void {
    const { eventStreamsPerCustomer: perCustomerMax, eventStreamsMax: totalMax } = LIMITS;
    const own = this.#openByCustomer.get(customerId) ?? 0;
    if (own >= perCustomerMax) {
      fail(
        'conflict_state',
        {},
        `You have ${perCustomerMax} event streams open; close one, or wait until one that was lost is noticed, and try again.`,
      );
    }
    if (this.#closed || this.#openTotal >= totalMax) {
      fail('maintenance', { retry_after_s: this.#closed ? 1 : RETRY_AFTER_S });
    }
    this.#openByCustomer.set(customerId, own + 1);
    this.#openTotal += 1;
  }

  #releaseSlot(customerId: string): void {
    const left = (this.#openByCustomer.get(customerId) ?? 1) - 1;
    if (left > 0) this.#openByCustomer.set(customerId, left);
    else this.#openByCustomer.delete(customerId);
    this.#openTotal -= 1;
  }

  /** Streams of one customer that stand at the same number share one reading. */
  async #read(customerId: string, after: bigint): Promise<readonly NumberedEventRow[]> {
    const key = `${customerId} ${after}`;
    const other = this.#pendingReads.get(key);
    if (other) return await other;
    this.#nextSlot = (this.#nextSlot + 1) % READ_CONCURRENCY;
    const reading = this.#readSlots
      .runExclusive(String(this.#nextSlot), () => readNumberedEvents(this.#service.db, customerId, after))
      .finally(() => this.#pendingReads.delete(key));
    this.#pendingReads.set(key, reading);
    return await reading;
  }

  async #runPollLoop(): Promise<void> {
    while (this.#streams.size > 0) {
      const startedAt = performance.now();
      this.#woken = false;
      await this.#poll();
      const tookMs = performance.now() - startedAt;
      const restMs = Math.min(Math.max(PAUSE_MIN_MS, tookMs * PAUSE_PER_POLL), POLL_MS);
      await this.#sleep(restMs, () => this.#closed);
      await this.#sleep(POLL_MS - restMs, () => this.#woken);
    }
    this.#pollLoop = null;
  }

  /** While the database is away nothing is numbered and nothing revoked either; the next look asks it again. */
  async #poll(): Promise<void> {
    const streams = [...this.#streams];
    try {
      const readers = await pollReaders(this.#service.db, lastSeqByToken(streams), this.#service.clock.now());
      const byToken = new Map(readers.map((row) => [row.token_id, row]));
      for (const stream of streams) {
        const row = byToken.get(stream.reader.tokenId);
        if (row?.lives === false) stream.end('revoked');
        else if (row) stream.advanceTo(row.last_seq);
      }
      this.#unavailable = false;
    } catch (error) {
      if (!this.#unavailable)
        this.#service.log.warn({ err: error }, 'open event streams cannot be looked at');
      this.#unavailable = true;
    }
  }

  /** Until the time is over or, when it is risen, `enough` says so. */
  async #sleep(ms: number, isDone: () => boolean): Promise<void> {
    if (ms <= 0 || isDone()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#interrupt = () => {
        if (!isDone()) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The last number that is known to all streams of a token. */
function lastSeqByToken(streams: readonly EventStream[]): ReadonlyMap<string, bigint> {
  const known = new Map<string, bigint>();
  for (const { reader, last } of streams) {
    const other = known.get(reader.tokenId);
    if (other === undefined || last < other) known.set(reader.tokenId, last);
  }
  return known;
}

/** The place where what follows is neither lost nor still to come. */
function requireRetained({ field, seq }: StreamCursor, last: bigint, next: bigint | null): void {
  if (BigInt(seq) > last) {
    invalidRequest(
      [{ field, issue: 'max', max: Number(last) }],
      `The last event has the number ${last}; go on after ${last} at most, or leave it out to begin now.`,
    );
  }
  const oldest = (next ?? last + 1n) - 1n;
  if (BigInt(seq) < oldest) {
    invalidRequest(
      [{ field, issue: 'min', min: Number(oldest) }],
      `Events up to ${oldest} are no longer kept: read again what they were about, and go on after ${oldest}.`,
    );
  }
}
