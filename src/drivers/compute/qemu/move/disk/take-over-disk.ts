/** After the commit, the complete copy becomes the volume or snapshot. */
import { mkdir, rename, rm } from 'node:fs/promises';
import { syncPath } from '../../../../../kernel/files.ts';
import { ComputeError } from '../../../../../ports/compute.ts';
import type { DiskMove } from '../../../../../ports/moves.ts';
import { exists } from '../../files.ts';
import type { QemuHost } from '../../host.ts';
import { readSnapshot, writeSnapshot } from '../../storage/snapshot-record.ts';
import { readVolume, writeVolume } from '../../storage/volume-record.ts';
import { type IncomingDisk, readIncomingDisk } from './incoming-disk.ts';

export async function takeOverDisk(host: QemuHost, { id: moveId, disk }: DiskMove): Promise<void> {
  const { layout } = host;
  await host.withHostLock('volumes', async () => {
    const incoming = readIncomingDisk(layout, moveId);
    const isVolume = disk.kind === 'volume';
    if (incoming === undefined) {
      if (await (isVolume ? readVolume : readSnapshot)(layout, disk.id)) return;
      throw new ComputeError('refused', `the host does not have the ${disk.kind}`);
    }
    const path = isVolume ? layout.volume(disk.id, 'qcow2') : layout.snapshot(disk.id, 'qcow2');
    await placeFile(
      layout.movedDisk(moveId, 'qcow2'),
      path,
      isVolume ? layout.volumes() : layout.snapshots(),
    );
    await writeDiskRecord(host, incoming);
    // The record of the move last: until then, all of this is repeated.
    await rm(layout.move(moveId), { force: true });
  });
}

async function placeFile(from: string, to: string, folder: string): Promise<void> {
  if (await exists(from)) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await rename(from, to);
    await syncPath(folder);
  } else if (!(await exists(to))) throw new ComputeError('refused', 'the copy is not complete');
}

async function writeDiskRecord(
  { layout }: QemuHost,
  { disk, sizeGb, snapshot }: IncomingDisk,
): Promise<void> {
  const { id } = disk;
  if (snapshot === null) {
    const detached = { machineId: null, device: null, leaving: false } as const;
    await writeVolume(layout, { id, sizeGb, ...detached, made: true });
  } else await writeSnapshot(layout, { id, sizeGb, ...snapshot, state: 'ready', how: 'job', begun: true });
}
