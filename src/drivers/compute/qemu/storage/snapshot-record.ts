/**
 * The driver's record of a snapshot, next to its file. Changing it requires the lock of the source machine.
 */
import { rm } from 'node:fs/promises';
import type { SnapshotState } from '../../../../ports/compute.ts';
import { readAllRecords, readRecordFile, writeJson } from '../files.ts';
import type { QemuHost } from '../host.ts';
import type { Layout } from '../layout.ts';
import type { Moving } from '../record.ts';
import { allocatedBytes, GIB } from '../space.ts';
import { reclaimFile } from './lent-files.ts';

export interface SnapshotRecord {
  readonly id: string;
  readonly machineId: string;
  /** Generation of the source disk. */
  readonly generation: number;
  /** Size of the source disk: a restore needs one at least as large. */
  readonly diskGb: number;
  readonly state: SnapshotState['state'];
  /** `job`: made by the running QEMU. `copy`: the disk of a stopped machine is copied. */
  readonly how: 'job' | 'copy';
  /** Whether the snapshot's moment has passed. Until then it may be restarted. */
  readonly begun: boolean;
  /** Its disk is in the Ceph cluster, and so is the copy: its file only says that the copy is done. */
  readonly shared?: true;
  /** Size on disk in GiB with two decimals; 0 until it is ready. */
  readonly sizeGb: number;
  /** Set while it is moved to another host. */
  readonly moving?: Moving;
}

export async function readSnapshot(layout: Layout, id: string): Promise<SnapshotRecord | undefined> {
  return await readRecordFile<SnapshotRecord>(layout.snapshot(id, 'json'), (record) => record.id === id);
}

export async function writeSnapshot(layout: Layout, record: SnapshotRecord): Promise<SnapshotRecord> {
  await writeJson(layout.snapshot(record.id, 'json'), record);
  return record;
}

/** Returns the machine's unfinished snapshots. */
export async function listSnapshotsInProgress(host: QemuHost, machineId: string): Promise<SnapshotRecord[]> {
  const records = await readAllRecords(host, host.layout.snapshots(), (id) => readSnapshot(host.layout, id));
  return records.filter((record) => record.machineId === machineId && record.state === 'creating');
}

/** Call when the snapshot's file is complete. */
export async function markReady(layout: Layout, record: SnapshotRecord): Promise<SnapshotRecord> {
  const path = layout.snapshot(record.id, 'qcow2');
  await reclaimFile(layout, record.machineId, { kind: 'snapshots', path });
  return await markReadyWith(layout, record, (await allocatedBytes(path)) ?? 0);
}

/** Call when the snapshot is complete, with its size on disk. */
export async function markReadyWith(
  layout: Layout,
  record: SnapshotRecord,
  bytes: number,
): Promise<SnapshotRecord> {
  // Round up and never to 0: even an empty disk has metadata.
  const sizeGb = Math.max(0.01, Math.ceil((100 * bytes) / GIB) / 100);
  return await writeSnapshot(layout, { ...record, state: 'ready', sizeGb });
}

export async function markFailed(layout: Layout, record: SnapshotRecord): Promise<SnapshotRecord> {
  const failed = await writeSnapshot(layout, { ...record, state: 'failed', sizeGb: 0 });
  const path = layout.snapshot(record.id, 'qcow2');
  await reclaimFile(layout, record.machineId, { kind: 'snapshots', path });
  await rm(path, { force: true });
  return failed;
}
