/**
 * Blobs as files in one folder, which several processes may share. A file gets its final name only when it is
 * complete and on disk; until then it is a `part-…` file. Hashing and writing overlap: while the disk writes
 * one chunk, the next is received, hashed, and copied. Network buffers can so be freed at once, and memory
 * use stays flat.
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { freeBytes, readFrom, syncPath, undefinedIfMissing } from '../../kernel/files.ts';
import { GIB_BYTES } from '../../kernel/sizes.ts';
import {
  type BlobAppender,
  type BlobInfo,
  BlobMissingError,
  type BlobStore,
  BlobStoreFullError,
  type BlobWriter,
} from '../../ports/blobs.ts';
import { isBlobKey, requireBlobKey } from './keys.ts';

/** Kept free for everything else on the disk, mainly the database. */
const RESERVE_BYTES = GIB_BYTES;
/** How much is written between two checks of the free space. */
const SPACE_CHECK_INTERVAL_BYTES = 64 * 1024 ** 2;

/** Bytes per write and the number of write buffers: an upper bound on memory per blob. */
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
        await syncPath(this.#folder);
      },
      remove: () => this.remove(key),
    });
  }

  async openAppender(key: string, offset: number, expectedBytes: number): Promise<BlobAppender> {
    const part = this.#partPath(key);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#requireSpace(expectedBytes);
    const file = await openPart(part, offset);
    // Its name must be on disk before its bytes count as received.
    if (offset === 0) await syncPath(this.#folder);
    return new DiskAppender(file, offset);
  }

  async publish(key: string, sizeBytes: number, onChunk: (chunk: Uint8Array) => void): Promise<BlobInfo> {
    const [part, whole] = [this.#partPath(key), this.path(key)];
    // A killed call may have renamed it.
    const path = (await stat(part).catch(undefinedIfMissing)) ? part : whole;
    if ((await stat(path).catch(undefinedIfMissing))?.size !== sizeBytes) throw new BlobMissingError();
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
      hash.update(chunk as Buffer);
      onChunk(chunk as Buffer);
    }
    if (path === part) await rename(part, whole);
    await syncPath(this.#folder);
    return { sha256: hash.digest('hex'), sizeBytes };
  }

  path(key: string): string {
    return join(this.#folder, requireBlobKey(key));
  }

  async *read(key: string, offset: number): AsyncGenerator<Uint8Array> {
    const path = this.path(key);
    if ((await stat(path).catch(undefinedIfMissing)) === undefined) throw new BlobMissingError();
    yield* readFrom(path, offset) as AsyncIterable<Uint8Array>;
  }

  /** Whether the blob is here, published or not. */
  has(key: string): boolean {
    return existsSync(this.path(key)) || existsSync(this.#partPath(key));
  }

  /** Returns the keys of the published blobs. */
  async keys(): Promise<string[]> {
    const names = (await readdir(this.#folder).catch(undefinedIfMissing)) ?? [];
    return names.filter((name) => isBlobKey(name));
  }

  async check(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#requireSpace(0);
  }

  async remove(key: string): Promise<void> {
    await Promise.all([this.#partPath(key), this.path(key)].map((path) => rm(path, { force: true })));
  }

  #partPath(key: string): string {
    const whole = this.path(key);
    return join(whole, '..', `part-${key}`);
  }

  async #requireSpace(bytes: number): Promise<void> {
    if ((await freeBytes(this.#folder)) < bytes + this.#reserveBytes) throw new BlobStoreFullError();
  }
}

/** Opens a file to write at `offset`, which is 0 for a new one. */
async function openPart(path: string, offset: number): Promise<FileHandle> {
  if (offset === 0) return await open(path, 'w', 0o600).catch(rethrowDiskError);
  const file = (await open(path, 'r+').catch(undefinedIfMissing)) ?? throwMissing();
  if ((await file.stat()).size >= offset) return file;
  await file.close();
  return throwMissing();
}

function throwMissing(): never {
  throw new BlobMissingError();
}

/** Parts are small, so each chunk is written before the next is received. */
class DiskAppender implements BlobAppender {
  readonly #file: FileHandle;
  #offset: number;

  constructor(file: FileHandle, offset: number) {
    this.#file = file;
    this.#offset = offset;
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let done = 0; done < chunk.length; ) {
      const length = chunk.length - done;
      const written = await this.#file.write(chunk, done, length, this.#offset).catch(rethrowDiskError);
      done += written.bytesWritten;
      this.#offset += written.bytesWritten;
    }
  }

  async finish(): Promise<void> {
    try {
      await this.#file.sync().catch(rethrowDiskError);
    } finally {
      await this.#file.close();
    }
  }

  async abandon(): Promise<void> {
    await this.#file.close();
  }
}

interface BlobTarget {
  readonly checkSpace: () => Promise<void>;
  readonly publish: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** A write buffer, and the completion of the last write from it. */
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
  /** Settles when everything queued is written; after a failure nothing more is written. */
  #writing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(file: FileHandle, target: BlobTarget) {
    this.#file = file;
    this.#target = target;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk);
    this.#sizeBytes += chunk.length;
    for (let from = 0; from < chunk.length; ) {
      const { bytes } = this.#currentChunk();
      const slice = chunk.subarray(from, from + CHUNK_BYTES - this.#filledBytes);
      bytes.set(slice, this.#filledBytes);
      this.#filledBytes += slice.length;
      from += slice.length;
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

  /** Queues the filled chunk; returns when the next buffer is free. Throws an earlier write error. */
  async #flushChunk(): Promise<void> {
    const chunk = this.#currentChunk();
    const filled = chunk.bytes.subarray(0, this.#filledBytes);
    this.#writing = this.#writing.then(() => this.#append(filled));
    // The error is thrown below or in `finish`; until then it must not count as an unhandled rejection.
    this.#writing.catch(() => undefined);
    chunk.written = this.#writing;
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

/** Throws BlobStoreFullError if the disk is full, and the original error otherwise. */
function rethrowDiskError(error: unknown): never {
  const { code } = error as { code?: unknown };
  throw typeof code === 'string' && DISK_FULL_CODES.has(code) ? new BlobStoreFullError() : error;
}
