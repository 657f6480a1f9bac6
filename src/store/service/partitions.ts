/**
 * Partitions by time of the tables that only grow. Retention drops those whose time has passed, which costs
 * the same for any number of rows and leaves nothing to vacuum. They are in the schema `partitions`. The
 * default partition has the name of its table, and takes every row that no other one takes: those from before
 * the table was partitioned, and those of times for which no partition was added. So no insert can fail.
 *
 * The migration only makes the present table the default partition. Other partitions are added once no
 * process of the version before them runs or may come back.
 */
import { firstIdAt, idTimestamp } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { PURGES, type Purge } from './retention.ts';

export interface Partitioning {
  readonly purge: Purge;
  /** The first column of the key, if the time is the second one. */
  readonly step?: number;
  /** How much time a partition holds. Rows stay up to this much longer than their retention. */
  readonly widthMs: number;
  /** Finds a row between $1 and $2 that must stay; $3 is the business time. */
  readonly findHeld?: string;
}

/**
 * Each list reads every partition of its table, so there are few: a table has about its retention divided by
 * the width, and three more.
 */
export const PARTITIONED = {
  audit: { purge: PURGES.audit, widthMs: 28 * DAY_MS },
  deliveries: {
    purge: PURGES.deliveries,
    widthMs: 7 * DAY_MS,
    findHeld: `select from deliveries
      where id >= $1 and id < $2 and due_at is not null and $3::timestamptz is not null`,
  },
  events: {
    purge: PURGES.events,
    widthMs: 7 * DAY_MS,
    findHeld: `select from events where id >= $1 and id < $2 and seq is null
      union all
      select from deliveries
       where event_id >= $1 and event_id < $2 and (due_at is not null or on_request)
         and (due_at is not null
           or created_at >= $3::timestamptz - interval '${LIMITS.deliveryRetentionDays} days')`,
  },
  metrics: { purge: PURGES.metrics, widthMs: 7 * DAY_MS },
  minuteMetrics: { purge: PURGES.minuteMetrics, step: 60, widthMs: 12 * HOUR_MS },
  fiveMinuteMetrics: { purge: PURGES.fiveMinuteMetrics, step: 300, widthMs: DAY_MS },
} as const satisfies Record<string, Partitioning>;

export type PartitionedName = keyof typeof PARTITIONED;
export const PARTITIONED_NAMES = Object.keys(PARTITIONED) as PartitionedName[];

