/**
 * Writes one object in parts of 8 MiB or more. While a part is sent, the next one is filled. The store
 * compares each part with its MD5. The object appears with the last call, whole, or not at all.
 *
 * A writer that resumes looks for the unfinished upload of its object, and sends only parts that the store
 * lacks: those that have the same MD5 are there already.
 */
import { createHash, type Hash } from 'node:crypto';
import { type BlobInfo, BlobMissingError, BlobStoreError, type BlobWriter } from '../../ports/blobs.ts';
import type { S3Calls } from './s3-calls.ts';

const MIB = 1024 ** 2;
/** The least that stores accept for a part that is not the last one is 5 MiB. */
const PART_BYTES = 8 * MIB;
/** Stores accept 10,000. */
const PARTS_MAX = 9_000;

export interface MultipartOptions {
  readonly object: string;
  readonly expectedBytes: number;
  /** Continues an unfinished upload of this object. */
  readonly resume: boolean;
}

interface SentPart {
  readonly sizeBytes: number;
  readonly etag: string;
}

export class MultipartWriter implements BlobWriter {
  readonly #calls: S3Calls;
  readonly #options: MultipartOptions;
  readonly #hash: Hash = createHash('sha256');
  readonly #partBytes: number;
  readonly #etags: string[] = [];
  #uploadId: string | undefined;
  #had: ReadonlyMap<number, SentPart> = new Map();
  #buffers: [Buffer | null, Buffer | null] = [null, null];
  #filledBytes = 0;
  #sizeBytes = 0;
  /** Settles when every part so far is stored; after a failure nothing more is sent. */
  #sending: Promise<void> = Promise.resolve();
  /** Bytes that the store did not have yet. */
  sentBytes = 0;

