/**
 * Snapshots of shared disks: full copies in the Ceph pool, which depend on no machine. A snapshot of RBD
 * holds the moment, whether the machine is on or off, and is deleted once it is copied. A copy has its final
 * name only when it is complete.
 */
import { rm } from 'node:fs/promises';
import { ComputeError, type MachineSpec } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { GIB } from '../space.ts';
import { isStarted, stopCopy, workInBackground } from './background-copy.ts';
import { cephCommand, requireCeph, undefinedIfNotFound } from './ceph.ts';
import { diskImage, finishSharedDisk, unfinishedImage } from './shared-disks.ts';
import { createImageSnapshot, readImageBytes, removeImage, renameImage, runRbd } from './shared-images.ts';
import { readSnapshot, type SnapshotRecord } from './snapshot-record.ts';

/** Less than other callers wait for the machine's lock, which our caller holds. */
const COPY_WAIT_MS = 15_000;

/**
 * Replaces what a killed copy left. The cluster keeps an image busy for half a minute after its client died.
 * The files and images are followed by the command for `rbd`.
 */
const COPY_SCRIPT = `
marker=$1 from=$2 to=$3
shift 3
for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
  "$@" rm --no-progress "$to"
  [ $? -eq 16 ] || break
  sleep 5
done
"$@" cp --no-progress "$from" "$to" && : > "$marker"`;

const snapshotImage = (snapshotId: string) => `skerry-snapshot-${snapshotId}`;
const unfinishedSnapshot = (snapshotId: string) => `${snapshotImage(snapshotId)}-new`;
const momentOf = (snapshotId: string) => `snapshot-${snapshotId}`;

/** Keeps the present content of the disk. May be done already. */
export async function holdMoment(host: QemuHost, record: SnapshotRecord): Promise<void> {
  await createImageSnapshot(host, diskImage(record.machineId, record.generation), momentOf(record.id));
}

async function dropMoment(host: QemuHost, { id, machineId, generation }: SnapshotRecord): Promise<void> {
  const words = ['snap', 'rm', '--no-progress', '--snap', momentOf(id)];
  await undefinedIfNotFound(runRbd(host, words, diskImage(machineId, generation)));
}

/** Continues the copy. Returns its size on disk in bytes once it is complete. */
export async function advanceSharedSnapshot(
  host: QemuHost,
  record: SnapshotRecord,
): Promise<'copying' | 'failed' | { readonly bytes: number }> {
  const { id, machineId, generation } = record;
  const marker = host.layout.snapshot(id, 'qcow2');
  const from = `${diskImage(machineId, generation)}@${momentOf(id)}`;
  const to = unfinishedSnapshot(id);
  const state = await workInBackground(
    host,
    { to: marker, script: () => copyScript(host, { marker, from, to }) },
    0,
  );
  if (state === 'copying') return 'copying';
  if (state === 'failed') {
    await removeSharedSnapshot(host, record);
    return 'failed';
  }
  await dropMoment(host, record);
  if ((await readImageBytes(host, to)) !== undefined) await renameImage(host, to, snapshotImage(id));
  return { bytes: await readUsedBytes(host, snapshotImage(id)) };
}

async function copyScript(
  host: QemuHost,
  { marker, from, to }: { readonly marker: string; readonly from: string; readonly to: string },
): Promise<readonly [string, ...string[]]> {
  const { pool } = requireCeph(host);
  return [COPY_SCRIPT, marker, `${pool}/${from}`, `${pool}/${to}`, ...cephCommand(host, 'rbd')];
}

async function readUsedBytes(host: QemuHost, image: string): Promise<number> {
  const { images } = JSON.parse(await runRbd(host, ['du', '--format', 'json'], image)) as {
    readonly images: readonly { readonly used_size: number }[];
  };
  return images.reduce((sum, { used_size: bytes }) => sum + bytes, 0);
}

/** Deletes the snapshot, complete or not. The caller has stopped its copy. */
export async function removeSharedSnapshot(
  host: QemuHost,
  record: Pick<SnapshotRecord, 'id'> | SnapshotRecord,
): Promise<void> {
  if ('machineId' in record) await dropMoment(host, record);
  for (const image of [unfinishedSnapshot(record.id), snapshotImage(record.id)])
    await removeImage(host, image);
}

/**
 * Creates the disk of the spec's generation with the content of a snapshot, which any host may have made. A
 * slow copy continues in the background: this throws `waiting`, and a later call finds it.
 */
export async function copySharedSnapshot(
  host: QemuHost,
  snapshotId: string,
  { spec, marker }: { readonly spec: MachineSpec; readonly marker: string },
): Promise<void> {
  const record = await readSnapshot(host.layout, snapshotId);
  if (record && !record.shared)
    throw new ComputeError('refused', 'the snapshot is on the disk of a host, and the disk is shared');
  const image = snapshotImage(snapshotId);
  if (!(await isStarted(marker))) await requireFitting(host, image, spec);
  const to = unfinishedImage(spec.id, spec.generation);
  const work = { to: marker, script: () => copyScript(host, { marker, from: image, to }) };
  const state = await workInBackground(host, work, COPY_WAIT_MS);
  if (state === 'copying') throw new ComputeError('waiting', 'the snapshot is still being copied');
  await stopCopy(marker);
  if (state === 'failed') throw new ComputeError('host', 'copying the snapshot failed');
  await finishSharedDisk(host, spec);
  if ((await readImageBytes(host, diskImage(spec.id, spec.generation))) !== undefined) return;
  await rm(marker, { force: true });
  throw new ComputeError('transient', 'the copy of the snapshot is gone, and is made again');
}

async function requireFitting(host: QemuHost, image: string, { diskGb }: MachineSpec): Promise<void> {
  const bytes = await readImageBytes(host, image);
  if (bytes === undefined) throw new ComputeError('refused', 'snapshot not found, or not ready');
  if (bytes > diskGb * GIB) throw new ComputeError('refused', 'the snapshot is larger than the disk');
}
