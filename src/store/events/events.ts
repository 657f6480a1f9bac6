/** Events: written with the change that they report, read for deliveries and for the event stream. */
import type { Sql } from '../../kernel/sql.ts';

export interface EventRow {
  readonly id: string;
  readonly customerId: string;
  readonly type: string;
  readonly data: object;
  readonly createdAt: Date;
}

export async function insertEvent(tx: Sql, row: EventRow): Promise<void> {
  await tx.run(
    `insert into events (id, customer_id, type, data, created_at)
     values ($id, $customerId, $type, $data, $createdAt)`,
    row,
  );
}

/** The parts of an event's envelope. */
export interface EventContent {
  readonly happenedMs: number;
  /** `data` as JSON text. */
  readonly data: string;
}

/** Returns the contents of the events that still exist, by id. */
export async function readEventContents(
  sql: Sql,
  ids: readonly string[],
): Promise<Map<string, EventContent>> {
  // A number is cheaper than a Date, which would be formatted, parsed and formatted again.
  const rows = await sql.rows<{ id: string; happened_ms: number; data: string }>(
    `select id, (extract(epoch from created_at) * 1000)::float8 as happened_ms, data::text as data
       from events where id = any($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, { happenedMs: row.happened_ms, data: row.data }]));
}

// ---- the event stream: numbered events of one customer, and the progress of many customers' counters

/** Bounds one batch: this many events, ending with the event whose data exceeds this many bytes in total. */
const BATCH_MAX_EVENTS = 64;
const BATCH_BYTES = 64 * 1024;

export interface NumberedEventRow {
  readonly id: string;
  readonly seq: bigint;
  readonly type: string;
  readonly data: object;
  readonly created_at: Date;
}

/** A position in one customer's sequence. */
export interface EventPosition {
  readonly customerId: string;
  readonly after: bigint;
}

/**
 * Reads the events after each of these positions, in order, by the index of the position. None: there are
 * none yet, or the next one was purged.
 */
export async function readNumberedEvents(
  sql: Sql,
  positions: readonly EventPosition[],
): Promise<Map<number, NumberedEventRow[]>> {
  const rows = await sql.rows<NumberedEventRow & { readonly position: number }>(
    `select k.position::int as position, batch.id, batch.seq, batch.type, batch.data, batch.created_at
       from unnest($1::uuid[], $2::bigint[]) with ordinality as k (customer_id, after, position)
      cross join lateral (
        select next.*, sum(bytes) over (order by seq) - bytes as bytes_before from (
          select id, seq, type, data, created_at, octet_length(data::text) as bytes
            from events
           where customer_id = k.customer_id and seq > k.after
           order by seq limit ${BATCH_MAX_EVENTS}) next) batch
      where bytes_before < ${BATCH_BYTES} order by k.position, batch.seq`,
    [positions.map(({ customerId }) => customerId), positions.map(({ after }) => after)],
  );
  const byPosition = new Map<number, NumberedEventRow[]>();
  for (const { position, ...row } of rows) {
    const batch = byPosition.get(position - 1);
    if (batch) batch.push(row);
    else byPosition.set(position - 1, [row]);
  }
  return byPosition;
}

export interface EventBoundsRow {
  /** 0: the customer has never had an event. */
  readonly last_seq: bigint;
  /** The first stored event after the given number; null: none. */
  readonly next_seq: bigint | null;
}

export async function findEventBounds(sql: Sql, customerId: string, after: bigint): Promise<EventBoundsRow> {
  const row = await sql.row<EventBoundsRow>(
    `select coalesce((select last_seq from event_counters where customer_id = $1), 0) as last_seq,
            (select min(seq) from events where customer_id = $1 and seq > $2) as next_seq`,
    [customerId, after],
  );
  if (!row) throw new Error('a select without a table did not return a row');
  return row;
}

export interface ReaderRow {
  readonly token_id: string;
  /** Not revoked, not expired, and its customer is not being deleted. */
  readonly lives: boolean;
  /** The last number of the token's customer. */
  readonly last_seq: bigint;
  readonly limits_version: number;
}

/** The state of a token that its readers know. */
export interface KnownToken {
  readonly last: bigint;
  readonly version: number;
}

/**
 * Reads the counters of these tokens' customers, given the known state of each. Returns only the customers
 * with newer events, and the tokens that are no longer valid or whose limits changed.
 */
export async function pollReaders(
  sql: Sql,
  known: ReadonlyMap<string, KnownToken>,
  now: Date,
): Promise<ReaderRow[]> {
  return await sql.rows<ReaderRow>(
    `select k.token_id, t.id is not null as lives, coalesce(e.last_seq, 0) as last_seq,
            coalesce(t.limits_version, k.version) as limits_version
       from unnest($1::uuid[], $2::bigint[], $4::int[]) as k (token_id, last_seq, version)
       left join (api_tokens t join customers c on c.id = t.customer_id and c.deleting_at is null)
         on t.id = k.token_id and (t.expires_at is null or t.expires_at > $3)
       left join event_counters e on e.customer_id = t.customer_id
      where t.id is null or e.last_seq > k.last_seq or t.limits_version <> k.version`,
    [
      [...known.keys()],
      [...known.values()].map(({ last }) => last),
      now,
      [...known.values()].map(({ version }) => version),
    ],
  );
}
