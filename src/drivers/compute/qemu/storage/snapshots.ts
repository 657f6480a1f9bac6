/**
 * Snapshots of a machine's own disk, also during a rescue. On a running machine, QEMU makes the snapshot; on
 * a stopped one, the disk is copied. If the machine is powered on before the copy is done, its QEMU takes
 * over before the guest runs, so the content is unchanged. A snapshot depends only on an imported image, so
 * machines and other snapshots can be deleted.
 */
import { mkdir, rm } from 'node:fs/promises';
import { ComputeError, type SnapshotState } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { type Qmp, withQmp } from '../qmp.ts';
import { requireNotMoving, requireNotSent, requireRecord } from '../record.ts';
import { allocatedBytes } from '../space.ts';
import { copyInBackground, isStarted, stopCopy } from './background-copy.ts';
import { reclaimFile } from './lent-files.ts';
import { advanceSharedSnapshot, holdMoment, removeSharedSnapshot } from './shared-snapshots.ts';
import { endJob, readJobState, startJob } from './snapshot-job.ts';
import {
  listSnapshotsInProgress,
  markFailed,
  markReady,
  markReadyWith,
  readSnapshot,
  type SnapshotRecord,
  writeSnapshot,
} from './snapshot-record.ts';
import { withReservedSpace } from './space-budget.ts';

export async function takeSnapshot(
  host: QemuHost,
  machineId: string,
  snapshotId: string,
): Promise<SnapshotState> {
  const existing = await readSnapshot(host.layout, snapshotId);
  if (existing && existing.state !== 'creating') return toSnapshotState(existing);
  return await host.withMachineLock(machineId, async () => {
    const record = await readSnapshot(host.layout, snapshotId);
    if (record && record.state !== 'creating') return toSnapshotState(record);
    return toSnapshotState(
      record?.begun
        ? await checkProgress(host, record)
        : await startSnapshot(host, await createRecord(host, machineId, snapshotId)),
    );
  });
}

function toSnapshotState({ state, sizeGb }: SnapshotRecord): SnapshotState {
  return { state, sizeGb };
}

/** Stores the snapshot's record, which reserves its space. */
async function createRecord(host: QemuHost, machineId: string, id: string): Promise<SnapshotRecord> {
  const machine = await requireRecord(host.layout, machineId);
  requireNotSent(machine);
  if (machine.installingSince !== null) {
    throw new ComputeError('refused', 'the machine is still being installed');
  }
  const { generation, spec } = machine;
  const unfinished = {
    id,
    machineId,
    generation,
    diskGb: spec.diskGb,
    sizeGb: 0,
    state: 'creating',
  } as const;
  if (spec.sharedDisk) {
    const shared = { how: 'copy', begun: false, shared: true } as const;
    await mkdir(host.layout.snapshots(), { recursive: true, mode: 0o700 });
    return await writeSnapshot(host.layout, { ...unfinished, ...shared });
  }
  const bytes = await allocatedBytes(host.layout.disk(machineId, generation));
  if (bytes === undefined) throw new ComputeError('refused', 'the machine has no disk');
  const request = { folder: host.layout.snapshots(), bytes, snapshotId: id };
  return await withReservedSpace(host, request, () =>
    writeSnapshot(host.layout, { ...unfinished, how: 'job', begun: false }),
  );
}

async function startSnapshot(host: QemuHost, record: SnapshotRecord): Promise<SnapshotRecord> {
  const { layout } = host;
  if (record.shared) {
    await holdMoment(host, record);
    return await checkProgress(host, await writeSnapshot(layout, { ...record, begun: true }));
  }
  // Undefined if no guest runs; false if this QEMU lacks the disk.
  const jobStarted = await withRunningQemu(host, record.machineId, (qmp) => startJob(host, qmp, record));
  if (jobStarted === true) return await writeSnapshot(layout, { ...record, begun: true });
  return await checkProgress(host, await writeSnapshot(layout, { ...record, how: 'copy', begun: true }));
}

/**
 * Returns undefined if no guest runs. A guest that shut down has flushed its disk, and a guest that never ran
 * has not written to it. That QEMU process is about to end, so its disk can be treated like that of a stopped
 * machine.
 */
async function withRunningQemu<T>(
  host: QemuHost,
  machineId: string,
  work: (qmp: Qmp) => Promise<T>,
): Promise<T | undefined> {
  return await withQmp(host, machineId, async (qmp) => {
    if (!qmp) return undefined;
    const { status } = await qmp.execute<{ readonly status: string }>('query-status');
    return status === 'shutdown' || status === 'prelaunch' ? undefined : await work(qmp);
  });
}

/** Checks the progress and records the result when it is finished. */
async function checkProgress(host: QemuHost, record: SnapshotRecord): Promise<SnapshotRecord> {
  const { layout } = host;
  if (record.how === 'job') return await checkJob(host, record);
  if (record.shared) return await checkShared(host, record);
  const to = layout.snapshot(record.id, 'qcow2');
  const state = await copyInBackground(host, copySpec(host, record), 0);
  if (state === 'copying') return record;
  await stopCopy(to);
  return state === 'done' ? await markReady(layout, record) : await markFailed(layout, record);
}

