/**
 * Blobs as objects of an S3-compatible store. A blob is `<prefix>/files/<key>`. The parts of an upload that
 * arrives over several requests may be as small as a connection leaves them, so each is an object of its
 * own, `<prefix>/parts/<key>/<offset>`, until the blob is published.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { SECOND_MS } from '../../kernel/time.ts';
import { withTimeout } from '../../kernel/timeout.ts';
import {
  type BlobAppender,
  type BlobInfo,
  BlobMissingError,
  type BlobStore,
  BlobStoreError,
  type BlobWriter,
  type CopyStore,
  type StoredBlob,
  type StoredBlobs,
} from '../../ports/blobs.ts';
import { isBlobKey, requireBlobKey } from './keys.ts';
import { S3Calls, type S3Options, toBlobError } from './s3-calls.ts';
import { S3Copies } from './s3-copies.ts';
import {
  deleteObject,
  findSize,
  listUploads,
  MultipartWriter,
  putObject,
  removeObject,
} from './s3-multipart.ts';

/** How long a read waits for the next bytes, and how often it goes on where it broke off, in a row. */
const IDLE_MS = 20 * SECOND_MS;
const READ_ATTEMPTS = 4;
const DELETIONS_AT_ONCE = 8;
/** Digits of an offset, so that names sort like numbers. */
const OFFSET_DIGITS = 15;

export class S3Blobs implements BlobStore {
  readonly copies: CopyStore;
  readonly stored: StoredBlobs;
  readonly #calls: S3Calls;

  constructor(options: S3Options) {
    this.#calls = new S3Calls(options);
    this.copies = new S3Copies(this.#calls);
    this.stored = {
      list: () => this.list(),
      remove: async (key) => {
        await this.remove(key);
        await this.copies.remove(key);
      },
    };
  }

  async createWriter(key: string, expectedBytes: number): Promise<BlobWriter> {
    return new MultipartWriter(this.#calls, { object: this.#file(key), expectedBytes, resume: false });
  }

  /** A writer for a file that is at hand: it sends what an earlier, unfinished one did not. */
  createResumingWriter(key: string, expectedBytes: number): MultipartWriter {
    return new MultipartWriter(this.#calls, { object: this.#file(key), expectedBytes, resume: true });
  }

  async openAppender(key: string, offset: number): Promise<BlobAppender> {
    return new PartAppender(this.#calls, this.#part(key, offset));
  }

  async publish(key: string, sizeBytes: number, onChunk: (chunk: Uint8Array) => void): Promise<BlobInfo> {
    const info = await this.#joinParts(key, sizeBytes, onChunk).catch(async (error: unknown) => {
      const isLost = error instanceof BlobMissingError && (await this.sizeOf(key)) !== sizeBytes;
      if (isLost || !(error instanceof BlobMissingError)) throw error;
      throw new BlobStoreError('another call published this file meanwhile');
    });
    await this.#removeParts(key).catch((error: unknown) => {
      // The blob is complete. What is left of its parts goes with it.
      if (!(error instanceof BlobStoreError)) throw error;
    });
    return info;
  }

  path(key: string): string | null {
    requireBlobKey(key);
    return null;
  }

  async *read(key: string, offset: number): AsyncGenerator<Uint8Array> {
    yield* this.#readObject(this.#file(key), offset);
  }

