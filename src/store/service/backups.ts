/** The record of backups of the database. */
import type { Sql } from '../../kernel/sql.ts';

export interface BackupRow {
  readonly id: string;
  /** Null if no file was written. */
  readonly name: string | null;
  readonly started_at: Date;
  readonly ended_at: Date;
  readonly size_bytes: bigint | null;
  readonly sha256: string | null;
  readonly verified_at: Date | null;
  readonly failure: string | null;
}

const COLUMNS = 'id, name, started_at, ended_at, size_bytes, sha256, verified_at, failure';

export async function insertBackup(sql: Sql, row: BackupRow): Promise<void> {
  await sql.run(
    `insert into database_backups (${COLUMNS})
     values ($id, $name, $started_at, $ended_at, $size_bytes, $sha256, $verified_at, $failure)`,
    { ...row },
  );
}

/** Returns the newest first. */
export async function listBackups(sql: Sql, limit: number): Promise<BackupRow[]> {
  return await sql.rows<BackupRow>(
    `select ${COLUMNS} from database_backups order by started_at desc, id desc limit $1`,
    [limit],
  );
}

/** Returns the newest that began until then. */
export async function findNewestBackup(sql: Sql, until: Date): Promise<BackupRow | undefined> {
  return await sql.row<BackupRow>(
    `select ${COLUMNS} from database_backups where started_at <= $1
      order by started_at desc, id desc limit 1`,
    [until],
  );
}

/** Returns the newest verified backup that began until then. */
export async function findVerifiedBackup(sql: Sql, until: Date): Promise<BackupRow | undefined> {
  return await sql.row<BackupRow>(
    `select ${COLUMNS} from database_backups where verified_at is not null and started_at <= $1
      order by started_at desc, id desc limit 1`,
    [until],
  );
}

/** Returns the newest of which a file was written. */
export async function findWrittenBackup(sql: Sql): Promise<BackupRow | undefined> {
  return await sql.row<BackupRow>(
    `select ${COLUMNS} from database_backups where name is not null
      order by started_at desc, id desc limit 1`,
  );
}

/** Remembers when the first backup was due: it may never end, and then has no record. */
export async function saveScheduleTime(sql: Sql, now: Date): Promise<void> {
  await sql.run('update service set backups_since = $1 where backups_since is null', [now]);
}

/** Returns when the first backup was due, or undefined. */
export async function findScheduleTime(sql: Sql): Promise<Date | undefined> {
  const row = await sql.row<{ at: Date | null }>('select backups_since as at from service');
  return row?.at ?? undefined;
}

/** Deletes the records of before `before`, except this one. */
export async function deleteBackups(
  sql: Sql,
  { before, keep }: { readonly before: Date; readonly keep: string | null },
): Promise<void> {
  await sql.run('delete from database_backups where started_at < $1 and id is distinct from $2::uuid', [
    before,
    keep,
  ]);
}

/** Returns the size of the database in bytes. */
export async function readDatabaseBytes(sql: Sql): Promise<number> {
  const row = await sql.row<{ n: bigint }>('select pg_database_size(current_database()) as n');
  return Number(row?.n ?? 0n);
}
