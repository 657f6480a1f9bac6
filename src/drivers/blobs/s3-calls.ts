/**
 * Calls of an S3-compatible store: bounded in time and in attempts, with errors that name the setting to
 * look at. Texts of the store and of the network are never passed on, because they contain addresses. The
 * client is loaded with the first call.
 */
import type * as S3 from '@aws-sdk/client-s3';
import type * as Presigner from '@aws-sdk/s3-request-presigner';
import { loadOnce } from '../../kernel/faults/load-once.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { BlobMissingError, BlobStoreError, BlobStoreFullError } from '../../ports/blobs.ts';

export interface S3Options {
  /** Of the store, without the bucket. */
  readonly url: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** The bucket is a part of the host name. Otherwise, it is the first part of the path. */
  readonly hostStyle: boolean;
  /** The beginning of the names of all our objects, without a slash at the end. */
  readonly prefix: string;
  /** Ends all calls. */
  readonly signal?: AbortSignal;
  /** How long a call may take, with its retries. Default: 20 s, and a minute with content. */
  readonly timeoutMs?: number;
}

const CALL_MS = 20 * SECOND_MS;
const CONTENT_MS = 60 * SECOND_MS;
const CONNECT_MS = 5 * SECOND_MS;
/** Retries of the client wait up to 20 s in all. */
const ATTEMPTS = 4;
const SOCKETS = 32;

const MISSING = new Set(['NoSuchKey', 'NotFound', 'NoSuchUpload']);
const FULL = new Set(['QuotaExceeded', 'InsufficientStorage', 'XMinioStorageFull', 'EntityTooLarge']);
const BAD_KEY = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch']);
const BAD_REGION = new Set(['AuthorizationHeaderMalformed', 'PermanentRedirect']);

export type S3Module = typeof S3;
type GetSignedUrl = typeof Presigner.getSignedUrl;

interface ListedObject {
  readonly name: string;
  readonly sizeBytes: number;
  readonly changedAt: Date;
}

export class S3Calls {
  readonly options: S3Options;
  readonly #open = loadOnce(() => this.#load());

  constructor(options: S3Options) {
    this.options = options;
  }

  /** Throws BlobMissingError for what is not there, and BlobStoreError if the store does not do it. */
  async run<Output extends object>(
    work: (s3: S3Module, client: S3.S3Client, abortSignal: AbortSignal) => Promise<Output>,
    { hasContent = false }: { readonly hasContent?: boolean } = {},
  ): Promise<Output> {
    const { s3, client } = await this.#open();
    const abort = new AbortController();
    const limitMs = this.options.timeoutMs ?? (hasContent ? CONTENT_MS : CALL_MS);
    const timer = setTimeout(() => abort.abort(), limitMs);
    try {
      const { signal } = this.options;
      return await work(s3, client, signal ? AbortSignal.any([signal, abort.signal]) : abort.signal);
    } catch (error) {
      throw toBlobError(error, abort.signal.aborted);
    } finally {
      // The waits of its reader bound a download.
      clearTimeout(timer);
    }
  }

  /** Returns a signed URL. Signing is local. */
  async sign(
    work: (s3: S3Module, client: S3.S3Client, getSignedUrl: GetSignedUrl) => Promise<string>,
  ): Promise<string> {
    const { s3, client } = await this.#open();
    const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
    return await work(s3, client, getSignedUrl);
  }

  /** Lists the objects whose names begin with `prefix`, in the order of their names. */
  async *list(prefix: string): AsyncGenerator<ListedObject> {
    let token: string | undefined;
    do {
      const target = { Bucket: this.bucket, Prefix: prefix };
      const request = token === undefined ? target : { ...target, ContinuationToken: token };
      const page = await this.run((s3, client, abortSignal) =>
        client.send(new s3.ListObjectsV2Command(request), { abortSignal }),
      );
      for (const { Key, Size, LastModified } of page.Contents ?? []) {
        if (Key !== undefined)
          yield { name: Key, sizeBytes: Size ?? 0, changedAt: LastModified ?? new Date() };
      }
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  get bucket(): string {
    return this.options.bucket;
  }

  async #load(): Promise<{ readonly s3: S3Module; readonly client: S3.S3Client }> {
    const s3 = await import('@aws-sdk/client-s3');
    const { url, region, accessKey, secretKey, hostStyle } = this.options;
    const client = new s3.S3Client({
      endpoint: url,
      region,
      credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
      forcePathStyle: !hostStyle,
      maxAttempts: ATTEMPTS,
      // Newer kinds of checksums, which many stores do not know. We send and compare our own.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT_MS,
        httpAgent: { maxSockets: SOCKETS, keepAlive: true },
        httpsAgent: { maxSockets: SOCKETS, keepAlive: true },
      },
    });
    return { s3, client };
  }
}

/** Returns the error of the port. Bugs stay as they are. */
export function toBlobError(error: unknown, isTimeout = false): unknown {
  if (error instanceof BlobStoreError || error instanceof BlobMissingError) return error;
  const { name, code, $metadata } = error as {
    readonly name?: string;
    readonly code?: string;
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  const status = $metadata?.httpStatusCode;
  if (isTimeout) return new BlobStoreError('the file store at SKERRY_S3_URL does not answer in time');
  if (status === undefined && code === undefined && name !== 'TimeoutError' && name !== 'AbortError')
    return error;
  const word = /^\w{1,60}$/.test(name ?? '') && name !== 'Error' ? name : (code ?? `HTTP ${status}`);
  if (MISSING.has(name ?? '')) return new BlobMissingError();
  if (FULL.has(name ?? '') || status === 507) return new BlobStoreFullError();
  if (name === 'NoSuchBucket')
    return new BlobStoreError('SKERRY_S3_BUCKET: the file store has no such bucket; create it');
  if (BAD_KEY.has(name ?? ''))
    return new BlobStoreError(
      `SKERRY_S3_ACCESS_KEY, SKERRY_S3_SECRET_KEY: the file store rejects the key (${word})`,
    );
  if (BAD_REGION.has(name ?? ''))
    return new BlobStoreError(`SKERRY_S3_REGION: the bucket is in another region (${word})`);
  if (name === 'RequestTimeTooSkewed')
    return new BlobStoreError('the clock of this machine differs from that of the file store: set it');
  if (status === 403)
    return new BlobStoreError(
      'SKERRY_S3_BUCKET: the key may not read, write, list, and delete in this bucket',
    );
  return new BlobStoreError(`the file store at SKERRY_S3_URL is unavailable: ${word}`);
}
