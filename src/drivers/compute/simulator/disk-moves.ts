/**
 * Simulated moves of detached volumes and of snapshots. Like those of machines, each side records what it
 * did. A volume that its source sends cannot be attached or changed.
 */
import type { Sql } from '../../../kernel/sql.ts';
import { ComputeError } from '../../../ports/compute.ts';
import type { DiskMove, MovedDisk, MoveProgress } from '../../../ports/moves.ts';
import { hostUnreachable, sha256 } from './machine.ts';
import { failed, isHostDown, progressAt } from './move-progress.ts';

interface DiskMoveRow {
  readonly size_gb: number;
  readonly key_sha256: string;
  readonly source: 'idle' | 'sending' | 'has' | 'gone';
  readonly target: 'waiting' | 'has' | 'gone';
  readonly started_at: Date | null;
  readonly ends_at: Date | null;
}

export async function receiveDisk(tx: Sql, move: DiskMove, { sizeGb }: MovedDisk): Promise<void> {
  const { disk, from, to, id } = move;
  if (await isHostDown(tx, to)) throw new ComputeError('host', `host ${to} is down`);
  const existing = await lockDiskMove(tx, id);
  if (existing?.target === 'waiting') return;
  if (existing) throw new ComputeError('refused', 'the move has ended');
  await tx.run(
    `insert into sim.disk_moves (id, kind, disk_id, from_host, to_host, size_gb, key_sha256)
     values ($id, $kind, $diskId, $from, $to, $sizeGb, $key)`,
    { id, kind: disk.kind, diskId: disk.id, from, to, sizeGb, key: sha256(move.key) },
  );
}

export async function sendDisk(
  tx: Sql,
  move: DiskMove,
  { now, copyS }: { readonly now: Date; readonly copyS: number },
): Promise<MoveProgress> {
  const isTargetDown = await isHostDown(tx, move.to);
  if (await isHostDown(tx, move.from)) throw hostUnreachable(move.from);
  const row = await lockDiskMove(tx, move.id);
  await requireOnSource(tx, move);
  if (row?.source === 'has' || row?.source === 'gone')
    throw new ComputeError('refused', 'the move has ended');
  if (row?.target !== 'waiting' || row.key_sha256 !== sha256(move.key))
    return failed('the target does not accept the copy');
  if (isTargetDown) return failed('the target does not answer');
  const startedAt = row.started_at ?? now;
  const endsAt = row.ends_at ?? new Date(now.getTime() + copyS * 1000);
  await tx.run(`update sim.disk_moves set source = 'sending', started_at = $2, ends_at = $3 where id = $1`, [
    move.id,
    startedAt,
    endsAt,
  ]);
  return progressAt(row.size_gb, { now, startedAt, endsAt });
}

export async function takeOverDisk(tx: Sql, move: DiskMove, now: Date): Promise<void> {
  if (await isHostDown(tx, move.to)) throw hostUnreachable(move.to);
  const row = await lockDiskMove(tx, move.id);
  if (row?.target === 'has') return;
  if (!row || !isSent(row, now) || row.target === 'gone')
    throw new ComputeError('refused', 'the target does not have the copy');
  await tx.run(`update ${tableOf(move)} set host = $2 where id = $1`, [move.disk.id, move.to]);
  await tx.run(`update sim.disk_moves set target = 'has' where id = $1`, [move.id]);
}

export async function keepDisk(tx: Sql, move: DiskMove): Promise<void> {
  if (await isHostDown(tx, move.from)) throw hostUnreachable(move.from);
  const row = await lockDiskMove(tx, move.id);
  if (row?.target === 'has') {
    if (!(await isHostDown(tx, move.to))) throw new ComputeError('refused', 'the target has it');
    // The target is lost, and the source has the same content.
    await tx.run(`update ${tableOf(move)} set host = $2 where id = $1`, [move.disk.id, move.from]);
    await tx.run(`update sim.disk_moves set target = 'gone' where id = $1`, [move.id]);
  }
  await tx.run(`update sim.disk_moves set source = 'has' where id = $1`, [move.id]);
}

export async function forgetDisk(
  tx: Sql,
  move: DiskMove,
  { host, now }: { readonly host: 'from' | 'to'; readonly now: Date },
): Promise<void> {
  if (await isHostDown(tx, move[host])) throw hostUnreachable(move[host]);
  const row = await lockDiskMove(tx, move.id);
  if (row === undefined) return;
  const isTaken = row.target === 'has';
  const isOwner = host === 'to' ? isTaken : !isTaken && !isSent(row, now);
  if (isOwner) throw new ComputeError('refused', 'this host has it');
  // The target was lost before it took over. The source cannot know.
  if (host === 'from' && !isTaken) await tx.run(`delete from ${tableOf(move)} where id = $1`, [move.disk.id]);
  await tx.run(`update sim.disk_moves set ${host === 'to' ? 'target' : 'source'} = 'gone' where id = $1`, [
    move.id,
  ]);
}

/** Refuses to change a volume or snapshot that another host may already have. */
export async function requireNotSending(tx: Sql, diskId: string): Promise<void> {
  const moving = await tx.row(
    `select from sim.disk_moves where disk_id = $1 and source = 'sending' and target <> 'has' limit 1`,
    [diskId],
  );
  if (moving) throw new ComputeError('transient', 'it is being moved to another host');
}

async function requireOnSource(tx: Sql, move: DiskMove): Promise<void> {
  const found = await tx.row<{ host: string | null; attached: boolean }>(
    `select d.host, exists (select from sim.attachments a where a.volume_id = d.id) as attached
       from ${tableOf(move)} d where d.id = $1`,
    [move.disk.id],
  );
  // Customers may ask for a volume elsewhere before it is attached there. Simulated volumes follow at once.
  const isElsewhere = move.disk.kind === 'snapshot' && (found?.host ?? move.from) !== move.from;
  if (!found || isElsewhere)
    throw new ComputeError('refused', `the source does not have the ${move.disk.kind}`);
  if (found.attached) throw new ComputeError('refused', 'the volume is attached');
}

function tableOf({ disk }: DiskMove): string {
  return disk.kind === 'volume' ? 'sim.volumes' : 'sim.snapshots';
}

/** Whether the target may take over. */
function isSent({ source, ends_at: endsAt }: DiskMoveRow, now: Date): boolean {
  return source === 'sending' && endsAt !== null && endsAt <= now;
}

async function lockDiskMove(tx: Sql, id: string): Promise<DiskMoveRow | undefined> {
  return await tx.row<DiskMoveRow>(
    `select size_gb, key_sha256, source, target, started_at, ends_at
       from sim.disk_moves where id = $1 for update`,
    [id],
  );
}
