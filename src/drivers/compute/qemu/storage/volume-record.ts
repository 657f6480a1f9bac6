/**
 * What the driver keeps of a volume, beside its file. Who changes the record of one that is attached holds the lock of its
 * machine; of one that is not, and whoever attaches one, the lock `volumes`.
 */
import { mkdir, readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { readRecordFile, writeJson } from '../json-file.ts';
import { isId, type Layout } from '../layout.ts';

export interface VolumeRecord {
  readonly id: string;
  /** GiB that it is to have. */
  readonly sizeGb: number;
  /** Both null while it is attached to nothing. */
  readonly machineId: string | null;
  readonly device: string | null;
  /** The guest was asked to let go of it, and was not seen to do so yet. */
  readonly leaving: boolean;
  /** Its file was there once, so it is never made again. Records of older versions lack it until the file is seen. */
  readonly made?: true;
}

export async function readVolume(layout: Layout, id: string): Promise<VolumeRecord | undefined> {
  return await readRecordFile<VolumeRecord>(layout.volume(id, 'json'), (record) => record.id === id);
}

export async function writeVolume(layout: Layout, record: VolumeRecord): Promise<void> {
  await mkdir(layout.volumes(), { recursive: true, mode: 0o700 });
  await writeJson(layout.volume(record.id, 'json'), record);
}

/** The machine's volumes in the order of their devices, those included that are leaving it. */
export async function listVolumesOf(host: QemuHost, machineId: string): Promise<VolumeRecord[]> {
  const records = await readAllRecords(host, host.layout.volumes(), (id) => readVolume(host.layout, id));
  const own = records.filter((record) => record.machineId === machineId);
  // `/dev/vdz` comes before `/dev/vdaa`.
  const order = ({ device }: VolumeRecord) => `${(device ?? '').length} ${device}`;
  return own.sort((one, other) => (order(one) < order(other) ? -1 : 1));
}

/** Every record in a folder of records. One that is damaged keeps nobody from the others. */
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
        host.log.error({ err }, 'a record is passed over');
        return undefined;
      }),
    ),
  );
  return records.filter((record) => record !== undefined);
}

const MOVES_MAX = 3;

/** Does the work while nobody else changes the volume; not at all when there is none. */
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
      // It went elsewhere while we waited: another lock counts now.
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
