/** One open event stream: where it stands, and what comes next. Whether there is more it is told by streams.ts. */
import { showId } from '../../kernel/ids.ts';
import { rfc3339 } from '../../kernel/time.ts';
import { scopeOfEvent } from '../../spec/events.ts';
import type { Event } from '../../spec/schemas/event.ts';
import { type Scope, scopeCovers } from '../../spec/scopes.ts';
import type { NumberedEventRow } from '../../store/event-stream.ts';

/** Why a stream is over. */
export type StreamEnd =
  /** Its client went away. */
  | 'left'
  /** Its token was revoked or has expired, or its customer is gone. */
  | 'revoked'
  /** What comes next is no longer kept: the client was slower than events grow old. */
  | 'behind'
  /** The service stops. */
  | 'stopping';

export interface StreamReader {
  /** Stored ids. */
  readonly customerId: string;
  readonly tokenId: string;
  readonly scope: Scope;
}

export interface StreamStart {
  readonly reader: StreamReader;
  /** The number after which it begins, and the last one there is. */
  readonly after: bigint;
  readonly last: bigint;
  readonly read: (customerId: string, after: bigint) => Promise<readonly NumberedEventRow[]>;
  /** Called once, when it is over. */
  readonly ended: () => void;
}

export class EventStream {
  readonly reader: StreamReader;
  readonly #read: StreamStart['read'];
  readonly #ended: () => void;
  #position: bigint;
  #last: bigint;
  #over: StreamEnd | null = null;
  #rise: () => void = () => undefined;

  constructor({ reader, after, last, read, ended }: StreamStart) {
    this.reader = reader;
    this.#read = read;
    this.#ended = ended;
    this.#position = after;
    this.#last = last;
  }

  /** Everything up to this number was given, or is not for this reader. */
  get position(): bigint {
    return this.#position;
  }

  /** The number of the last event that is known of. */
  get last(): bigint {
    return this.#last;
  }

  get over(): StreamEnd | null {
    return this.#over;
  }

  /** The events after those that were given, in order and as many as one reading brings; none when none comes in time; null: it is over. */
  async next(withinMs: number): Promise<readonly Event[] | null> {
    const until = performance.now() + withinMs;
    while (this.#over === null) {
      const leftMs = until - performance.now();
      if (this.#position < this.#last) {
        const events = await this.#take();
        if (events.length > 0 && this.#over === null) return events;
      } else if (leftMs > 0) {
        await this.#sleep(leftMs);
      } else {
        return [];
      }
    }
    return null;
  }

  /** There are events up to this number. */
  reach(last: bigint): void {
    if (last <= this.#last) return;
    this.#last = last;
    this.#rise();
  }

  /** Again: nothing. */
  end(why: StreamEnd): void {
    if (this.#over !== null) return;
    this.#over = why;
    this.#rise();
    this.#ended();
  }

  async #take(): Promise<Event[]> {
    const rows = await this.#read(this.reader.customerId, this.#position);
    // Numbers have no gaps: where one is missing, it was there and is no longer kept.
    const whole = rows.length > 0 && rows.every((row, n) => row.seq === this.#position + BigInt(n + 1));
    if (!whole) {
      this.end('behind');
      return [];
    }
    this.#position += BigInt(rows.length);
    return rows.filter((row) => scopeCovers(this.reader.scope, scopeOfEvent(row.type))).map(message);
  }

  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#rise = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function message(row: NumberedEventRow): Event {
  return {
    id: showId('event', row.id),
    object: 'event',
    type: row.type as Event['type'],
    created_at: rfc3339(row.created_at),
    data: row.data,
    seq: Number(row.seq),
  };
}
