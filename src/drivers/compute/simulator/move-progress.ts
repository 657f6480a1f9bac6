/** The parts that all simulated moves share. */
import type { Sql } from '../../../kernel/sql.ts';
import type { MoveProgress } from '../../../ports/moves.ts';

const GIB = 1024 ** 3;

/** Of a copy of so many GiB. */
export function progressAt(
  sizeGb: number,
  { now, startedAt, endsAt }: { now: Date; startedAt: Date; endsAt: Date },
): MoveProgress {
  const totalBytes = Math.ceil(sizeGb * GIB);
  if (endsAt <= now) return { state: 'sent', copiedBytes: totalBytes, totalBytes, message: null };
  const share = (now.getTime() - startedAt.getTime()) / (endsAt.getTime() - startedAt.getTime());
  return { state: 'copying', copiedBytes: Math.floor(totalBytes * share), totalBytes, message: null };
}

export function failed(message: string): MoveProgress {
  return { state: 'failed', copiedBytes: 0, totalBytes: 0, message };
}

/** Locks the host against new machines. An unknown host counts as down. */
export async function isHostDown(tx: Sql, name: string): Promise<boolean> {
  const row = await tx.row<{ down: boolean }>(
    'select down from sim.hosts where name = $1 for no key update',
    [name],
  );
  return row?.down ?? true;
}
