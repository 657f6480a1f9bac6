/** The service row: the single row that identifies this database, with its settings and business clock. */
import type { Sql } from '../../kernel/sql.ts';

export interface ServiceRow {
  readonly mode: 'sandbox' | 'live';
  /** A known text sealed with the service's key. */
  readonly key_check: string;
  readonly clock_offset_ms: bigint;
}

/** Waits until no other process inserts the service row. The lock is held until the transaction ends. */
export async function lockServiceRow(tx: Sql): Promise<void> {
  await tx.run('lock table service in share row exclusive mode');
}

/** Returns the service row, or undefined in a database that is empty or has only tables. */
export async function findServiceRow(tx: Sql): Promise<ServiceRow | undefined> {
  const table = await tx.row<{ name: string | null }>(`select to_regclass('service')::text as name`);
  if (!table?.name) return undefined;
  return await tx.row<ServiceRow>('select mode, key_check, clock_offset_ms from service');
}

export async function insertServiceRow(tx: Sql, row: Pick<ServiceRow, 'mode' | 'key_check'>): Promise<void> {
  await tx.run('insert into service (mode, key_check) values ($1, $2)', [row.mode, row.key_check]);
}

/** Returns the name of this database, which restored copies share. Requires a migrated database. */
export async function readIncarnation(tx: Sql): Promise<string> {
  const row = await tx.row<{ incarnation: string }>('select incarnation from service');
  if (!row) throw new Error('the service row is missing');
  return row.incarnation;
}

/** Returns what names the cluster of this database and its physical copies. */
export async function readClusterId(sql: Sql): Promise<string> {
  const row = await sql.row<{ id: string }>('select system_identifier::text as id from pg_control_system()');
  if (!row) throw new Error('PostgreSQL has no system identifier');
  return row.id;
}

/** Returns the time of the last change that a recovery of PostgreSQL replayed; null if there was none. */
export async function readReplayTime(sql: Sql): Promise<Date | null> {
  const row = await sql.row<{ at: Date | null }>('select pg_last_xact_replay_timestamp() as at');
  return row?.at ?? null;
}

/** Whether test network coins are credited here. Requires a migrated database with its service row. */
export async function readWorthlessCoins(tx: Sql): Promise<boolean> {
  return (await tx.row<{ worthless: boolean }>('select worthless from service'))?.worthless ?? false;
}

/** Saves the setting while no invoice exists. Returns false once there is one: then it is fixed. */
export async function saveWorthlessCoins(tx: Sql, worthless: boolean): Promise<boolean> {
  const saved = await tx.run('update service set worthless = $1 where not exists (select from topups)', [
    worthless,
  ]);
  return saved > 0;
}

/** Returns the last known number of euros per US dollar, as decimal text. */
export async function readEurRate(tx: Sql): Promise<string> {
  const row = await tx.row<{ eur_per_usd: string }>('select eur_per_usd from service');
  if (!row) throw new Error('the service row is missing');
  return row.eur_per_usd;
}

export async function saveEurRate(tx: Sql, rate: string): Promise<void> {
  await tx.run('update service set eur_per_usd = $1 where eur_per_usd <> $1', [rate]);
}

export async function saveKeyCheck(tx: Sql, keyCheck: string): Promise<void> {
  await tx.run('update service set key_check = $1', [keyCheck]);
}

// ---- the business clock's offset, in the database so that it survives restarts and all processes share it

export async function readClock(tx: Sql): Promise<{ readonly time: Date; readonly offsetMs: number }> {
  const row = await tx.row<{ time: Date; clock_offset_ms: bigint }>(
    `select clock_timestamp() as time, clock_offset_ms from service`,
  );
  if (!row) throw new Error('the service row is missing');
  return { time: row.time, offsetMs: Number(row.clock_offset_ms) };
}

export async function readDatabaseTime(tx: Sql): Promise<Date> {
  const row = await tx.row<{ time: Date }>('select clock_timestamp() as time');
  if (!row) throw new Error('the database has no time');
  return row.time;
}

/** Returns the time up to which billing by date has run; null: it has not, or there is no service. */
export async function readCalendarTime(tx: Sql): Promise<Date | null> {
  return (await tx.row<{ at: Date | null }>('select calendar_at as at from service'))?.at ?? null;
}

/** The same, and no other transaction changes it until this one ends. */
export async function lockCalendarTime(tx: Sql): Promise<Date | null> {
  return (await tx.row<{ at: Date | null }>('select calendar_at as at from service for update'))?.at ?? null;
}

export async function saveCalendarTime(tx: Sql, at: Date): Promise<void> {
  await tx.run('update service set calendar_at = $1', [at]);
}

/** Moves the clock forward, in a sandbox only. Returns the new offset in milliseconds. */
export async function moveClock(tx: Sql, byMs: number): Promise<number> {
  const row = await tx.row<{ clock_offset_ms: bigint }>(
    `update service set clock_offset_ms = clock_offset_ms + $1::bigint where mode = 'sandbox'
     returning clock_offset_ms`,
    [Math.max(0, Math.ceil(byMs))],
  );
  if (!row) throw new Error('only the clock of a sandbox can be moved');
  return Number(row.clock_offset_ms);
}

/** Wakes the workers of other processes, which listen on the channel. */
export async function notifyWorkers(tx: Sql): Promise<void> {
  await tx.rows(`select pg_notify('${WAKE_CHANNEL}', '')`);
}

export const WAKE_CHANNEL = 'skerry_wake';
