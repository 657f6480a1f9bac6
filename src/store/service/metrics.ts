/**
 * Numbers for /metrics. A scrape comes every few seconds, so each statement reads an index, a small table, or
 * the rows that are open. Servers and balances are counted in one pass over their table.
 */
import { firstIdAt } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';

export interface QueueDepthRow {
  readonly queue: string;
  readonly due: bigint;
  /** Of the most overdue row, in seconds; 0 if none is due. */
  readonly age_s: number;
}

const AGE = (column: string) => `greatest(extract(epoch from $1 - min(${column})), 0)`;

/** Counts due rows by queue. */
export async function countQueues(tx: Sql, now: Date): Promise<QueueDepthRow[]> {
  const queue = (name: string, table: string, column = 'due_at') =>
    `select '${name}' as queue, count(*) as due, coalesce(${AGE(column)}, 0)::float8 as age_s
       from ${table} where ${column} <= $1`;
  return await tx.rows<QueueDepthRow>(
    [
      queue('operations', 'operations'),
      queue('tasks', 'tasks'),
      queue('mail', 'mails'),
      queue('webhooks', 'webhook_queues'),
      queue('deliveries', 'deliveries'),
      queue('billing', 'servers', 'bill_at'),
      // In real time, because hosts are.
      `select 'files' as queue, count(*) as due,
              coalesce(greatest(extract(epoch from clock_timestamp() - min(due_at)), 0), 0)::float8 as age_s
         from backend_files where ready_at is null and due_at <= clock_timestamp()`,
      `${queue('events', 'events', 'created_at')} and seq is null`,
    ].join(' union all '),
    [now],
  );
}

export interface WorkByKindRow {
  readonly kind: string;
  readonly n: bigint;
  readonly failing: bigint;
  /** Of the oldest, in seconds; 0 for moves. */
  readonly oldest_s: number;
}

export async function countOperations(tx: Sql, now: Date): Promise<WorkByKindRow[]> {
  return await tx.rows<WorkByKindRow>(
    `select kind, count(*) as n, count(*) filter (where attempts > 0) as failing,
            case when kind = 'move' then 0 else ${AGE('created_at')} end::float8 as oldest_s
       from operations group by kind order by kind`,
    [now],
  );
}

export async function countServersByRegion(
  tx: Sql,
): Promise<{ region: string; status: string; n: bigint }[]> {
  return await tx.rows(
    `select region_id as region, status, count(*) as n from servers
      where public_no > 0 group by region_id, status order by region_id, status`,
  );
}

/** Counts the top-ups since then. An id begins with its time, so older rows are not read. */
export async function countTopups(
  tx: Sql,
  since: Date,
): Promise<{ coin: string; status: string; n: bigint }[]> {
  return await tx.rows(
    `select coin, status, count(*) as n from topups where id >= $1 group by coin, status
      order by coin, status`,
    [firstIdAt(since)],
  );
}

export interface ChainRow {
  readonly coin: string;
  readonly cursor: string | null;
  readonly failures: number;
  readonly read_at: Date | null;
}

export async function listChains(tx: Sql): Promise<ChainRow[]> {
  return await tx.rows('select code as coin, cursor, failures, read_at from coins order by code');
}

export async function listPriceTimes(tx: Sql): Promise<{ coin: string; quoted_at: Date }[]> {
  return await tx.rows('select coin, max(quoted_at) as quoted_at from quotes group by coin order by coin');
}

export interface BalanceSums {
  readonly positive: bigint;
  readonly negative: bigint;
}

export async function sumBalances(tx: Sql): Promise<BalanceSums | undefined> {
  return await tx.row<BalanceSums>(
    `select coalesce(sum(balance_cents) filter (where balance_cents > 0), 0)::bigint as positive,
            coalesce(sum(balance_cents) filter (where balance_cents < 0), 0)::bigint as negative
       from balances`,
  );
}

export interface DatabaseSize {
  readonly bytes: bigint;
  readonly connections_max: number;
}

export async function readDatabaseSize(tx: Sql): Promise<DatabaseSize | undefined> {
  return await tx.row<DatabaseSize>(
    `select pg_database_size(current_database()) as bytes,
            current_setting('max_connections')::int as connections_max`,
  );
}

/** Counts the connections of all programs to this database. */
export async function countConnections(tx: Sql): Promise<{ state: string; n: bigint }[]> {
  return await tx.rows(
    `select coalesce(state, 'unknown') as state, count(*) as n from pg_stat_activity
      where datname = current_database() group by 1 order by 1`,
  );
}
