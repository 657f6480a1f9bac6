/** Places the files of a base and the segments that follow in an empty data folder, for the replay. */
import { appendFile, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../../kernel/files.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Entry } from '../dump/tar.ts';
import { breakChain } from './archiving.ts';
import { type BaseEnd, type BaseEntry, parseBaseEntry } from './base.ts';
import { MAJOR_VERSION } from './binaries.ts';
import { exists } from './files.ts';
import { chownToDatabaseUser, openHome } from './home.ts';
import { acquireLock } from './lock.ts';
import { markerOf, segmentsOf } from './replay.ts';

const BLOCK_BYTES = 64 * 1024;

export interface Placed {
  readonly end: BaseEnd;
  /** Writes a segment. */
  addSegment(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Keeps the database from continuing on a timeline that an earlier restore of the same base took. */
  reserveTimeline(timeline: number): Promise<void>;
  /** Hands the files to the database's user. Call it before the database starts. */
  handOver(): Promise<void>;
  /** Lets anyone start the database. Call it after the replay. */
  complete(): Promise<void>;
}

/** Throws an OperatorError if the data folder has a database. */
export async function placeBase(dataDir: string, entries: AsyncIterable<Entry>): Promise<Placed> {
  const home = await openHome(dataDir);
  const lock = await acquireLock(home);
  try {
    if ((await exists(home.cluster)) && !(await exists(markerOf(home)))) {
      throw new OperatorError(
        `there is a database in ${home.folder}: move that folder away, or restore into an empty data folder`,
      );
    }
    const files = await startReading(entries);
    await writeFile(markerOf(home), '');
    await syncPath(home.folder);
    await breakChain(home);
    const draft = `${home.cluster}.draft`;
    for (const folder of [draft, home.cluster, segmentsOf(home)])
      await rm(folder, { recursive: true, force: true });
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

/** Reads the first entry: a wrong identity or a damaged file is known before anything is placed. */
async function startReading(entries: AsyncIterable<Entry>): Promise<AsyncIterable<Entry>> {
  const reader = entries[Symbol.asyncIterator]();
  const first = await reader.next();
  return (async function* () {
    if (!first.done) yield first.value;
    yield* { [Symbol.asyncIterator]: () => reader };
  })();
}

async function unpack(folder: string, entries: AsyncIterable<Entry>): Promise<BaseEnd> {
  let end: BaseEnd | undefined;
  for await (const entry of entries) {
    const parsed = parseBaseEntry(entry);
    if (parsed.kind === 'end') end = parsed.end;
    else await place(folder, parsed);
  }
  if (end === undefined) throw new OperatorError('the base backup is incomplete');
  return end;
}

async function place(folder: string, entry: Exclude<BaseEntry, { readonly kind: 'end' }>): Promise<void> {
  if (entry.kind === 'header') {
    if (entry.header.postgres === MAJOR_VERSION) return;
    throw new OperatorError(
      `PostgreSQL ${entry.header.postgres} made this base backup: restore it with the release that has it`,
    );
  }
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
  } finally {
    await file.close();
  }
}

function historyOf(timeline: number): string {
  return `${timeline.toString(16).toUpperCase().padStart(8, '0')}.history`;
}
