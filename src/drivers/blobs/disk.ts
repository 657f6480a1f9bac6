/**
 * Blobs as files of one folder, which several processes may share. A file has its name only when it is complete and on
 * the disk; before, it is a `part-…` of its own. Hashing and writing overlap: while the disk takes one piece, the next is
 * received and hashed.
 */
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type BlobFacts, type Blobs, BlobsFull, type BlobWriter } from '../../ports/blobs.ts';

/** Left free for everything else on the disk, the database above all. */
const RESERVE_BYTES = 1024 ** 3;
/** How much may be written between two looks at the room that is left. */
const LOOK_EVERY_BYTES = 64 * 1024 ** 2;

/** What waits for the disk while it is busy; then it is written in one go. */
const HELD_MAX_BYTES = 4 * 1024 ** 2;

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

export interface DiskBlobsOptions {
  readonly folder: string;
  readonly reserveBytes?: number;
}

export class DiskBlobs implements Blobs {
  readonly #folder: string;
  readonly #reserveBytes: number;

  constructor({ folder, reserveBytes = RESERVE_BYTES }: DiskBlobsOptions) {
    this.#folder = folder;
    this.#reserveBytes = reserveBytes;
  }

  async begin(key: string, expectedBytes: number): Promise<BlobWriter> {
    const [part, whole] = [this.#partPath(key), this.path(key)];
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#requireRoom(expectedBytes);
    const file = await open(part, 'wx', 0o600).catch(told);
    return new DiskWriter(file, {
      look: () => this.#requireRoom(0),
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

  async #requireRoom(bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.#folder);
    if (bavail * bsize < bytes + this.#reserveBytes) throw new BlobsFull();
  }
}

interface Place {
  readonly look: () => Promise<void>;
  readonly publish: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

class DiskWriter implements BlobWriter {
  readonly #file: FileHandle;
  readonly #place: Place;
  readonly #hash: Hash = createHash('sha256');
  #sizeBytes = 0;
  /** Hashed, and not yet given to the disk. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #appending: Promise<void> = Promise.resolve();
  #isWriting = false;
  #failure: Error | null = null;
  #lookAtBytes = LOOK_EVERY_BYTES;
  #closed = false;

  constructor(file: FileHandle, place: Place) {
    this.#file = file;
    this.#place = place;
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#failure) throw this.#failure;
    this.#hash.update(chunk);
    this.#sizeBytes += chunk.length;
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (!this.#isWriting) this.#writing = this.#writeHeld();
    // Not until nothing is held: the disk would have to wait for the next piece.
    if (this.#heldBytes >= HELD_MAX_BYTES) await this.#appending;
  }

  async finish(): Promise<BlobFacts> {
    await this.#writing;
    if (this.#failure) throw this.#failure;
    await this.#file.sync().catch(told);
    await this.#close();
    await this.#place.publish().catch(told);
    return { sha256: this.#hash.digest('hex'), sizeBytes: this.#sizeBytes };
  }

  async abort(): Promise<void> {
    this.#held = [];
    await this.#writing;
    await this.#close();
    await this.#place.remove();
  }

  /** Writes until nothing is held. Never fails: what went wrong is told to the next caller. */
  async #writeHeld(): Promise<void> {
    this.#isWriting = true;
    try {
      while (this.#held.length > 0 && !this.#failure) {
        const pieces = this.#held;
        this.#held = [];
        this.#heldBytes = 0;
        this.#appending = this.#append(pieces);
        await this.#appending;
      }
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
    }
    this.#isWriting = false;
  }

  async #append(pieces: Uint8Array[]): Promise<void> {
    if (this.#sizeBytes >= this.#lookAtBytes) {
      this.#lookAtBytes = this.#sizeBytes + LOOK_EVERY_BYTES;
      await this.#place.look();
    }
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const { bytesWritten } = await this.#file.writev(pieces).catch(told);
    if (bytesWritten === bytes) return;
    // A disk that took a part only says why when it is given the rest.
    const rest = Buffer.concat(pieces).subarray(bytesWritten);
    for (let done = 0; done < rest.length; ) {
      done += (await this.#file.write(rest, done).catch(told)).bytesWritten;
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
function told(error: unknown): never {
  const { code } = error as { code?: unknown };
  throw typeof code === 'string' && FULL.has(code) ? new BlobsFull() : error;
}
