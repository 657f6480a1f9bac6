/** The target's side of a move of a volume or snapshot, until its copy is complete. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { hashFile, syncPath } from '../../../../../kernel/files.ts';
import { ComputeError } from '../../../../../ports/compute.ts';
import type { DiskMove, MovedDisk, MoveEndpoint } from '../../../../../ports/moves.ts';
import { readSteadily } from '../../../host/fetch-file.ts';
import { FILE_IDLE_MS } from '../../../host/wire.ts';
import { commitFile, DiskFullError, exists } from '../../files.ts';
import type { QemuHost } from '../../host.ts';
import { readDiskInfo, rebaseDisk } from '../../qcow2.ts';
import { GIB, requireSpace } from '../../space.ts';
import { readSnapshot } from '../../storage/snapshot-record.ts';
import { withReservedSpace } from '../../storage/space-budget.ts';
import { readVolume } from '../../storage/volume-record.ts';
import { MESSAGE_MAX_CHARS, readLine } from '../messages.ts';
import {
  diskSizeGb,
  type IncomingDisk,
  readIncomingDisk,
  removeIncomingDisk,
  writeIncomingDisk,
} from './incoming-disk.ts';
import { Announcement, DIGEST_CHARS, tell } from './messages.ts';

/** A file of a full disk is larger than the disk by its tables. */
const TABLES_SHARE = 1 / 1024;
const TABLES_MIN_BYTES = 16 * 1024 ** 2;

/** Copies that this process receives, by the ids of their moves. */
const receiving = new Set<string>();

export async function receiveDisk(host: QemuHost, move: DiskMove, disk: MovedDisk): Promise<MoveEndpoint> {
  const { layout } = host;
  const address = host.options.peerAddress ?? null;
  if (address === null)
    throw new ComputeError('host', 'nothing can be moved to this host: it does not listen for other hosts');
  await host.withHostLock('volumes', async () => {
    if (readIncomingDisk(layout, move.id)) return;
    const read = move.disk.kind === 'volume' ? readVolume : readSnapshot;
    if (await read(layout, move.disk.id))
      throw new ComputeError('host', `the host has a copy of the ${move.disk.kind} already`);
    const key = Buffer.from(move.key).toString('hex');
    const start = () => writeIncomingDisk(layout, move.id, { ...disk, disk: move.disk, key });
    const request = { folder: layout.moves(), bytes: Math.ceil(disk.sizeGb * GIB) };
    // Snapshots use only what no machine or volume may need.
    if (disk.snapshot !== null) return await withReservedSpace(host, request, start);
    await requireSpace(request.folder, request.bytes);
    await start();
  });
  return { address };
}

/** Deletes what arrived. Nothing is left of a move that was taken over. */
export async function forgetIncomingDisk(host: QemuHost, move: DiskMove): Promise<void> {
  await host.withHostLock('volumes', async () => {
    if (readIncomingDisk(host.layout, move.id)) await removeIncomingDisk(host.layout, move.id);
  });
}

/** Takes the copy from the source, and tells whether it is complete. */
export async function takeCopy(host: QemuHost, moveId: string, stream: Duplex): Promise<void> {
  try {
    const announced = await readLine(stream);
    const incoming = readIncomingDisk(host.layout, moveId);
    if (incoming === undefined || !Announcement.Check(announced))
      throw new ComputeError('refused', 'the host does not expect this copy');
    await answerCopy(host, { moveId, incoming, announced, stream });
  } catch (error) {
    if (!(error instanceof ComputeError)) host.log.warn({ err: error }, 'receiving a disk failed');
    const message = error instanceof ComputeError ? error.message : 'the other host failed';
    tell(stream, { state: 'failed', message: message.slice(0, MESSAGE_MAX_CHARS) });
  } finally {
    stream.end();
  }
}

interface Arrival {
  readonly moveId: string;
  readonly incoming: IncomingDisk;
  readonly announced: Announcement;
  readonly stream: Duplex;
}

