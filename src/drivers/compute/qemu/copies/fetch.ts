/** Fetches a snapshot from the store of files. It gets its name once its content was checked. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { syncPath, undefinedIfMissing } from '../../../../kernel/files.ts';
import { ComputeError } from '../../../../ports/compute.ts';
import type { FetchedSnapshot, StoredCopy } from '../../../../ports/copies.ts';
import { readSigned } from '../../../signed-urls.ts';
import type { QemuHost } from '../host.ts';
import { readDiskInfo } from '../qcow2.ts';
import { GIB } from '../space.ts';
import { writeSnapshot } from '../storage/snapshot-record.ts';
import { withReservedSpace } from '../storage/space-budget.ts';
import { readCopy, withSnapshotLock, writeCopy } from './copy-record.ts';

const READ_BYTES = 1024 ** 2;

export interface Fetch {
  readonly id: string;
  readonly snapshot: FetchedSnapshot;
  readonly copy: StoredCopy;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
}

export async function fetchSnapshot(host: QemuHost, fetch: Fetch): Promise<void> {
  const { layout } = host;
  const { id, copy } = fetch;
  await mkdir(layout.copies(), { recursive: true, mode: 0o700 });
  await withSnapshotLock(host, id, async () => {
    if (await readCopy(layout, id)) return;
    const request = { folder: layout.copies(), bytes: copy.sizeBytes };
    const record = { id, maxBytes: copy.sizeBytes, prepared: null };
    await withReservedSpace(host, request, () => writeCopy(layout, record));
  });
  await receive(layout.copy(id, 'part'), fetch);
  await adopt(host, fetch);
}

/** Continues behind the bytes that an earlier attempt left, and checks all of them. */
async function receive(path: string, { copy, signal, onBytes }: Fetch): Promise<void> {
  const hash = createHash('sha256');
  let bytes = (await stat(path).catch(undefinedIfMissing))?.size ?? 0;
  if (bytes > copy.sizeBytes) {
    await rm(path);
    bytes = 0;
  }
  const file = await open(path, 'a', 0o600);
  try {
    const had = createReadStream(path, { highWaterMark: READ_BYTES });
    for await (const chunk of had as AsyncIterable<Buffer>) hash.update(chunk);
    if (bytes < copy.sizeBytes) {
      for await (const chunk of readSigned(copy.url, bytes, signal)) {
        bytes += chunk.length;
        if (bytes > copy.sizeBytes) break;
        await file.appendFile(chunk);
        hash.update(chunk);
        onBytes(chunk.length);
      }
    }
    await file.sync();
  } finally {
    await file.close();
  }
  if (bytes < copy.sizeBytes) throw new ComputeError('transient', 'the copy ended early');
  if (bytes === copy.sizeBytes && hash.digest('hex') === copy.sha256) return;
  await rm(path, { force: true });
  throw new ComputeError('host', 'the copy has another SHA-256 than when it was sent');
}

/** Checks the format, and gives the file the name of the snapshot. */
async function adopt(host: QemuHost, { id, snapshot, signal }: Fetch): Promise<void> {
  const { layout } = host;
  const part = layout.copy(id, 'part');
  const { machineId, generation, diskGb, sizeGb } = snapshot;
  const { sizeBytes, backing } = await readDiskInfo(host, part);
  if (backing !== null || sizeBytes > diskGb * GIB) {
    await rm(part, { force: true });
    throw new ComputeError('refused', 'the copy is not a disk of this snapshot');
  }
  await withSnapshotLock(host, id, async () => {
    signal.throwIfAborted();
    // Deleted meanwhile.
    if (!(await readCopy(layout, id))) {
      await rm(part, { force: true });
      throw new ComputeError('refused', 'the copy is no longer wanted');
    }
    await mkdir(layout.snapshots(), { recursive: true, mode: 0o700 });
    await rename(part, layout.snapshot(id, 'qcow2'));
    await syncPath(layout.snapshots());
    const taken = { machineId, generation, diskGb, sizeGb };
    await writeSnapshot(layout, { id, ...taken, state: 'ready', how: 'job', begun: true });
    await rm(layout.copy(id, 'json'), { force: true });
  });
}
