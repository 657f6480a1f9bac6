/**
 * The driver's record of a volume, next to its file. Changing the record of an attached volume requires the
 * lock of its machine. Changing a detached one, or attaching one, requires the lock `volumes`.
 */
import { mkdir, readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { readRecordFile, writeJson } from '../json-file.ts';
import { isId, type Layout } from '../layout.ts';

export interface VolumeRecord {
  readonly id: string;
  /** Desired size in GiB. */
  readonly sizeGb: number;
  /** Both are null while it is detached. */
  readonly machineId: string | null;
  readonly device: string | null;
  /** The guest was asked to release it and has not done so yet. */
  readonly leaving: boolean;
  /**
   * The file existed once, so it is never recreated. Records of older versions lack this until the file is
   * seen.
   */
  readonly made?: true;
}

export async function readVolume(layout: Layout, id: string): Promise<VolumeRecord | undefined> {
  return await readRecordFile<VolumeRecord>(layout.volume(id, 'json'), (record) => record.id === id);
}

export async function writeVolume(layout: Layout, record: VolumeRecord): Promise<void> {
  await mkdir(layout.volumes(), { recursive: true, mode: 0o700 });
  await writeJson(layout.volume(record.id, 'json'), record);
}

/** Returns the machine's volumes in the order of their devices, including volumes that are being detached. */
export async function listVolumesOf(host: QemuHost, machineId: string): Promise<VolumeRecord[]> {
  const records = await readAllRecords(host, host.layout.volumes(), (id) => readVolume(host.layout, id));
  const own = records.filter((record) => record.machineId === machineId);
  // `/dev/vdz` sorts before `/dev/vdaa`.
  const order = ({ device }: VolumeRecord) => `${(device ?? '').length} ${device}`;
  return own.sort((one, other) => (order(one) < order(other) ? -1 : 1));
}

/** Reads every record in a folder and skips damaged ones. */
export async function readAllRecords<T>(
  host: QemuHost,
  folder: string,
  read: (id: string) => Promise<T | undefined>,
): Promise<T[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const ids = names.filter((name) => name.endsWith('.json')).map((name) => basename(name, '.json'));
  const records = await Promise.all(
    ids.filter(isId).map((id) =>
      read(id).catch((err) => {
        host.log.error({ err }, 'skipping an unreadable record');
        return undefined;
      }),
    ),
  );
  return records.filter((record) => record !== undefined);
}

const MOVES_MAX = 3;

/** Runs the work under the volume's lock. Does nothing if the volume does not exist. */
export async function withVolume(
  host: QemuHost,
  id: string,
  work: (record: VolumeRecord) => Promise<void>,
): Promise<void> {
  for (let moves = 0; moves < MOVES_MAX; moves++) {
    const seen = await readVolume(host.layout, id);
    if (!seen) return;
    const { machineId } = seen;
    const attempt = async () => {
      const record = await readVolume(host.layout, id);
      // It was attached or detached while we waited, so a different lock applies now.
      if (record?.machineId !== machineId) return false;
      await work(record);
      return true;
    };
    const done =
      machineId === null
        ? await host.withHostLock('volumes', attempt)
        : await host.withMachineLock(machineId, attempt);
    if (done) return;
  }
  throw new ComputeError('transient', 'the volume is being moved');
}