async function answerCopy(host: QemuHost, arrival: Arrival): Promise<void> {
  const { layout } = host;
  const { moveId, announced, stream } = arrival;
  if (await exists(layout.movedDisk(moveId, 'qcow2'))) return tell(stream, { state: 'complete' });
  if (receiving.has(moveId)) return tell(stream, { state: 'receiving' });
  requireExpected(arrival);
  if (announced.base !== null && !(await exists(layout.image(announced.base))))
    return tell(stream, { state: 'no_base' });
  receiving.add(moveId);
  try {
    tell(stream, { state: 'ready' });
    await storeCopy(host, arrival);
    await adoptCopy(host, arrival);
    tell(stream, { state: 'complete' });
  } finally {
    receiving.delete(moveId);
  }
}

/** The control plane says how large it may be, and only snapshots are overlays. */
function requireExpected({ incoming, announced }: Arrival): void {
  const diskBytes = diskSizeGb(incoming) * GIB;
  const isTooLarge = announced.bytes > diskBytes * (1 + TABLES_SHARE) + TABLES_MIN_BYTES;
  if (isTooLarge || (announced.base !== null && incoming.snapshot === null))
    throw new ComputeError('refused', 'the copy is not that which is expected');
}

/** Writes the file, reads it back, and compares its digest with that of the source. */
async function storeCopy({ layout }: QemuHost, { moveId, announced, stream }: Arrival): Promise<void> {
  const path = layout.movedDisk(moveId, 'part');
  try {
    // A link that an earlier attempt left would be written through.
    await rm(path, { force: true });
    const file = await open(path, 'wx', 0o600);
    let digest: string;
    try {
      digest = await writeStream(file, stream, announced.bytes);
      await file.truncate(announced.bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    if ((await hashFile(path)) !== digest)
      throw new ComputeError('transient', 'the copy has another SHA-256 than its source');
  } catch (error) {
    await rm(path, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ENOSPC' || code === 'EDQUOT' ? new DiskFullError() : error;
  }
}

/** Leaves out zeros, so that holes stay holes. Returns the digest that follows the content. */
async function writeStream(file: FileHandle, stream: Duplex, bytes: number): Promise<string> {
  let position = 0;
  let digest = '';
  for await (const chunk of readSteadily(stream, FILE_IDLE_MS)) {
    const content = Buffer.from(chunk).subarray(0, bytes - position);
    if (!isZero(content)) await file.write(content, 0, content.length, position);
    position += content.length;
    digest += Buffer.from(chunk).subarray(content.length).toString('latin1');
    if (digest.length >= DIGEST_CHARS) break;
  }
  if (digest.length !== DIGEST_CHARS) throw new ComputeError('transient', 'the copy ended early');
  return digest;
}

function isZero(content: Buffer): boolean {
  return content.equals(Buffer.alloc(content.length));
}

/** Checks the format, and gives the file the name of a complete copy. */
async function adoptCopy(host: QemuHost, { moveId, incoming, announced }: Arrival): Promise<void> {
  const { layout } = host;
  const part = layout.movedDisk(moveId, 'part');
  const { sizeBytes, backing } = await readDiskInfo(host, part).catch(() => {
    throw new ComputeError('refused', 'the copy is not a disk');
  });
  if (sizeBytes > diskSizeGb(incoming) * GIB || (backing === null) !== (announced.base === null)) {
    await rm(part, { force: true });
    throw new ComputeError('refused', 'the copy is not that which is expected');
  }
  // Images have other paths there.
  if (announced.base !== null) await rebaseDisk(host, part, layout.image(announced.base));
  await host.withHostLock('volumes', async () => {
    if (!readIncomingDisk(layout, moveId)) {
      await rm(part, { force: true });
      throw new ComputeError('refused', 'the move has ended');
    }
    await commitFile(part, layout.movedDisk(moveId, 'qcow2'));
    await syncPath(layout.moves());
  });
}