export interface Partition {
  readonly name: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface PartitionedTable {
  /** Without the default partition, oldest first. */
  readonly partitions: readonly Partition[];
  readonly defaultBytes: number;
  /** Whether the default partition refuses rows of a time: see `limitDefault`. */
  readonly limited: boolean;
}

const keyAt = (type: Purge['type'], ms: number) =>
  type === 'uuid' ? firstIdAt(new Date(ms)) : new Date(ms).toISOString();

/** One key of a bound as PostgreSQL prints it: a number and a time, a time, or an id. */
const KEY = String.raw`\((?:'?(\d+)'?, )?'([^']+)'\)`;
const BOUND = new RegExp(`FROM ${KEY} TO ${KEY}`);

export async function readPartitions(sql: Sql, partitioning: Partitioning): Promise<PartitionedTable> {
  const { purge, step } = partitioning;
  const rows = await sql.rows<{ name: string; bound: string; bytes: bigint; limited: boolean }>(
    `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound, pg_relation_size(c.oid) as bytes,
            exists (select from pg_constraint k
                     where k.conrelid = c.oid and k.conname = 'outside_next') as limited
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = to_regclass($1) order by c.relname`,
    [purge.table],
  );
  const partitions = rows.flatMap(({ name, bound }): Partition[] => {
    const [, fromStep, from, , until] = BOUND.exec(bound) ?? [];
    if (from === undefined || until === undefined) return [];
    if (step !== undefined && Number(fromStep) !== step) return [];
    return [{ name, fromMs: timeOf(purge.type, from), untilMs: timeOf(purge.type, until) }];
  });
  const rest = rows.find(({ bound }) => bound === 'DEFAULT');
  return {
    partitions: partitions.sort((a, b) => a.fromMs - b.fromMs),
    defaultBytes: Number(rest?.bytes ?? 0n),
    limited: rest?.limited ?? false,
  };
}

/** A time is printed like 2030-01-01 00:00:00+00. */
function timeOf(type: Purge['type'], key: string): number {
  return type === 'uuid' ? idTimestamp(key).getTime() : Date.parse(`${key.replace(' ', 'T')}:00`);
}

/** Real time in which the previous version may come back after an upgrade. */
const GOING_BACK_DAYS = 7;
const MIGRATION = '0093_partitions';

/** Whether no process of the version before partitions runs, or is expected to run again. */
export async function maySplit(sql: Sql): Promise<boolean> {
  const row = await sql.row<{ may: boolean }>(
    `select not exists (select from processes where not knows_partitions)
        and (here.timestamp::timestamptz <= clock_timestamp() - interval '${GOING_BACK_DAYS} days'
          or here.timestamp::timestamptz <= first.timestamp::timestamptz + interval '1 hour') as may
       from kysely_migration here, kysely_migration first
      where here.name = $1 and first.name = '0001_foundation'`,
    [MIGRATION],
  );
  return row?.may ?? false;
}

/** From now on, the version before partitions refuses to start. */
export async function endGoingBack(tx: Sql): Promise<void> {
  await tx.run('update migration_files set compatible = false where name = $1 and compatible', [MIGRATION]);
}

const LOCK = 7_355_617;
const LOCK_TIMEOUT = '500ms';

/**
 * Begins a change of partitions: one at a time, over all processes. Everything that reads the table waits
 * behind a change that waits, so it gives up soon. Returns false if another process makes a change.
 */
export async function beginChange(tx: Sql): Promise<boolean> {
  const row = await tx.row<{ locked: boolean }>(
    `select pg_try_advisory_xact_lock($1::bigint) as locked, set_config('lock_timeout', $2, true)`,
    [LOCK, LOCK_TIMEOUT],
  );
  return row?.locked ?? false;
}

/**
 * Locks the table first: PostgreSQL refuses a row that an insert has assigned to the default partition when
 * the partition of the row's time is attached meanwhile.
 */
export async function addPartition(tx: Sql, partitioning: Partitioning, fromMs: number): Promise<string> {
  const { purge, step, widthMs } = partitioning;
  await tx.run(`lock table only ${purge.table} in access exclusive mode`);
  const begin = new Date(fromMs).toISOString().replace(/\D/g, '').slice(0, 10);
  const name = [purge.table, ...(step === undefined ? [] : [step]), begin].join('_');
  const bound = (ms: number) => `${step === undefined ? '' : `${step}, `}'${keyAt(purge.type, ms)}'`;
  await tx.run('select partitions.add($1, $2, $3, $4)', [
    purge.table,
    name,
    bound(fromMs),
    bound(fromMs + widthMs),
  ]);
  return name;
}

/**
 * Lets the default partition take no rows of the partition that begins then, so that it need not be read
 * under a lock when that partition is added. Null lifts this.
 */
export async function limitDefault(
  tx: Sql,
  { purge: { table, by, type }, widthMs }: Partitioning,
  fromMs: number | null,
): Promise<void> {
  const bounds = fromMs === null ? [null, null] : [keyAt(type, fromMs), keyAt(type, fromMs + widthMs)];
  await tx.run('select partitions.limit_default($1, $2, $3, $4)', [table, by, ...bounds]);
}

/** Proves the limit, next to everything that uses the table. False: it was lifted. */
export async function proveLimit(tx: Sql, { purge }: Partitioning): Promise<boolean> {
  await tx.row(`select set_config('statement_timeout', '0', true)`);
  const row = await tx.row<{ proven: boolean }>('select partitions.prove_limit($1) as proven', [purge.table]);
  return row?.proven ?? false;
}

/** Whether the table has rows of that time, in whichever partition. */
export async function hasRows(
  sql: Sql,
  { purge: { table, by, type, where } }: Partitioning,
  { fromMs, untilMs }: Pick<Partition, 'fromMs' | 'untilMs'>,
): Promise<boolean> {
  // In index order: for `exists`, a planner that expects many rows may scan the table.
  const row = await sql.row(
    `select aged.${by} from ${table} as aged
      where aged.${by} >= $1 and aged.${by} < $2 ${where === undefined ? '' : `and ${where}`}
      order by aged.${by} limit 1`,
    [keyAt(type, fromMs), keyAt(type, untilMs)],
  );
  return row !== undefined;
}

/** Whether the default partition has rows of the time from then on, when there are other partitions. */
export async function hasStrayRows(
  sql: Sql,
  { purge: { table, by, type, where } }: Partitioning,
  fromMs: number,
): Promise<boolean> {
  const row = await sql.row(
    `select aged.${by} from partitions.${table} as aged
      where aged.${by} >= $1 ${where === undefined ? '' : `and ${where}`} order by aged.${by} limit 1`,
    [keyAt(type, fromMs)],
  );
  return row !== undefined;
}

/**
 * Drops the partition, unless one of its rows must stay. Returns whether it did. The transaction holds the
 * lock of the table only for the search for such a row, in its index, and the change of the catalog.
 */
export async function dropPartition(
  tx: Sql,
  { purge: { table, type }, findHeld }: Partitioning,
  { name, fromMs, untilMs }: Partition,
  now: Date,
): Promise<boolean> {
  await tx.run(`lock table only ${table} in access exclusive mode`);
  if (findHeld !== undefined) {
    await tx.row(`select set_config('enable_seqscan', 'off', true)`);
    const bounds = [keyAt(type, fromMs), keyAt(type, untilMs), now];
    if (await tx.row(`${findHeld} limit 1`, bounds)) return false;
  }
  await tx.run(`drop table partitions.${name}`);
  return true;
}
