/**
 * A store of files, and the folder that was in use before it. New files go to the store. Those of the folder
 * stay in use until they are moved.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { hashFile } from '../../kernel/files.ts';
import {
  type BlobAppender,
  BlobDamagedError,
  type BlobInfo,
  type BlobStore,
  type BlobWriter,
  type CopyStore,
  type EarlierBlobs,
  type StoredBlobs,
} from '../../ports/blobs.ts';
import type { DiskBlobs } from './disk.ts';
import type { S3Blobs } from './s3.ts';

export class LayeredBlobs implements BlobStore {
  readonly #disk: DiskBlobs;
  readonly #store: S3Blobs;
  readonly stored: StoredBlobs;
  readonly copies: CopyStore;
  readonly earlier: EarlierBlobs;

  constructor(disk: DiskBlobs, store: S3Blobs) {
    this.#disk = disk;
    this.#store = store;
    this.stored = store.stored;
    this.copies = store.copies;
    this.earlier = {
      keys: () => disk.keys(),
      move: (key, sha256) => this.#move(key, sha256),
    };
  }

  async createWriter(key: string, expectedBytes: number): Promise<BlobWriter> {
    return await this.#store.createWriter(key, expectedBytes);
  }

  async openAppender(key: string, offset: number, expectedBytes: number): Promise<BlobAppender> {
    return offset > 0 && this.#disk.has(key)
      ? await this.#disk.openAppender(key, offset, expectedBytes)
      : await this.#store.openAppender(key, offset);
  }

  async publish(key: string, sizeBytes: number, onChunk: (chunk: Uint8Array) => void): Promise<BlobInfo> {
    return await (this.#disk.has(key) ? this.#disk : this.#store).publish(key, sizeBytes, onChunk);
  }

  path(key: string): string | null {
    const path = this.#disk.path(key);
    return existsSync(path) ? path : null;
  }

  read(key: string, offset: number): AsyncIterable<Uint8Array> {
    return this.path(key) === null ? this.#store.read(key, offset) : this.#disk.read(key, offset);
  }

  async remove(key: string): Promise<void> {
    await this.#disk.remove(key);
    await this.#store.remove(key);
  }

  async check(): Promise<void> {
    await this.#store.check();
  }

  async #move(key: string, sha256: string): Promise<{ sizeBytes: number; sentBytes: number }> {
    const path = this.#disk.path(key);
    const { size: sizeBytes } = await stat(path);
    if ((await hashFile(path)) !== sha256)
      throw new BlobDamagedError('the file on the disk has another SHA-256 than when it was uploaded');
    let sentBytes = 0;
    if ((await this.#store.sizeOf(key)) !== sizeBytes) {
      const writer = this.#store.createResumingWriter(key, sizeBytes);
      for await (const chunk of this.#disk.read(key, 0)) await writer.write(chunk);
      await writer.finish();
      sentBytes = writer.sentBytes;
    }
    const copy = createHash('sha256');
    for await (const chunk of this.#store.read(key, 0)) copy.update(chunk);
    if (copy.digest('hex') !== sha256) {
      await this.#store.remove(key);
      throw new BlobDamagedError('the copy in the store had another SHA-256 and was deleted');
    }
    await this.#disk.remove(key);
    return { sizeBytes, sentBytes };
  }
}
