/** What the driver keeps of a snapshot, beside its file. Who changes it holds the lock of the machine it was taken of. */
import { rm } from 'node:fs/promises';
import type { SnapshotState } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { readRecordFile, writeJson } from '../json-file.ts';
import type { Layout } from '../layout.ts';
import { allocatedBytes, GIB } from './space.ts';
import { readAllRecords } from './volume-record.ts';

export interface SnapshotRecord {
  readonly id: string;
  readonly machineId: string;
  /** Whose disk it is of. */
  readonly generation: number;
  /** Size of that disk: it fits onto one as large. */
  readonly diskGb: number;
  readonly state: SnapshotState['state'];
  /** `job`: a QEMU that runs makes it. `copy`: the machine is off, and its disk is copied. */
  readonly how: 'job' | 'copy';
  /** Whether the moment that it is of has come; until then it may be begun again. */
  readonly begun: boolean;
  /** GiB that it takes, with two decimals; 0 until it is ready. */
  readonly sizeGb: number;
}

export async function readSnapshot(layout: Layout, id: string): Promise<SnapshotRecord | undefined> {
  return await readRecordFile<SnapshotRecord>(layout.snapshot(id, 'json'), (record) => record.id === id);
}

export async function writeSnapshot(layout: Layout, record: SnapshotRecord): Promise<SnapshotRecord> {
  await writeJson(layout.snapshot(record.id, 'json'), record);
  return record;
}

/** Those of the machine that are being made. */
export async function listSnapshotsInProgress(host: QemuHost, machineId: string): Promise<SnapshotRecord[]> {
  const records = await readAllRecords(host, host.layout.snapshots(), (id) => readSnapshot(host.layout, id));
  return records.filter((record) => record.machineId === machineId && record.state === 'creating');
}

/** Its file is whole. */
export async function markReady(layout: Layout, record: SnapshotRecord): Promise<SnapshotRecord> {
  const bytes = (await allocatedBytes(layout.snapshot(record.id, 'qcow2'))) ?? 0;
  // Rounded up, and never nothing: even an empty disk has its tables.
  const sizeGb = Math.max(0.01, Math.ceil((100 * bytes) / GIB) / 100);
  return await writeSnapshot(layout, { ...record, state: 'ready', sizeGb });
}

export async function markFailed(layout: Layout, record: SnapshotRecord): Promise<SnapshotRecord> {
  const failed = await writeSnapshot(layout, { ...record, state: 'failed', sizeGb: 0 });
  await rm(layout.snapshot(record.id, 'qcow2'), { force: true });
  return failed;
}
