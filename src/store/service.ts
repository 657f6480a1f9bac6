/** The stamp: the one row that says what this database is. */
import type { Sql } from '../kernel/sql.ts';

export interface StampRow {
  readonly mode: 'sandbox' | 'live';
  /** A known text sealed by the service's key. */
  readonly key_check: string;
  readonly clock_offset_ms: bigint;
}

/** Waits until no other process is stamping, for as long as the transaction lasts. */
export async function lockStamp(tx: Sql): Promise<void> {
  await tx.run('lock table service in share row exclusive mode');
}

export async function findStamp(tx: Sql): Promise<StampRow | undefined> {
  return await tx.row<StampRow>('select mode, key_check, clock_offset_ms from service');
}

export async function insertStamp(tx: Sql, row: Pick<StampRow, 'mode' | 'key_check'>): Promise<void> {
  await tx.run('insert into service (mode, key_check) values ($1, $2)', [row.mode, row.key_check]);
}

/** Moves business time for good; returns the offset from real time, in milliseconds. */
export async function addClockOffset(tx: Sql, byMs: bigint): Promise<bigint> {
  const row = await tx.row<{ clock_offset_ms: bigint }>(
    'update service set clock_offset_ms = clock_offset_ms + $1 returning clock_offset_ms',
    [byMs],
  );
  if (!row) throw new Error('the database has no stamp');
  return row.clock_offset_ms;
}
