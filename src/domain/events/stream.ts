/** One open event stream: its position and the next events. streams.ts tells it about new ones. */
import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { eventScope, isOnRequest } from '../../spec/events.ts';
import type { Event } from '../../spec/schemas/event.ts';
import { type Scope, scopeCovers } from '../../spec/scopes.ts';
import { isEventInside } from '../../spec/token-limits.ts';
import type { NumberedEventRow } from '../../store/events/events.ts';
import type { ActiveLimits } from '../tokens/limits/active.ts';

/** The reason why a stream ended. */
export type StreamEndReason =
  /** The client disconnected. */
  | 'left'
  /** The token was revoked or expired, the session ended, or the customer was deleted. */
  | 'revoked'
  /** The limits of the token changed. */
  | 'limited'
  /** The next event is no longer retained: the client was too slow. */
  | 'behind'
  /** The service stops. */
  | 'stopping';

export interface StreamReader {
  /** Internal ids. */
  readonly customerId: string;
  /** The stream ends with its token, or with its session. Only that of a session tells what moves. */
  readonly tokenId: string | null;
  readonly sessionId: string | null;
  readonly scope: Scope;
  /** The types that the stream asked for; undefined: all that are not sent on request only. */
  readonly types?: ReadonlySet<string> | undefined;
  /** The stream of a limited token shows only what is inside. */
  readonly limits?: Pick<ActiveLimits, 'reach'> | undefined;
  readonly limitsVersion: number;
}

/** Work that moved without an event: an action, a payment by a confirmation, a webhook by a batch. */
export interface Move {
  readonly type: 'action.progress' | 'topup.progress' | 'webhook.progress';
  /** Public ids: the action's and its resources', the top-up's, or the webhook's. */
  readonly ids: readonly string[];
}

/** Something that moves, and how far it is: the mark differs whenever it moved. */
export interface Moving extends Move {
  readonly mark: number;
}

export interface StreamOptions {
  readonly reader: StreamReader;
  /** The number after which the stream starts, and the latest number. */
  readonly after: bigint;
  readonly last: bigint;
  readonly read: (customerId: string, after: bigint) => Promise<readonly NumberedEventRow[]>;
  /** Called once, at the end. */
  readonly onEnd: () => void;
}

export class EventStream {
  readonly reader: StreamReader;
  readonly #read: StreamOptions['read'];
  readonly #onEnd: () => void;
  #position: bigint;
  #last: bigint;
  #endReason: StreamEndReason | null = null;
  /** Moves that the client does not know yet, at most one for each thing that moves. */
  #moves = new Map<string, Move>();
  #moving: ReadonlyMap<string, Moving> = new Map();
  #interrupt: () => void = () => undefined;

  constructor({ reader, after, last, read, onEnd }: StreamOptions) {
    this.reader = reader;
    this.#read = read;
    this.#onEnd = onEnd;
    this.#position = after;
    this.#last = last;
  }

  /** Every event up to this number was delivered or is not for this reader. */
  get position(): bigint {
    return this.#position;
  }

  /** The latest known event number. */
  get last(): bigint {
    return this.#last;
  }

  get endReason(): StreamEndReason | null {
    return this.#endReason;
  }

  /**
   * Returns the next events in order, up to one batch; an empty list after the timeout, or when something
   * moved; null once the stream ended.
   */
  async next(timeoutMs: number): Promise<readonly Event[] | null> {
    const deadline = performance.now() + timeoutMs;
    while (this.#endReason === null) {
      const leftMs = deadline - performance.now();
      if (this.#position < this.#last) {
        const events = await this.#readBatch();
        if (events.length > 0 && this.#endReason === null) return events;
      } else if (this.#moves.size > 0) {
        return [];
      } else if (leftMs > 0) {
        await this.#sleep(leftMs);
      } else {
        return [];
      }
    }
    return null;
  }

  /** Announces events up to this number. */
  advanceTo(last: bigint): void {
    if (last <= this.#last) return;
    this.#last = last;
    this.#interrupt();
  }

  /** Announces what moves now, by id. What is new, or has another mark than before, has moved. */
  announceMoves(moving: ReadonlyMap<string, Moving>): void {
    const moved = [...moving].filter(([id, { mark }]) => this.#moving.get(id)?.mark !== mark);
    this.#moving = moving;
    for (const [id, { type, ids }] of moved) this.#moves.set(id, { type, ids });
    if (moved.length > 0) this.#interrupt();
  }

  /** Returns what moved since the last call. */
  takeMoves(): readonly Move[] {
    const moves = [...this.#moves.values()];
    this.#moves = new Map();
    return moves;
  }

  /** Ends the stream. A second call has no effect. */
  end(reason: StreamEndReason): void {
    if (this.#endReason !== null) return;
    this.#endReason = reason;
    this.#interrupt();
    this.#onEnd();
  }

  async #readBatch(): Promise<Event[]> {
    const rows = await this.#read(this.reader.customerId, this.#position);
    // Numbers have no gaps: a missing number is no longer retained.
    const isContiguous =
      rows.length > 0 && rows.every((row, n) => row.seq === this.#position + BigInt(n + 1));
    if (!isContiguous) {
      this.end('behind');
      return [];
    }
    this.#position += BigInt(rows.length);
    return rows.filter((row) => this.#isShown(row)).map(toEvent);
  }

  #isShown({ type, data }: NumberedEventRow): boolean {
    const { scope, types, limits } = this.reader;
    if (!scopeCovers(scope, eventScope(type))) return false;
    if (types ? !types.has(type) && !types.has('*') : isOnRequest(type)) return false;
    return !limits?.reach || isEventInside(limits.reach, data);
  }

  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#interrupt = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function toEvent(row: NumberedEventRow): Event {
  return {
    id: formatId('event', row.id),
    object: 'event',
    type: row.type as Event['type'],
    created_at: formatRfc3339(row.created_at),
    data: row.data,
    seq: Number(row.seq),
  };
}
