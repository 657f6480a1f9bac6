/**
 * Room on the disk of this host that nobody was promised. Disks and volumes are sold whole, and grow as guests write: what
 * they have yet to take is not free, though the file system says so. Nor is what snapshots and copies under way have yet to
 * write. Snapshots are sold to nobody, so they get the rest alone: they halt no guest.
 */
import { statfs } from 'node:fs/promises';
import type { QemuHost } from '../host.ts';
import { listRecords, readRecord } from '../record.ts';
import { copiesIn } from './background-copy.ts';
import { readSnapshot, type SnapshotRecord } from './snapshot-record.ts';
import { GIB, requireSpace, takenBytes } from './space.ts';
import { readAll, readVolume } from './volume-record.ts';

/** XFS, btrfs and ZFS: a copy shares its blocks with what it was made of, until one of the two is written. */
const SHARING = new Set([0x58465342, 0x9123683e, 0x2fc12fc1]);

export interface Need {
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
export async function withRoom<T>(host: QemuHost, need: Need, begin: () => Promise<T>): Promise<T> {
  return await host.alone('space', async () => {
    const { layout } = host;
    const snapshots = await readAll(host, layout.snapshots(), (id) => readSnapshot(layout, id));
    const others = snapshots.filter(({ id }) => id !== need.snapshotId);
    const machines = await listRecords(layout);
    // What is free is looked at last: a guest that writes meanwhile is counted twice rather than not at all.
    const owed = [
      ...(await Promise.all(
        machines.filter((id) => id !== need.insteadOf).map((id) => owedToDisk(host, id, snapshots)),
      )),
      ...(await Promise.all(machines.map((id) => owedToCopies(host, id, snapshots)))),
      ...(await Promise.all(others.map((snapshot) => owedToSnapshot(host, snapshot)))),
      ...(await owedToVolumes(host)),
    ];
    await requireSpace(
      need.folder,
      owed.reduce((sum, bytes) => sum + bytes, need.bytes),
    );
    return await begin();
  });
}

const left = (bytes: number, taken = 0) => Math.max(0, bytes - taken);

async function owedToDisk(host: QemuHost, id: string, snapshots: readonly SnapshotRecord[]): Promise<number> {
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
  const shares = (restored === true || isCopied) && SHARING.has((await statfs(host.options.dir)).type);
  // What it shares it may write again, all of it.
  return left(spec.diskGb * GIB, shares ? 0 : await takenBytes(path));
}

async function owedToVolumes(host: QemuHost): Promise<number[]> {
  const { layout } = host;
  const volumes = await readAll(host, layout.volumes(), (id) => readVolume(layout, id));
  return await Promise.all(
    volumes.map(async ({ id, sizeGb }) => left(sizeGb * GIB, await takenBytes(layout.volume(id, 'qcow2')))),
  );
}

async function owedToSnapshot(host: QemuHost, record: SnapshotRecord): Promise<number> {
  if (record.state !== 'creating') return 0;
  const { layout } = host;
  const of = await takenBytes(layout.disk(record.machineId, record.generation));
  return left(of ?? 0, await takenByCopy(layout.snapshot(record.id, 'qcow2')));
}

/** To copies of snapshots that are to become disks of the machine. */
async function owedToCopies(
  host: QemuHost,
  id: string,
  snapshots: readonly SnapshotRecord[],
): Promise<number> {
  const { layout } = host;
  let owed = 0;
  for (const path of await copiesIn(layout.machine(id))) {
    const generation = Number(/copy-(\d+)-[^/]*$/.exec(path)?.[1]);
    const snapshot = snapshots.find(({ id: of }) => layout.diskCopy(id, generation, of) === path);
    if (!snapshot) continue;
    const of = await takenBytes(layout.snapshot(snapshot.id, 'qcow2'));
    owed += left(of ?? 0, await takenByCopy(path));
  }
  return owed;
}

/** Of a file that has its name when it is whole. */
async function takenByCopy(path: string): Promise<number | undefined> {
  return (await takenBytes(`${path}.part`)) ?? (await takenBytes(path));
}
