/**
 * The unreserved disk space of this host. Disks and volumes are sold at full size and grow as guests write,
 * so the space they have yet to use is not free, although the file system reports it as free. The same holds
 * for unfinished snapshots and copies. Snapshots use only what remains, so they never halt a guest.
 */
import { statfs } from 'node:fs/promises';
import { outstandingOfStoreCopies } from '../copies/copy-record.ts';
import { readAllRecords } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { outstandingOfIncomingDisks } from '../move/disk/incoming-disk.ts';
import { incomingVolume, readIncoming } from '../move/incoming.ts';
import { listFolders, listRecords, readRecord } from '../record.ts';
import { allocatedBytes, GIB, requireSpace } from '../space.ts';
import { listCopies } from './background-copy.ts';
import { readSnapshot, type SnapshotRecord } from './snapshot-record.ts';
import { readVolume } from './volume-record.ts';

/** XFS, btrfs, and ZFS: a copy shares blocks with its source until either is written. */
const REFLINK_FILE_SYSTEMS = new Set([0x58465342, 0x9123683e, 0x2fc12fc1]);

export interface SpaceRequest {
  /** The folder to write to. */
  readonly folder: string;
  readonly bytes: number;
  /** The requesting snapshot, which must not be counted twice if an earlier call reserved its space. */
  readonly snapshotId?: string;
  /** The same, for a copy for the store of files. */
  readonly copyId?: string;
  /** The machine whose current disk will be replaced, so the rest of that disk is not needed. */
  readonly replacesDiskOf?: string;
}

/**
 * Starts work that needs this much space, or throws a `host` error if there is less. Runs one request at a
 * time, so the next one sees what this one started.
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
    // Check the free space last: data written meanwhile is then counted twice rather than not at all.
    const outstanding = [
      ...(await Promise.all(
        machines
          .filter((id) => id !== request.replacesDiskOf)
          .map((id) => outstandingOfDisk(host, id, snapshots)),
      )),
      ...(await Promise.all(machines.map((id) => outstandingOfCopies(host, id, snapshots)))),
      ...(await Promise.all(others.map((snapshot) => outstandingOfSnapshot(host, snapshot)))),
      ...(await outstandingOfVolumes(host)),
      ...(await outstandingOfMoves(host)),
      ...(await outstandingOfIncomingDisks(host)),
      ...(await outstandingOfStoreCopies(host, request.copyId)),
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
    host.log.error({ err }, 'skipping an unreadable record');
    return undefined;
  });
  if (!record) return 0;
  const { generation, spec, restored, cloned } = record;
  if (spec.sharedDisk) return 0;
  const isCopied = snapshots.some(
    ({ how, machineId, generation: of }) => how === 'copy' && machineId === id && of === generation,
  );
  const path = host.layout.disk(id, generation);
  const shares =
    (restored === true || cloned === true || isCopied) &&
    REFLINK_FILE_SYSTEMS.has((await statfs(host.options.dir)).type);
  // Shared blocks may all be rewritten and then need space of their own.
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

/** Returns the bytes that machines being moved to this host may yet write. */
async function outstandingOfMoves(host: QemuHost): Promise<number[]> {
  const { layout } = host;
  const incoming = await Promise.all(
    (await listFolders(layout)).map((id) => readIncoming(layout, id).catch(() => undefined)),
  );
  return await Promise.all(
    incoming.flatMap((each) => {
      if (each === undefined) return [];
      const { spec, generation, volumes } = each;
      const files = volumes.map((volume) => ({
        ...volume,
        path: incomingVolume(layout, spec.id, volume.id),
      }));
      const disk = { path: layout.disk(spec.id, generation), sizeGb: spec.diskGb };
      return [...(spec.sharedDisk ? [] : [disk]), ...files].map(async ({ path, sizeGb }) =>
        outstandingBytes(sizeGb * GIB, await allocatedBytes(path)),
      );
    }),
  );
}

async function outstandingOfSnapshot(host: QemuHost, record: SnapshotRecord): Promise<number> {
  if (record.state !== 'creating') return 0;
  const { layout } = host;
  const of = await allocatedBytes(layout.disk(record.machineId, record.generation));
  return outstandingBytes(of ?? 0, await allocatedByCopy(layout.snapshot(record.id, 'qcow2')));
}

/** Returns the bytes that unfinished restores of the machine have yet to write. */
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

/** Returns the bytes of a copy, which has its final name once complete. */
async function allocatedByCopy(path: string): Promise<number | undefined> {
  return (await allocatedBytes(`${path}.part`)) ?? (await allocatedBytes(path));
}
