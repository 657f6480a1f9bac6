/** What the event stream reads: numbered events of one customer, and how far the counters of many have come. */
import type { Sql } from '../kernel/sql.ts';

/** One answer holds at most so many events, and ends with the one that brings their data over so many bytes. */
const BATCH_MAX_EVENTS = 64;
const BATCH_BYTES = 64 * 1024;

export interface NumberedEventRow {
  readonly id: string;
  readonly seq: bigint;
  readonly type: string;
  readonly data: object;
  readonly created_at: Date;
}

/** Those with the next numbers after `after`, in order; none: there are no more yet, or the next one is not kept. */
export async function readNumberedEvents(
  sql: Sql,
  customerId: string,
  after: bigint,
): Promise<NumberedEventRow[]> {
  return await sql.rows<NumberedEventRow>(
    `select id, seq, type, data, created_at from (
       select next.*, sum(bytes) over (order by seq) - bytes as bytes_before from (
         select id, seq, type, data, created_at, octet_length(data::text) as bytes
           from events where customer_id = $1 and seq > $2 order by seq limit ${BATCH_MAX_EVENTS}) next) measured
      where bytes_before < ${BATCH_BYTES} order by seq`,
    [customerId, after],
  );
}

export interface EventBoundsRow {
  /** 0: the customer has had no event. */
  readonly last_seq: bigint;
  /** The first kept one after the number that was asked about; null: none. */
  readonly next_seq: bigint | null;
}

export async function findEventBounds(sql: Sql, customerId: string, after: bigint): Promise<EventBoundsRow> {
  const row = await sql.row<EventBoundsRow>(
    `select coalesce((select last_seq from event_counters where customer_id = $1), 0) as last_seq,
            (select min(seq) from events where customer_id = $1 and seq > $2) as next_seq`,
    [customerId, after],
  );
  if (!row) throw new Error('a select without a table came back without a row');
  return row;
}

export interface ReaderRow {
  readonly token_id: string;
  /** Not revoked, not expired, and its customer is there. */
  readonly lives: boolean;
  /** Of the token's customer. */
  readonly last_seq: bigint;
}

/**
 * How far the customers of these tokens have come, with the number that is known of each: only those that have come further,
 * and those that have come to their end.
 */
export async function pollReaders(
  sql: Sql,
  known: ReadonlyMap<string, bigint>,
  now: Date,
): Promise<ReaderRow[]> {
  return await sql.rows<ReaderRow>(
    `select k.token_id, t.id is not null as lives, coalesce(e.last_seq, 0) as last_seq
       from unnest($1::uuid[], $2::bigint[]) as k (token_id, last_seq)
       left join (api_tokens t join customers c on c.id = t.customer_id and c.deleting_at is null)
         on t.id = k.token_id and (t.expires_at is null or t.expires_at > $3)
       left join event_counters e on e.customer_id = t.customer_id
      where t.id is null or e.last_seq > k.last_seq`,
    [[...known.keys()], [...known.values()], now],
  );
}
