/** Files and directories, for all that store something on the disk. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const READ_BYTES = 1024 ** 2;
/** Of a stream that is sent elsewhere. */
const CHUNK_BYTES = 65_536;

/** Syncs a file, or the names in a directory, to the disk. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** For `.catch` of a call on a path that may not exist: then undefined. */
export function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Bytes that may still be written, which are fewer than the free ones if some are kept for root. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Returns the SHA-256 of a file's content in hex. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: READ_BYTES }), hash);
  return hash.digest('hex');
}

/** Returns the bytes of a file from `offset` on, as far as `end` bytes of it. */
export function readFrom(path: string, offset: number, end = Number.POSITIVE_INFINITY): Readable {
  return offset >= end
    ? Readable.from([])
    : createReadStream(path, { start: offset, end: end - 1, highWaterMark: CHUNK_BYTES });
}
