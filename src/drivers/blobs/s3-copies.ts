/**
 * Copies of snapshots as objects `<prefix>/snapshots/<key>`. The bytes never pass through this process: it
 * begins and ends uploads, and signs a URL for each part. Signing is local, and needs no call.
 */
import { createHash } from 'node:crypto';
import { HOUR_MS, SECOND_MS } from '../../kernel/time.ts';
import {
  BlobMissingError,
  BlobTagError,
  type CopyFile,
  type CopyStore,
  type CopyUpload,
} from '../../ports/blobs.ts';
import { requireBlobKey } from './keys.ts';
import type { S3Calls } from './s3-calls.ts';
import { beginUpload, listParts, listUploads, removeObject } from './s3-multipart.ts';

/** A host that takes longer for its parts gets new URLs. */
const EXPIRY = { expiresIn: HOUR_MS / SECOND_MS };

export class S3Copies implements CopyStore {
  readonly #calls: S3Calls;

  constructor(calls: S3Calls) {
    this.#calls = calls;
  }

  async has(key: string, { sizeBytes, partMd5s }: CopyFile): Promise<boolean> {
    const target = { Bucket: this.#calls.bucket, Key: this.#object(key) };
    try {
      const { ContentLength, ETag } = await this.#calls.run((s3, client, abortSignal) =>
        client.send(new s3.HeadObjectCommand(target), { abortSignal }),
      );
      return ContentLength === sizeBytes && ETag?.replaceAll('"', '') === tagOf(partMd5s);
    } catch (error) {
      if (error instanceof BlobMissingError) return false;
      throw error;
    }
  }

  async open(key: string): Promise<CopyUpload> {
    const object = this.#object(key);
    const [unfinished] = await listUploads(this.#calls, object);
    const id = unfinished?.id ?? (await beginUpload(this.#calls, object));
    const parts = unfinished === undefined ? new Map() : await listParts(this.#calls, object, id);
    const target = { Bucket: this.#calls.bucket, Key: object, UploadId: id };
    return {
      parts: new Map([...parts].map(([number, { etag }]) => [number, etag])),
      signPart: (PartNumber, { sizeBytes, md5 }) => {
        const ContentMD5 = Buffer.from(md5, 'hex').toString('base64');
        const part = { ...target, PartNumber, ContentLength: sizeBytes, ContentMD5 };
        return this.#calls.sign((s3, client, getSignedUrl) =>
          getSignedUrl(client, new s3.UploadPartCommand(part), EXPIRY),
        );
      },
      complete: async (file) => {
        const Parts = file.partMd5s.map((ETag, index) => ({ ETag, PartNumber: index + 1 }));
        await this.#calls.run(
          (s3, client, abortSignal) =>
            client.send(new s3.CompleteMultipartUploadCommand({ ...target, MultipartUpload: { Parts } }), {
              abortSignal,
            }),
          { hasContent: true },
        );
        if (!(await this.has(key, file)))
          throw new BlobTagError('the file store has another file than was sent, or its ETags are no MD5s');
      },
    };
  }

  async signRead(key: string): Promise<string> {
    const target = { Bucket: this.#calls.bucket, Key: this.#object(key) };
    return await this.#calls.sign((s3, client, getSignedUrl) =>
      getSignedUrl(client, new s3.GetObjectCommand(target), EXPIRY),
    );
  }

  async remove(key: string): Promise<void> {
    await removeObject(this.#calls, this.#object(key));
  }

  #object(key: string): string {
    return `${this.#calls.options.prefix}/snapshots/${requireBlobKey(key)}`;
  }
}

/** The ETag of an object that was sent in parts. */
function tagOf(partMd5s: readonly string[]): string {
  const hash = createHash('md5');
  for (const md5 of partMd5s) hash.update(Buffer.from(md5, 'hex'));
  return `${hash.digest('hex')}-${partMd5s.length}`;
}