  constructor(calls: S3Calls, options: MultipartOptions) {
    this.#calls = calls;
    this.#options = options;
    const least = Math.ceil(options.expectedBytes / PARTS_MAX / MIB) * MIB;
    this.#partBytes = Math.max(PART_BYTES, least);
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk);
    this.#sizeBytes += chunk.length;
    for (let from = 0; from < chunk.length; ) {
      this.#buffers[0] ??= Buffer.allocUnsafeSlow(this.#partBytes);
      const slice = chunk.subarray(from, from + this.#partBytes - this.#filledBytes);
      this.#buffers[0].set(slice, this.#filledBytes);
      this.#filledBytes += slice.length;
      from += slice.length;
      if (this.#filledBytes === this.#partBytes) await this.#sendFilled();
    }
  }

  async finish(): Promise<BlobInfo> {
    const info = { sha256: this.#hash.digest('hex'), sizeBytes: this.#sizeBytes };
    if (this.#etags.length === 0 && this.#uploadId === undefined && !this.#options.resume) {
      await this.#putWhole();
    } else {
      if (this.#filledBytes > 0 || this.#etags.length === 0) await this.#sendFilled();
      await this.#sending;
      await this.#complete();
    }
    await this.#requireSize();
    return info;
  }

  /** Ends this upload only: an object of the same name stays. */
  async abandon(): Promise<void> {
    await this.#sending.catch(() => undefined);
    if (this.#uploadId !== undefined) await endUpload(this.#calls, this.#options.object, this.#uploadId);
  }

  async abort(): Promise<void> {
    await this.#sending.catch(() => undefined);
    await removeObject(this.#calls, this.#options.object);
  }

  /** Returns when the other buffer is free. Throws an earlier error. */
  async #sendFilled(): Promise<void> {
    const bytes = (this.#buffers[0] ?? Buffer.alloc(0)).subarray(0, this.#filledBytes);
    await this.#sending;
    const number = this.#etags.length + 1;
    this.#etags.push('');
    this.#sending = this.#sendPart(number, bytes);
    // The error is thrown by the next call; until then it must not count as an unhandled rejection.
    this.#sending.catch(() => undefined);
    this.#buffers = [this.#buffers[1], this.#buffers[0]];
    this.#filledBytes = 0;
  }

  async #sendPart(number: number, bytes: Buffer): Promise<void> {
    const md5 = createHash('md5').update(bytes).digest();
    const id = this.#uploadId ?? (await this.#begin().catch(rethrowEnded));
    const had = this.#had.get(number);
    if (had?.sizeBytes === bytes.length && had.etag === md5.toString('hex')) {
      this.#etags[number - 1] = had.etag;
      return;
    }
    const { ETag } = await this.#calls
      .run(
        (s3, client, abortSignal) =>
          client.send(
            new s3.UploadPartCommand({
              ...this.#target,
              UploadId: id,
              PartNumber: number,
              Body: bytes,
              ContentMD5: md5.toString('base64'),
            }),
            { abortSignal },
          ),
        { hasContent: true },
      )
      .catch(rethrowEnded);
    this.#etags[number - 1] = ETag ?? md5.toString('hex');
    this.sentBytes += bytes.length;
  }

  async #begin(): Promise<string> {
    const { object, resume } = this.#options;
    const [unfinished] = resume ? await listUploads(this.#calls, object) : [];
    if (unfinished !== undefined) {
      this.#had = await listParts(this.#calls, object, unfinished.id);
      this.#uploadId = unfinished.id;
      return unfinished.id;
    }
    this.#uploadId = await beginUpload(this.#calls, object);
    return this.#uploadId;
  }

  async #putWhole(): Promise<void> {
    const bytes = (this.#buffers[0] ?? Buffer.alloc(0)).subarray(0, this.#filledBytes);
    await putObject(this.#calls, this.#options.object, bytes);
    this.sentBytes += bytes.length;
  }

  async #complete(): Promise<void> {
    const Parts = this.#etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }));
    await this.#calls
      .run(
        (s3, client, abortSignal) =>
          client.send(
            new s3.CompleteMultipartUploadCommand({
              ...this.#target,
              UploadId: this.#uploadId,
              MultipartUpload: { Parts },
            }),
            { abortSignal },
          ),
        { hasContent: true },
      )
      .catch((error: unknown) => {
        // An answer that was lost: it is complete already, which the size below proves.
        if (!(error instanceof BlobMissingError)) throw error;
      });
  }

  async #requireSize(): Promise<void> {
    const found = await findSize(this.#calls, this.#options.object);
    if (found !== this.#sizeBytes) throw new BlobStoreError('the file store has another size than was sent');
  }

  get #target(): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#calls.bucket, Key: this.#options.object };
  }
}

/** Returns the id of a new upload. */
export async function beginUpload(calls: S3Calls, object: string): Promise<string> {
  const target = { Bucket: calls.bucket, Key: object };
  const { UploadId } = await calls.run((s3, client, abortSignal) =>
    client.send(new s3.CreateMultipartUploadCommand(target), { abortSignal }),
  );
  if (UploadId === undefined) throw new BlobStoreError('the file store began no upload');
  return UploadId;
}

/** Another call or a rule of the bucket ended the upload. No bytes that counted are lost. */
function rethrowEnded(error: unknown): never {
  throw error instanceof BlobMissingError ? new BlobStoreError('the file store ended an upload') : error;
}

export async function putObject(calls: S3Calls, object: string, bytes: Uint8Array): Promise<void> {
  const ContentMD5 = createHash('md5').update(bytes).digest('base64');
  const target = { Bucket: calls.bucket, Key: object, Body: bytes, ContentMD5 };
  await calls.run(
    (s3, client, abortSignal) => client.send(new s3.PutObjectCommand(target), { abortSignal }),
    { hasContent: true },
  );
}

/** Returns null if there is no such object. */
export async function findSize(calls: S3Calls, object: string): Promise<number | null> {
  try {
    const { ContentLength } = await calls.run((s3, client, abortSignal) =>
      client.send(new s3.HeadObjectCommand({ Bucket: calls.bucket, Key: object }), { abortSignal }),
    );
    return ContentLength ?? null;
  } catch (error) {
    if (error instanceof BlobMissingError) return null;
    throw error;
  }
}

/** Deletes the object, and ends its unfinished uploads. */
export async function removeObject(calls: S3Calls, object: string): Promise<void> {
  for (const { id } of await listUploads(calls, object)) await endUpload(calls, object, id);
  await deleteObject(calls, object);
}

/** Ends an unfinished upload. Succeeds if it has ended. */
export async function endUpload(calls: S3Calls, object: string, id: string): Promise<void> {
  const target = { Bucket: calls.bucket, Key: object, UploadId: id };
  await calls
    .run((s3, client, abortSignal) =>
      client.send(new s3.AbortMultipartUploadCommand(target), { abortSignal }),
    )
    .catch((error: unknown) => {
      if (!(error instanceof BlobMissingError)) throw error;
    });
}

/** Deletes an object that is never written in parts. */
export async function deleteObject(calls: S3Calls, object: string): Promise<void> {
  const target = { Bucket: calls.bucket, Key: object };
  await calls.run((s3, client, abortSignal) =>
    client.send(new s3.DeleteObjectCommand(target), { abortSignal }),
  );
}

interface UnfinishedUpload {
  readonly object: string;
  readonly id: string;
  readonly begunAt: Date;
}

/** Lists the unfinished uploads of an object, or of all whose names begin with it. The newest is first. */
export async function listUploads(
  calls: S3Calls,
  prefix: string,
  { all = false }: { readonly all?: boolean } = {},
): Promise<UnfinishedUpload[]> {
  const found: UnfinishedUpload[] = [];
  let marker: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } = {};
  for (;;) {
    const request = { Bucket: calls.bucket, Prefix: prefix, ...marker };
    const page = await calls.run((s3, client, abortSignal) =>
      client.send(new s3.ListMultipartUploadsCommand(request), { abortSignal }),
    );
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Key === undefined || UploadId === undefined || (!all && Key !== prefix)) continue;
      found.push({ object: Key, id: UploadId, begunAt: Initiated ?? new Date(0) });
    }
    const { IsTruncated, NextKeyMarker, NextUploadIdMarker } = page;
    if (!IsTruncated || NextKeyMarker === undefined) break;
    marker = {
      KeyMarker: NextKeyMarker,
      ...(NextUploadIdMarker === undefined ? {} : { UploadIdMarker: NextUploadIdMarker }),
    };
  }
  return found.sort((a, b) => b.begunAt.getTime() - a.begunAt.getTime());
}

/** Lists the parts of an unfinished upload that the store has. */
export async function listParts(calls: S3Calls, object: string, id: string): Promise<Map<number, SentPart>> {
  const parts = new Map<number, SentPart>();
  let after: string | undefined;
  do {
    const target = { Bucket: calls.bucket, Key: object, UploadId: id };
    const request = after === undefined ? target : { ...target, PartNumberMarker: after };
    const page = await calls.run((s3, client, abortSignal) =>
      client.send(new s3.ListPartsCommand(request), { abortSignal }),
    );
    for (const { PartNumber, Size, ETag } of page.Parts ?? []) {
      if (PartNumber === undefined || Size === undefined || ETag === undefined) continue;
      parts.set(PartNumber, { sizeBytes: Size, etag: ETag.replaceAll('"', '') });
    }
    after = page.IsTruncated ? page.NextPartNumberMarker : undefined;
  } while (after !== undefined);
  return parts;
}
