/**
 * The open event streams of this process. Events are numbered after their commit, in whole transactions and
 * under the lock of the customer's counter. A reader that sees a number sees all lower ones, so a stream is
 * just a position in a sequence. Events missed while a stream was closed and new ones are read the same
 * way, and nothing is buffered for slow clients.
 *
 * Every poll (poll.ts) asks, for all streams, for the customers' latest numbers and whether the tokens and
 * sessions still exist.
 * A poll runs when this process is woken, and at least once per interval, because another
 * process may have numbered the events. Without streams there are no polls.
 */
import { fail, invalidRequest } from '../../kernel/fail.ts';
import { LIMITS } from '../../spec/limits.ts';
import { findEventBounds } from '../../store/events/events.ts';
import type { Service } from '../context.ts';
import { pollStreams } from './poll.ts';
import { EventReads } from './reads.ts';
import { EventStream, type StreamReader } from './stream.ts';

const POLL_MS = 500;
/**
 * The pause between polls: at least this, and a multiple of the last poll's duration, so that frequent
 * wakes cost little.
 */
const PAUSE_MIN_MS = 20;
const PAUSE_PER_POLL = 20;
const RETRY_AFTER_S = 60;

/** The position where a client wants to resume, and the field that named it. */
export interface StreamCursor {
  readonly field: 'after' | 'Last-Event-ID';
  readonly seq: number;
}

export class EventStreams {
  readonly #service: Service;
  readonly #streams = new Set<EventStream>();
  /** Streams per customer, including those being opened. Those of sessions are counted apart. */
  readonly #openByCustomer = new Map<string, number>();
  #openTotal = 0;
  readonly #reads: EventReads;
  #pollLoop: Promise<void> | null = null;
  #woken = false;
  #interrupt: () => void = () => undefined;
  #unavailable = false;
  #closed = false;

  constructor(service: Service) {
    this.#service = service;
    this.#reads = new EventReads(service.db);
  }

  /**
   * Opens a stream after this position, or from now on. Fails with 400 for a position that does not exist
   * or is no longer retained, and with `conflict_state` above the limit. The caller must end the stream.
   */
  async open(reader: StreamReader, cursor: StreamCursor | null): Promise<EventStream> {
    const { customerId } = reader;
    const slot = reader.sessionId === null ? customerId : `${customerId} panel`;
    this.#reserveSlot(slot, reader.sessionId !== null);
    try {
      const requestedSeq = cursor === null ? null : BigInt(cursor.seq);
      const bounds = await findEventBounds(this.#service.db, customerId, requestedSeq ?? 0n);
      if (cursor !== null) requireRetained(cursor, bounds.last_seq, bounds.next_seq);
      const after = requestedSeq ?? bounds.last_seq;
      const read = (id: string, seq: bigint) => this.#reads.read(id, seq);
      const onEnd = () => {
        this.#streams.delete(stream);
        this.#releaseSlot(slot);
      };
      const stream = new EventStream({ reader, after, last: bounds.last_seq, read, onEnd });
      this.#streams.add(stream);
      if (this.#closed) stream.end('stopping');
      this.#pollLoop ??= this.#runPollLoop();
      return stream;
    } catch (error) {
      this.#releaseSlot(slot);
      throw error;
    }
  }

  /** Polls soon, because there may be new events. */
  wake(): void {
    this.#woken = true;
    this.#interrupt();
  }

  /** Ends all streams and rejects new ones. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const stream of this.#streams) stream.end('stopping');
    this.wake();
    await this.#pollLoop;
  }

  #reserveSlot(slot: string, isPanel: boolean): void {
    const { eventStreamsMax: totalMax } = LIMITS;
    const perCustomerMax = isPanel ? LIMITS.liveStreamsPerCustomer : LIMITS.eventStreamsPerCustomer;
    const own = this.#openByCustomer.get(slot) ?? 0;
    if (own >= perCustomerMax) {
      fail(
        'conflict_state',
        {},
        `You have ${perCustomerMax} open event streams. Close one, or wait until a lost one times out, ` +
          'and try again.',
      );
    }
    if (this.#closed || this.#openTotal >= totalMax) {
      fail('maintenance', { retry_after_s: this.#closed ? 1 : RETRY_AFTER_S });
    }
    this.#openByCustomer.set(slot, own + 1);
    this.#openTotal += 1;
  }

  #releaseSlot(slot: string): void {
    const left = (this.#openByCustomer.get(slot) ?? 1) - 1;
    if (left > 0) this.#openByCustomer.set(slot, left);
    else this.#openByCustomer.delete(slot);
    this.#openTotal -= 1;
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

  /** While the database is unavailable, nothing is numbered or revoked either. The next poll retries. */
  async #poll(): Promise<void> {
    try {
      await pollStreams(this.#service, [...this.#streams]);
      this.#unavailable = false;
    } catch (error) {
      if (!this.#unavailable) this.#service.log.warn({ err: error }, 'polling the event streams failed');
      this.#unavailable = true;
    }
  }

  /** Sleeps for the time given, or until a wake finds `isDone` true. */
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

/** Fails unless the events after this position are neither lost nor in the future. */
function requireRetained({ field, seq }: StreamCursor, last: bigint, next: bigint | null): void {
  if (BigInt(seq) > last) {
    invalidRequest(
      [{ field, issue: 'max', max: Number(last) }],
      `The latest event has the number ${last}. Resume after ${last} or lower, or omit the position to ` +
        'start now.',
    );
  }
  const oldest = (next ?? last + 1n) - 1n;
  if (BigInt(seq) < oldest) {
    invalidRequest(
      [{ field, issue: 'min', min: Number(oldest) }],
      `Events up to ${oldest} are no longer retained. Read the current objects, then resume after ${oldest}.`,
    );
  }
}