async function checkShared(host: QemuHost, record: SnapshotRecord): Promise<SnapshotRecord> {
  const { layout } = host;
  const copy = await advanceSharedSnapshot(host, record);
  if (copy === 'copying') return record;
  await stopCopy(layout.snapshot(record.id, 'qcow2'));
  return copy === 'failed'
    ? await markFailed(layout, record)
    : await markReadyWith(layout, record, copy.bytes);
}

function copySpec(host: QemuHost, { id, machineId, generation }: SnapshotRecord) {
  const from = host.layout.disk(machineId, generation);
  return { from, to: host.layout.snapshot(id, 'qcow2'), diskGb: null };
}

/** A job ends with its QEMU, and an unfinished snapshot is lost. */
async function checkJob(host: QemuHost, record: SnapshotRecord): Promise<SnapshotRecord> {
  return await withQmp(host, record.machineId, async (qmp) => {
    const state = qmp ? await readJobState(qmp, record.id) : 'lost';
    if (state === 'running') return record;
    // The file is complete once it is closed.
    if (qmp) await endJob(qmp, record.id);
    return state === 'done' ? await markReady(host.layout, record) : await markFailed(host.layout, record);
  });
}

/**
 * Continues unfinished copies as jobs of this QEMU, whose guest does not run yet. A snapshot that cannot be
 * continued is marked as failed.
 */
export async function resumeSnapshots(host: QemuHost, machineId: string, qmp: Qmp): Promise<void> {
  for (const record of await listSnapshotsInProgress(host, machineId)) {
    // That of a shared disk has its moment already.
    if (record.how !== 'copy' || record.shared) continue;
    const to = host.layout.snapshot(record.id, 'qcow2');
    // The copy is done: the file gets this name only when it is complete.
    if ((await allocatedBytes(to)) !== undefined) continue;
    await stopCopy(to);
    try {
      if (await startJob(host, qmp, record)) await writeSnapshot(host.layout, { ...record, how: 'job' });
    } catch (err) {
      host.log.error({ err, machine: machineId, snapshot: record.id }, 'snapshot failed');
      await markFailed(host.layout, record);
    }
  }
}

export async function removeSnapshot(host: QemuHost, snapshotId: string): Promise<void> {
  const { layout } = host;
  const existing = await readSnapshot(layout, snapshotId);
  // Another host may have made it.
  if (!existing && host.options.ceph) return await removeSharedSnapshot(host, { id: snapshotId });
  if (!existing) return;
  await host.withMachineLock(existing.machineId, async () => {
    requireNotMoving(await readSnapshot(layout, snapshotId));
    const file = layout.snapshot(snapshotId, 'qcow2');
    if (existing.state === 'creating') {
      await withQmp(host, existing.machineId, async (qmp) => qmp && (await endJob(qmp, snapshotId)));
      await stopCopy(file);
    }
    if (existing.shared) await removeSharedSnapshot(host, existing);
    await reclaimFile(layout, existing.machineId, { kind: 'snapshots', path: file });
    await rm(file, { force: true });
    await rm(layout.snapshot(snapshotId, 'json'), { force: true });
  });
}

/** Less than other callers wait for the machine's lock, which our caller holds. */
const COPY_WAIT_MS = 15_000;

/**
 * Creates a disk of `diskGb` with the snapshot's content at `path`. Throws `refused` if the snapshot is
 * missing, not ready, or larger. A slow copy continues in the background: this throws `waiting`, and a
 * later call finds the disk.
 */
export async function copySnapshot(
  host: QemuHost,
  snapshotId: string,
  disk: { readonly machineId: string; readonly path: string; readonly diskGb: number },
): Promise<void> {
  const record = await readSnapshot(host.layout, snapshotId);
  if (!record) throw new ComputeError('refused', 'snapshot not found');
  if (record.shared) throw new ComputeError('refused', 'the snapshot is of a shared disk');
  if (record.state !== 'ready') throw new ComputeError('refused', 'the snapshot is not ready');
  if (record.diskGb > disk.diskGb) throw new ComputeError('refused', 'the snapshot is larger than the disk');
  const from = host.layout.snapshot(snapshotId, 'qcow2');
  const copy = { from, to: disk.path, diskGb: disk.diskGb };
  if (!(await isStarted(disk.path))) {
    const bytes = (await allocatedBytes(from)) ?? 0;
    const request = { folder: host.options.dir, bytes, replacesDiskOf: disk.machineId };
    await withReservedSpace(host, request, () => copyInBackground(host, copy, 0));
  }
  const state = await copyInBackground(host, copy, COPY_WAIT_MS);
  if (state === 'copying') throw new ComputeError('waiting', 'the snapshot is still being copied');
  await stopCopy(disk.path);
  if (state === 'failed') throw new ComputeError('host', 'copying the snapshot failed');
}
