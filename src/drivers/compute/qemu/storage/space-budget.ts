/**
 * Room on the disk of this host that nobody was promised. Disks and volumes are sold whole, and grow as guests write: what
 * they have yet to take is not free, though the file system says so. Nor is what snapshots and copies under way have yet to
 * write. Snapshots are sold to nobody, so they get the rest alone: they halt no guest.
 */
import { statfs } from 'node:fs/promises';
import type { QemuHost } from '../host.ts';
import { listRecords, readRecord } from '../record.ts';
import { listCopies } from './background-copy.ts';
import { readSnapshot, type SnapshotRecord } from './snapshot-record.ts';
import { allocatedBytes, GIB, requireSpace } from './space.ts';
import { readAllRecords, readVolume } from './volume-record.ts';

/** XFS, btrfs and ZFS: a copy shares its blocks with what it was made of, until one of the two is written. */
const REFLINK_FILE_SYSTEMS = new Set([0x58465342, 0x9123683e, 0x2fc12fc1]);

export interface SpaceRequest {
  /** Where it is written to. */
  readonly folder: string;
  readonly bytes: number;
  /** The snapshot that asks, which counts among those under way when it was asked for before. */
  readonly snapshotId?: string;
  /** The machine whose next disk it becomes: what its present one has yet to take, it will not. */
  readonly insteadOf?: string;
}

/**
 * Begins what needs so much room, and fails as `host` where there is less. One at a time: what was begun is seen by whoever
 * asks next.
 */
export async function withReservedSpace<T>(
  host: QemuHost,
  request: SpaceRequest,
  start: () => Promise<T>,
): Promise<T> {
  return await host.withHostLock('space', async () => {
    const { layout } = host;
    const snapshots = await readAllRecords(host, layout.snapshots(), (id) => readSnapshot(layout, id));
    const others = snapshots.filter(({ id }) => id !== request.snapshotId);
    const machines = await listRecords(layout);
    // What is free is looked at last: a guest that writes meanwhile is counted twice rather than not at all.
    const outstanding = [
      ...(await Promise.all(
        machines.filter((id) => id !== request.insteadOf).map((id) => outstandingOfDisk(host, id, snapshots)),
      )),
      ...(await Promise.all(machines.map((id) => outstandingOfCopies(host, id, snapshots)))),
      ...(await Promise.all(others.map((snapshot) => outstandingOfSnapshot(host, snapshot)))),
      ...(await outstandingOfVolumes(host)),
    ];
    await requireSpace(
      request.folder,
      outstanding.reduce((sum, bytes) => sum + bytes, request.bytes),
    );
    return await start();
  });
}

const outstandingBytes = (bytes: number, allocated = 0) => Math.max(0, bytes - allocated);

async function outstandingOfDisk(
  host: QemuHost,
  id: string,
  snapshots: readonly SnapshotRecord[],
): Promise<number> {
  const record = await readRecord(host.layout, id).catch((err) => {
    host.log.error({ err }, 'a record is passed over');
    return undefined;
  });
  if (!record) return 0;
  const { generation, spec, restored } = record;
  const isCopied = snapshots.some(
    ({ how, machineId, generation: of }) => how === 'copy' && machineId === id && of === generation,
  );
  const path = host.layout.disk(id, generation);
  const shares =
    (restored === true || isCopied) && REFLINK_FILE_SYSTEMS.has((await statfs(host.options.dir)).type);
  // What it shares it may write again, all of it.
  return outstandingBytes(spec.diskGb * GIB, shares ? 0 : await allocatedBytes(path));
}

async function outstandingOfVolumes(host: QemuHost): Promise<number[]> {
  const { layout } = host;
  const volumes = await readAllRecords(host, layout.volumes(), (id) => readVolume(layout, id));
  return await Promise.all(
    volumes.map(async ({ id, sizeGb }) =>
      outstandingBytes(sizeGb * GIB, await allocatedBytes(layout.volume(id, 'qcow2'))),
    ),
  );
}

async function outstandingOfSnapshot(host: QemuHost, record: SnapshotRecord): Promise<number> {
  if (record.state !== 'creating') return 0;
  const { layout } = host;
  const of = await allocatedBytes(layout.disk(record.machineId, record.generation));
  return outstandingBytes(of ?? 0, await allocatedByCopy(layout.snapshot(record.id, 'qcow2')));
}

/** To copies of snapshots that are to become disks of the machine. */
async function outstandingOfCopies(
  host: QemuHost,
  id: string,
  snapshots: readonly SnapshotRecord[],
): Promise<number> {
  const { layout } = host;
  let outstanding = 0;
  for (const path of await listCopies(layout.machine(id))) {
    const generation = Number(/copy-(\d+)-[^/]*$/.exec(path)?.[1]);
    const snapshot = snapshots.find(({ id: of }) => layout.diskCopy(id, generation, of) === path);
    if (!snapshot) continue;
    const of = await allocatedBytes(layout.snapshot(snapshot.id, 'qcow2'));
    outstanding += outstandingBytes(of ?? 0, await allocatedByCopy(path));
  }
  return outstanding;
}

/** Of a file that has its name when it is whole. */
async function allocatedByCopy(path: string): Promise<number | undefined> {
  return (await allocatedBytes(`${path}.part`)) ?? (await allocatedBytes(path));
}
