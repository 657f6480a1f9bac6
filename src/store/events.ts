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

/** What an event's envelope is made of. */
export interface EventContent {
  readonly happenedMs: number;
  /** `data` as JSON text. */
  readonly data: string;
}

/** Those of the events that are still kept, by id. */
export async function readEventContents(
  sql: Sql,
  ids: readonly string[],
): Promise<Map<string, EventContent>> {
  // A number costs less than a date, which would be written as text, read again, and written once more.
  const rows = await sql.rows<{ id: string; happened_ms: number; data: string }>(
    `select id, (extract(epoch from created_at) * 1000)::float8 as happened_ms, data::text as data
       from events where id = any($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, { happenedMs: row.happened_ms, data: row.data }]));
}
