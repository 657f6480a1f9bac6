/** Places the files of a base and the segments that follow in an empty data folder, for the replay. */
import { appendFile, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ArchiveError } from '../../kernel/crypt/age.ts';
import { freeBytes, syncPath } from '../../kernel/files.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { GIB_BYTES } from '../../kernel/sizes.ts';
import type { Entry } from '../dump/tar.ts';
import { breakChain } from './archiving.ts';
import { type BaseEnd, type BaseEntry, type BaseHeader, parseBaseEntry } from './base.ts';
import { MAJOR_VERSION } from './binaries.ts';
import { exists } from './files.ts';
import { chownToDatabaseUser, openHome } from './home.ts';
import { acquireLock } from './lock.ts';
import { markerOf, segmentsOf } from './replay.ts';

const BLOCK_BYTES = 64 * 1024;
/** For the log that is replayed, in addition to the database. */
const LOG_BYTES = GIB_BYTES;

export interface Placed {
  readonly end: BaseEnd;
  /** Writes a segment, or nothing if that fails: PostgreSQL would end at a part of one. */
  addSegment(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Keeps the database from continuing on a timeline that an earlier restore of the same base took. */
  reserveTimeline(timeline: number): Promise<void>;
  /** Hands the files to the database's user. Call it before the database starts. */
  handOver(): Promise<void>;
  /** Lets anyone start the database. Call it after the replay. */
  complete(): Promise<void>;
}

/** Throws an OperatorError if the data folder has a database. `checkHeader`: before anything is placed. */
export async function placeBase(
  dataDir: string,
  entries: AsyncIterable<Entry>,
  checkHeader: (header: BaseHeader) => void,
): Promise<Placed> {
  const home = await openHome(dataDir);
  const lock = await acquireLock(home);
  try {
    if ((await exists(home.cluster)) && !(await exists(markerOf(home)))) {
      throw new OperatorError(
        `there is a database in ${home.folder}: move that folder away, or restore into an empty data folder`,
      );
    }
    const draft = `${home.cluster}.draft`;
    // Left by a restore that was interrupted.
    for (const folder of [draft, home.cluster, segmentsOf(home)])
      await rm(folder, { recursive: true, force: true });
    const { header, files } = await startReading(entries);
    checkHeader(header);
    await requireRestorable(header, home.folder);
    await writeFile(markerOf(home), '');
    await syncPath(home.folder);
    await breakChain(home);
    await mkdir(draft, { mode: 0o700 });
    const end = await unpack(draft, files);
    await writeFile(join(draft, 'backup_label'), end.label, { mode: 0o600 });
    await writeFile(join(draft, 'recovery.signal'), '', { mode: 0o600 });
    await rename(draft, home.cluster);
    await mkdir(segmentsOf(home), { mode: 0o700 });
    return {
      end,
      addSegment: (name, bytes) => writeSegment(join(segmentsOf(home), name), bytes),
      // PostgreSQL only looks whether the file of a timeline exists.
      reserveTimeline: (timeline) => writeFile(join(segmentsOf(home), historyOf(timeline)), ''),
      handOver: async () => {
        for (const folder of [home.cluster, segmentsOf(home)]) await chownToDatabaseUser(home, folder);
      },
      complete: async () => {
        await rm(segmentsOf(home), { recursive: true, force: true });
        await rm(markerOf(home), { force: true });
        await syncPath(home.folder);
      },
    };
  } finally {
    await lock.release();
  }
}

/** Reads the header, so that a wrong identity or a damaged file is known before anything is placed. */
async function startReading(
  entries: AsyncIterable<Entry>,
): Promise<{ readonly header: BaseHeader; readonly files: AsyncIterable<Entry> }> {
  const reader = entries[Symbol.asyncIterator]();
  const first = await reader.next();
  const parsed = first.done ? undefined : parseBaseEntry(first.value);
  if (parsed?.kind !== 'header') throw new ArchiveError('the base backup has no header');
  return { header: parsed.header, files: { [Symbol.asyncIterator]: () => reader } };
}

async function requireRestorable(header: BaseHeader, folder: string): Promise<void> {
  if (header.postgres !== MAJOR_VERSION) {
    throw new OperatorError(
      `PostgreSQL ${header.postgres} made this base backup: restore it with the release that has it`,
    );
  }
  const neededBytes = (header.database_bytes ?? 0) + LOG_BYTES;
  if ((await freeBytes(folder)) >= neededBytes) return;
  const gib = Math.ceil(neededBytes / GIB_BYTES);
  throw new OperatorError(`${folder} needs ${gib} GiB of free space: free some, or restore elsewhere`);
}

async function unpack(folder: string, entries: AsyncIterable<Entry>): Promise<BaseEnd> {
  let end: BaseEnd | undefined;
  for await (const entry of entries) {
    const parsed = parseBaseEntry(entry);
    if (parsed.kind === 'end') end = parsed.end;
    else if (parsed.kind !== 'header') await place(folder, parsed);
  }
  if (end === undefined) throw new OperatorError('the base backup is incomplete');
  return end;
}

async function place(
  folder: string,
  entry: Extract<BaseEntry, { readonly kind: 'folder' | 'piece' }>,
): Promise<void> {
  const path = join(folder, entry.path);
  if (entry.kind === 'folder') await mkdir(path, { recursive: true, mode: 0o700 });
  else await appendFile(path, entry.bytes, { mode: 0o600 });
}

/** Most of a segment is zeros if little changed in its minute: they become a hole in the file. */
async function writeSegment(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'w', 0o600);
  let at = 0;
  try {
    for await (const chunk of bytes) {
      for (let start = 0; start < chunk.length; start += BLOCK_BYTES) {
        const block = chunk.subarray(start, start + BLOCK_BYTES);
        if (block.some((byte) => byte !== 0)) await file.write(block, 0, block.length, at + start);
      }
      at += chunk.length;
    }
    await file.truncate(at);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

function historyOf(timeline: number): string {
  return `${timeline.toString(16).toUpperCase().padStart(8, '0')}.history`;
}
