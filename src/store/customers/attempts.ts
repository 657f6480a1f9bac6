/**
 * Buckets of attempts for all processes, each stored as the time at which it is full again. An attempt moves
 * it one refill later, and fails if that is more than an hour ahead.
 */
import type { Sql } from '../../kernel/sql.ts';

export interface AttemptBucketRow {
  /** A keyed hash. */
  readonly name: Buffer;
  /** The time that one attempt takes to refill. */
  readonly cost_ms: number;
}

const COST = `(excluded.full_at - $now::timestamptz)`;
/** A later time than an empty bucket has is from before the database's clock was set back. */
const POSSIBLE = `b.full_at <= $now::timestamptz + interval '61 minutes' + ${COST}`;
const FULL_AT = `case when ${POSSIBLE} then greatest(b.full_at, $now::timestamptz)
                      else $now::timestamptz end`;
/** Adds one refill. Half of one is tolerated: rounding may push the last attempt over the hour. */
const NEXT = `${FULL_AT} + ${COST}`;
const LATEST = `$now::timestamptz + interval '1 hour' + ${COST} / 2`;

/** Draws from each bucket that has an attempt left. Returns the names of those. */
export async function drawAttempts(
  sql: Sql,
  rows: readonly AttemptBucketRow[],
  now: Date,
): Promise<Buffer[]> {
  const drawn = await sql.rows<{ name: Buffer }>(
    `insert into attempt_buckets as b (name, full_at)
     select name, $now::timestamptz + make_interval(secs => cost_ms / 1000)
       from unnest($rows.name::bytea[], $rows.cost_ms::float8[]) as u (name, cost_ms) order by name
     on conflict (name) do update set full_at = ${NEXT} where ${NEXT} <= ${LATEST}
     returning name`,
    { rows, now },
  );
  return drawn.map(({ name }) => name);
}

/** Gives an attempt back to each bucket. */
export async function refundAttempts(sql: Sql, rows: readonly AttemptBucketRow[]): Promise<void> {
  await sql.run(
    `with locked as materialized (
       select b.name, u.cost_ms
         from attempt_buckets b
         join unnest($rows.name::bytea[], $rows.cost_ms::float8[]) as u (name, cost_ms) on u.name = b.name
        order by b.name for update of b)
     update attempt_buckets b set full_at = b.full_at - make_interval(secs => l.cost_ms / 1000)
       from locked l where b.name = l.name`,
    { rows },
  );
}

/** Returns when the last of these buckets is full again; null if none is in use. */
export async function latestFullAt(sql: Sql, names: readonly Buffer[]): Promise<Date | null> {
  const row = await sql.row<{ full_at: Date | null }>(
    'select max(full_at) as full_at from attempt_buckets where name = any($1::bytea[])',
    [names],
  );
  return row?.full_at ?? null;
}

/**
 * Returns the random part of the key of the day that ends at `endsAt`: `candidate`, if no process has stored
 * another. A new one replaces those of earlier days.
 */
export async function findOrInsertAttemptKey(sql: Sql, endsAt: Date, candidate: Buffer): Promise<Buffer> {
  const stored = await sql.row<{ key: Buffer }>('select key from attempt_keys where ends_at = $1', [endsAt]);
  if (stored) return stored.key;
  // The update changes nothing, and returns the key of a process that was faster.
  const inserted = await sql.row<{ key: Buffer }>(
    `with ended as (delete from attempt_keys where ends_at < $1)
     insert into attempt_keys as k (ends_at, key) values ($1, $2)
     on conflict (ends_at) do update set key = k.key
     returning key`,
    [endsAt, candidate],
  );
  return inserted?.key ?? candidate;
}