  async remove(key: string): Promise<void> {
    await removeObject(this.#calls, this.#file(key));
    await this.#removeParts(key);
  }

  /** Returns the size of a published blob, or null. */
  async sizeOf(key: string): Promise<number | null> {
    return await findSize(this.#calls, this.#file(key));
  }

  async *list(): AsyncGenerator<StoredBlob> {
    const { prefix } = this.#calls.options;
    const keyOf = (name: string) => name.slice(prefix.length + 1).split('/')[1] ?? '';
    for await (const { name, changedAt } of this.#calls.list(`${prefix}/`)) {
      if (isBlobKey(keyOf(name))) yield { key: keyOf(name), changedAt };
    }
    for (const { object, begunAt } of await listUploads(this.#calls, `${prefix}/`, { all: true })) {
      if (isBlobKey(keyOf(object))) yield { key: keyOf(object), changedAt: begunAt };
    }
  }

  async check(): Promise<void> {
    const name = this.#file(randomUUID());
    const content = Buffer.from(name);
    await putObject(this.#calls, name, content);
    const pieces: Uint8Array[] = [];
    let listed = 0;
    try {
      for await (const piece of this.#readObject(name, 0)) pieces.push(piece);
      for await (const { sizeBytes } of this.#calls.list(name)) listed += sizeBytes;
    } finally {
      await removeObject(this.#calls, name);
    }
    if (!Buffer.concat(pieces).equals(content) || listed !== content.length)
      throw new BlobStoreError('SKERRY_S3_BUCKET: the file store does not return what was stored');
  }

  async #removeParts(key: string): Promise<void> {
    const names: string[] = [];
    for await (const { name } of this.#calls.list(this.#parts(key))) names.push(name);
    for (let from = 0; from < names.length; from += DELETIONS_AT_ONCE)
      await Promise.all(
        names.slice(from, from + DELETIONS_AT_ONCE).map((name) => deleteObject(this.#calls, name)),
      );
  }

  /** A call that was killed may have joined them. */
  async #joinParts(key: string, sizeBytes: number, onChunk: (chunk: Uint8Array) => void): Promise<BlobInfo> {
    const isJoined = (await this.sizeOf(key)) === sizeBytes;
    const writer = isJoined ? null : this.createResumingWriter(key, sizeBytes);
    const hash = createHash('sha256');
    let readBytes = 0;
    const chunks = isJoined ? this.read(key, 0) : this.#readParts(key, sizeBytes);
    for await (const chunk of chunks) {
      readBytes += chunk.length;
      hash.update(chunk);
      onChunk(chunk);
      await writer?.write(chunk);
    }
    if (readBytes !== sizeBytes) throw new BlobMissingError();
    await writer?.finish();
    return { sha256: hash.digest('hex'), sizeBytes };
  }

  /** Each part begins where the previous one ends. What a killed request wrote elsewhere is left out. */
  async *#readParts(key: string, sizeBytes: number): AsyncGenerator<Uint8Array> {
    const sizes = new Map<string, number>();
    for await (const { name, sizeBytes: size } of this.#calls.list(this.#parts(key))) sizes.set(name, size);
    for (let offset = 0; offset < sizeBytes; ) {
      const name = this.#part(key, offset);
      const size = sizes.get(name) ?? 0;
      if (size === 0 || offset + size > sizeBytes) throw new BlobMissingError();
      yield* this.#readObject(name, 0);
      offset += size;
    }
  }

  /** Goes on where a broken connection ended. */
  async *#readObject(object: string, from: number): AsyncGenerator<Uint8Array> {
    let offset = from;
    for (let attempt = 1; ; attempt += 1) {
      try {
        for await (const chunk of this.#readOnce(object, offset)) {
          yield chunk;
          offset += chunk.length;
          attempt = 1;
        }
        return;
      } catch (error) {
        if (attempt >= READ_ATTEMPTS || !(error instanceof BlobStoreError)) throw error;
      }
    }
  }

  async *#readOnce(object: string, offset: number): AsyncGenerator<Uint8Array> {
    const range = offset === 0 ? {} : { Range: `bytes=${offset}-` };
    const request = { Bucket: this.#calls.bucket, Key: object, ...range };
    const { Body, ContentLength, ContentRange } = await this.#calls.run((s3, client, abortSignal) =>
      client
        .send(new s3.GetObjectCommand(request), { abortSignal })
        .catch((error: unknown) => nothingBehindTheEnd(error, offset)),
    );
    const body = Body as unknown as (AsyncIterable<Uint8Array> & { destroy(): void }) | undefined;
    if (body === undefined) return;
    if (offset > 0 && !ContentRange?.startsWith(`bytes ${offset}-`)) {
      body.destroy();
      throw new BlobStoreError('the file store sent another part of a file than was asked for');
    }
    const chunks = body[Symbol.asyncIterator]();
    const idleMs = this.#calls.options.timeoutMs ?? IDLE_MS;
    let left = ContentLength ?? Number.POSITIVE_INFINITY;
    const { signal } = this.#calls.options;
    const stop = () => body.destroy();
    signal?.addEventListener('abort', stop);
    try {
      for (;;) {
        const next = await withTimeout(chunks.next(), idleMs).catch((error: unknown) => {
          throw toReadError(error);
        });
        if (next.done === true) break;
        left -= next.value.length;
        yield next.value;
      }
      if (left > 0 && ContentLength !== undefined) throw toReadError(undefined);
    } finally {
      signal?.removeEventListener('abort', stop);
      body.destroy();
    }
  }

  #file(key: string): string {
    return `${this.#calls.options.prefix}/files/${requireBlobKey(key)}`;
  }

  #parts(key: string): string {
    return `${this.#calls.options.prefix}/parts/${requireBlobKey(key)}/`;
  }

  #part(key: string, offset: number): string {
    return this.#parts(key) + String(offset).padStart(OFFSET_DIGITS, '0');
  }
}

/** A store refuses a range that begins at the end, or behind it. */
function nothingBehindTheEnd(error: unknown, offset: number): Partial<GetObjectCommandOutput> {
  if (offset > 0 && (error as { readonly name?: string }).name === 'InvalidRange') return {};
  throw error;
}

function toReadError(error: unknown): unknown {
  const known = toBlobError(error ?? {});
  return known instanceof BlobStoreError ? known : new BlobStoreError('the file store broke off an answer');
}

/** A part is small, and is kept in memory until it is complete, or its request ends. */
class PartAppender implements BlobAppender {
  readonly #calls: S3Calls;
  readonly #object: string;
  readonly #chunks: Buffer[] = [];

  constructor(calls: S3Calls, object: string) {
    this.#calls = calls;
    this.#object = object;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#chunks.push(Buffer.from(chunk));
  }

  async finish(): Promise<void> {
    const bytes = Buffer.concat(this.#chunks);
    if (bytes.length > 0) await putObject(this.#calls, this.#object, bytes);
  }

  async abandon(): Promise<void> {
    this.#chunks.length = 0;
  }
}
