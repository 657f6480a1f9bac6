/**
 * The business clock's offset. It is in the database so that it survives restarts and all processes share it.
 */
import type { Sql } from '../kernel/sql.ts';

export async function readClockOffset(tx: Sql): Promise<number> {
  const row = await tx.row<{ clock_offset_ms: bigint }>(`select clock_offset_ms from service`);
  return Number(row?.clock_offset_ms ?? 0n);
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
