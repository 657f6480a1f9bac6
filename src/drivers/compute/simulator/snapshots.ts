/** Snapshots: copies of the installed system that are independent of their machines. */
import { createHash } from 'node:crypto';
import type { Sql } from '../../../kernel/sql.ts';
import { ComputeError, type MachineSpec, type SnapshotState } from '../../../ports/compute.ts';
import { requireNotSending } from './disk-moves.ts';
import { hostUnreachable, type InstalledSystem, isInstallDone, lockMachine } from './machine.ts';
import { isHostDown } from './move-progress.ts';

export interface SnapshotTimes {
  readonly size_gb: number;
  readonly ready_at: Date;
  readonly failed: boolean;
}

export function snapshotStateAt(row: SnapshotTimes, now: Date): SnapshotState {
  if (row.failed) return { state: 'failed', sizeGb: 0 };
  if (row.ready_at > now) return { state: 'creating', sizeGb: 0 };
  return { state: 'ready', sizeGb: row.size_gb };
}

export async function findSnapshot(sql: Sql, id: string): Promise<SnapshotTimes | undefined> {
  return await sql.row<SnapshotTimes>('select size_gb, ready_at, failed from sim.snapshots where id = $1', [
    id,
  ]);
}

/** Starts the snapshot unless it exists. `failed` makes it fail permanently. */
export async function startSnapshot(
  tx: Sql,
  request: { machineId: string; id: string; failed: boolean; now: Date; readyAt: Date },
): Promise<SnapshotTimes> {
  const machine = await lockMachine(tx, request.machineId);
  // Waiting for the install would capture a different content than requested.
  if (!isInstallDone(machine, request.now)) {
    throw new ComputeError('refused', 'the machine is still being installed');
  }
  const previous = await tx.row('select 1 from sim.snapshots where machine_id = $1 and id <> $2 limit 1', [
    machine.id,
    request.id,
  ]);
  const sizeGb = simulateSizeGb(request.id, machine.disk_gb, previous !== undefined);
  const row = await tx.row<SnapshotTimes>(
    `insert into sim.snapshots as s (id, machine_id, disk_gb, size_gb, installed, ready_at, failed, host)
     values ($id, $machineId, $diskGb, $sizeGb, $installed::jsonb, $readyAt, $failed, $host)
     on conflict (id) do update set failed = s.failed
     returning size_gb, ready_at, failed`,
    {
      ...request,
      machineId: machine.id,
      host: machine.host,
      diskGb: machine.disk_gb,
      sizeGb,
      installed: JSON.stringify(machine.installed),
    },
  );
  return row ?? { size_gb: sizeGb, ready_at: request.readyAt, failed: request.failed };
}

/** In GiB: the first snapshot holds much of the disk, later ones only the changes. */
function simulateSizeGb(id: string, diskGb: number, hasEarlier: boolean): number {
  const random = createHash('sha256').update(id).digest().readUInt32BE(0) / 2 ** 32;
  const share = hasEarlier ? 0.01 + 0.05 * random : 0.15 + 0.3 * random;
  return Math.max(0.01, Math.round(diskGb * share * 100) / 100);
}

/** Returns the content that a restore puts on the disk: the snapshot's, with the machine's own addresses. */
export async function readRestoreContent(
  tx: Sql,
  id: string,
  spec: MachineSpec,
  now: Date,
): Promise<InstalledSystem> {
  const snapshot = await tx.row<
    SnapshotTimes & { disk_gb: number; installed: InstalledSystem; host: string | null }
  >('select disk_gb, installed, size_gb, ready_at, failed, host from sim.snapshots where id = $1', [id]);
  if (!snapshot) throw new ComputeError('refused', 'snapshot not found');
  // The snapshots of a shared disk are on the shared storage, too.
  const { host } = snapshot;
  if (host !== null && !spec.sharedDisk && (await isHostDown(tx, host))) throw hostUnreachable(host);
  if (snapshotStateAt(snapshot, now).state !== 'ready')
    throw new ComputeError('refused', 'the snapshot is not ready');
  if (snapshot.disk_gb > spec.diskGb)
    throw new ComputeError('refused', 'the snapshot is larger than the disk');
  return { ...snapshot.installed, ipv4: spec.ipv4, ipv6: spec.ipv6 };
}

export async function removeSnapshot(sql: Sql, id: string): Promise<void> {
  await requireNotSending(sql, id);
  await sql.run('delete from sim.snapshots where id = $1', [id]);
}
