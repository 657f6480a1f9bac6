/**
 * A volume or snapshot that is moved away, on its source. Its record says so from the first `send` on, and
 * nothing else changes it until `keep`. Once it is `sent`, another host may have it, and it may be deleted.
 */
import { rm } from 'node:fs/promises';
import { ComputeError } from '../../../../../ports/compute.ts';
import type { DiskMove } from '../../../../../ports/moves.ts';
import { deleteCopy } from '../../copies/copy-record.ts';
import { exists } from '../../files.ts';
import type { QemuHost } from '../../host.ts';
import type { Moving } from '../../record.ts';
import { readSnapshot, type SnapshotRecord, writeSnapshot } from '../../storage/snapshot-record.ts';
import { readVolume, type VolumeRecord, writeVolume } from '../../storage/volume-record.ts';

type DiskRecord = VolumeRecord | SnapshotRecord;

/** Path of the file. */
export function sourcePath({ layout }: QemuHost, { disk }: DiskMove): string {
  return disk.kind === 'volume' ? layout.volume(disk.id, 'qcow2') : layout.snapshot(disk.id, 'qcow2');
}

/** Runs the work under the lock of the volume or snapshot, with its record. */
export async function withSourceDisk<T>(
  host: QemuHost,
  { disk }: DiskMove,
  work: (record: DiskRecord | undefined) => Promise<T>,
): Promise<T> {
  const { layout } = host;
  if (disk.kind === 'volume')
    return await host.withHostLock('volumes', async () => work(await readVolume(layout, disk.id)));
  const machineId = (await readSnapshot(layout, disk.id))?.machineId ?? disk.id;
  return await host.withMachineLock(machineId, async () => work(await readSnapshot(layout, disk.id)));
}

/** Stores that the move is under way, unless it was. Refuses what cannot be moved. */
export async function markMoving(host: QemuHost, move: DiskMove): Promise<Moving> {
  return await withSourceDisk(host, move, async (record) => {
    const { kind } = move.disk;
    if (!record || !(await exists(sourcePath(host, move))))
      throw new ComputeError('refused', `the host does not have the ${kind}`);
    if (!isAtRest(record)) throw new ComputeError('refused', `the ${kind} is in use`);
    if (record.moving?.moveId === move.id) return record.moving;
    // The control plane has one move at a time: an earlier move, if it was not sent, has ended.
    if (record.moving?.phase === 'sent')
      throw new ComputeError('transient', `the ${kind} was sent to another host`);
    return await writeMoving(host, record, { moveId: move.id, phase: 'copying' });
  });
}

/** Stores that the other host has all of it, before anyone learns that. */
export async function markSent(host: QemuHost, move: DiskMove): Promise<void> {
  await withSourceDisk(host, move, async (record) => {
    if (record?.moving?.moveId !== move.id) throw new ComputeError('refused', 'the move has ended');
    await writeMoving(host, record, { moveId: move.id, phase: 'sent' });
  });
}

export async function unmarkMoving(host: QemuHost, move: DiskMove): Promise<void> {
  await withSourceDisk(host, move, async (record) => {
    await rm(host.layout.movedDisk(move.id, 'flat'), { force: true });
    if (!record?.moving) return;
    if (record.moving.moveId !== move.id && record.moving.phase === 'sent') return;
    const { moving: _, ...kept } = record;
    await writeDisk(host, kept);
  });
}

/** Deletes a volume or snapshot that another host has. */
export async function removeSent(host: QemuHost, move: DiskMove): Promise<void> {
  const { layout } = host;
  await withSourceDisk(host, move, async (record) => {
    await rm(layout.movedDisk(move.id, 'flat'), { force: true });
    if (!record) return;
    if (record.moving?.moveId !== move.id || record.moving.phase !== 'sent')
      throw new ComputeError('refused', `this ${move.disk.kind} is not a copy that was moved away`);
    if (move.disk.kind === 'snapshot') await deleteCopy(host, move.disk.id);
    await rm(sourcePath(host, move), { force: true });
    // The record last: a file without one would become the content of the next volume with this id.
    const { kind, id } = move.disk;
    await rm(kind === 'volume' ? layout.volume(id, 'json') : layout.snapshot(id, 'json'), { force: true });
  });
}

function isAtRest(record: DiskRecord): boolean {
  return 'state' in record ? record.state === 'ready' : record.machineId === null && !record.shared;
}

async function writeMoving(host: QemuHost, record: DiskRecord, moving: Moving): Promise<Moving> {
  await writeDisk(host, { ...record, moving });
  return moving;
}

async function writeDisk({ layout }: QemuHost, record: DiskRecord): Promise<void> {
  if ('state' in record) await writeSnapshot(layout, record);
  else await writeVolume(layout, record);
}
