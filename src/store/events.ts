import type { Sql } from '../kernel/sql.ts';

export interface EventRow {
  readonly id: string;
  readonly customerId: string;
  readonly type: string;
  readonly data: object;
  readonly createdAt: Date;
}

export async function insertEvent(tx: Sql, row: EventRow): Promise<void> {
  await tx.run(`insert into events (id, customer_id, type, data, created_at) values ($1, $2, $3, $4, $5)`, [
    row.id,
    row.customerId,
    row.type,
    JSON.stringify(row.data),
    row.createdAt,
  ]);
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
