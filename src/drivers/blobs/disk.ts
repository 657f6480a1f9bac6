/**
 * Blobs as files of one folder, which several processes may share. A file has its name only when it is complete and on
 * the disk; before, it is a `part-…` of its own. Hashing and writing overlap: while the disk takes one piece, the next is
 * received, hashed and copied together, so that what comes from the network is garbage at once and memory stays flat.
 */
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { GIB_BYTES } from '../../kernel/sizes.ts';
import { type BlobInfo, type BlobStore, BlobStoreFullError, type BlobWriter } from '../../ports/blobs.ts';

/** Left free for everything else on the disk, the database above all. */
const RESERVE_BYTES = GIB_BYTES;
/** How much may be written between two looks at the room that is left. */
const SPACE_CHECK_INTERVAL_BYTES = 64 * 1024 ** 2;

/** How much is written at once, and how many such pieces are filled or wait for the disk: all that is held in memory. */
const CHUNK_BYTES = 1024 ** 2;
const CHUNK_COUNT = 4;

const DISK_FULL_CODES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

export interface DiskBlobsOptions {
  readonly folder: string;
  readonly reserveBytes?: number;
}

export class DiskBlobs implements BlobStore {
  readonly #folder: string;
  readonly #reserveBytes: number;

  constructor({ folder, reserveBytes = RESERVE_BYTES }: DiskBlobsOptions) {
    this.#folder = folder;
    this.#reserveBytes = reserveBytes;
  }

  async createWriter(key: string, expectedBytes: number): Promise<BlobWriter> {
    const [part, whole] = [this.#partPath(key), this.path(key)];
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#requireSpace(expectedBytes);
    const file = await open(part, 'wx', 0o600).catch(rethrowDiskError);
    return new DiskWriter(file, {
      checkSpace: () => this.#requireSpace(0),
      publish: async () => {
        await rename(part, whole);
        await syncFolder(this.#folder);
      },
      remove: () => this.remove(key),
    });
  }

  path(key: string): string {
    // Keys are ids of ours. A name of somebody else's must never become a path.
    if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(key)) throw new Error('not the key of a blob');
    return join(this.#folder, key);
  }

  async remove(key: string): Promise<void> {
    await Promise.all([this.#partPath(key), this.path(key)].map((path) => rm(path, { force: true })));
  }

  #partPath(key: string): string {
    const whole = this.path(key);
    return join(whole, '..', `part-${key}`);
  }

  async #requireSpace(bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.#folder);
    if (bavail * bsize < bytes + this.#reserveBytes) throw new BlobStoreFullError();
  }
}

interface BlobTarget {
  readonly checkSpace: () => Promise<void>;
  readonly publish: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** A place for one piece, and when the disk has taken what was in it last. */
interface WriteChunk {
  readonly bytes: Buffer;
  written: Promise<void>;
}

class DiskWriter implements BlobWriter {
  readonly #file: FileHandle;
  readonly #target: BlobTarget;
  readonly #hash: Hash = createHash('sha256');
  readonly #chunks: WriteChunk[] = [];
  #current = 0;
  #filledBytes = 0;
  #sizeBytes = 0;
  #nextSpaceCheckBytes = SPACE_CHECK_INTERVAL_BYTES;
  /** Until everything that was passed on is written; after a failure nothing is. */
  #writing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(file: FileHandle, place: BlobTarget) {
    this.#file = file;
    this.#target = place;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk);
    this.#sizeBytes += chunk.length;
    for (let from = 0; from < chunk.length; ) {
      const { bytes } = this.#currentChunk();
      const some = chunk.subarray(from, from + CHUNK_BYTES - this.#filledBytes);
      bytes.set(some, this.#filledBytes);
      this.#filledBytes += some.length;
      from += some.length;
      if (this.#filledBytes === CHUNK_BYTES) await this.#flushChunk();
    }
  }

  async finish(): Promise<BlobInfo> {
    await this.#flushChunk();
    await this.#writing;
    await this.#file.sync().catch(rethrowDiskError);
    await this.#close();
    await this.#target.publish().catch(rethrowDiskError);
    return { sha256: this.#hash.digest('hex'), sizeBytes: this.#sizeBytes };
  }

  async abort(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await this.#close();
    await this.#target.remove();
  }

  #currentChunk(): WriteChunk {
    this.#chunks[this.#current] ??= {
      bytes: Buffer.allocUnsafeSlow(CHUNK_BYTES),
      written: Promise.resolve(),
    };
    return this.#chunks[this.#current] as WriteChunk;
  }

  /** Has what is filled written, and returns when there is a place to go on in. Throws what went wrong before. */
  async #flushChunk(): Promise<void> {
    const piece = this.#currentChunk();
    const filled = piece.bytes.subarray(0, this.#filledBytes);
    this.#writing = this.#writing.then(() => this.#append(filled));
    // It is heard below, or at the end; until then it is nobody's unhandled failure.
    this.#writing.catch(() => undefined);
    piece.written = this.#writing;
    this.#current = (this.#current + 1) % CHUNK_COUNT;
    this.#filledBytes = 0;
    await this.#currentChunk().written;
  }

  async #append(bytes: Uint8Array): Promise<void> {
    if (this.#sizeBytes >= this.#nextSpaceCheckBytes) {
      this.#nextSpaceCheckBytes = this.#sizeBytes + SPACE_CHECK_INTERVAL_BYTES;
      await this.#target.checkSpace();
    }
    for (let done = 0; done < bytes.length; ) {
      done += (await this.#file.write(bytes, done).catch(rethrowDiskError)).bytesWritten;
    }
  }

  async #close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#file.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A full disk by its own name. */
function rethrowDiskError(error: unknown): never {
  const { code } = error as { code?: unknown };
  throw typeof code === 'string' && DISK_FULL_CODES.has(code) ? new BlobStoreFullError() : error;
}
