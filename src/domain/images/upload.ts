/**
 * Receives an image file of up to 4 GiB, before it is known whether an image may be created from it.
 *
 * Each upload has a row, which the receiving process keeps alive with a heartbeat, and an `image_remove`
 * task, which checks it every minute. One commit turns the row into the image. Only the process that ends the
 * row decides about the file: the commit keeps it, every other path removes it. So no file outlives a
 * refused, aborted, or killed upload, and two processes never remove each other's file.
 */

import { Failure, fail, invalidRequest, quotaExceeded, requireQuota } from '../../kernel/fail.ts';
import { newId } from '../../kernel/ids.ts';
import { digest } from '../../kernel/secrets.ts';
import type { Quotas } from '../../kernel/settings/lists.ts';
import { GIB_BYTES, toGib } from '../../kernel/sizes.ts';
import type { Sql } from '../../kernel/sql.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { BlobStoreError } from '../../ports/blobs.ts';
import { LIMITS } from '../../spec/limits.ts';
import { lockCustomer } from '../../store/customers/customers.ts';
import { findStoredResponse } from '../../store/idempotency.ts';
import {
  countUploads,
  endUpload,
  extendUpload,
  insertUpload,
  readImageUsage,
} from '../../store/images/images.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { readQuotas } from '../customers/own-limits.ts';

/** How long an upload without a heartbeat counts as alive, and the interval of the heartbeat. */
const UPLOAD_LEASE_S = 90;
const HEARTBEAT_MS = 30_000;
const RETRY_AFTER_S = 60;

/** A completely received file. */
export interface ReceivedFile {
  /** Lowercase hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly isIso: boolean;
}

/** One text part as received; a value that is too long is truncated. */
export interface ReceivedField {
  readonly name: string;
  readonly value: string;
}

/** All parts of a request. The owner passes it to `createImage`, and always calls `discard` afterwards. */
export interface ReceivedUpload {
  /** Id of the image that it becomes. */
  readonly id: string;
  /** In the order of arrival. */
  readonly fields: readonly ReceivedField[];
  /** Number of parts named `file`, of which the first was used. */
  readonly files: number;
  readonly file: ReceivedFile | null;
  /** Removes the file, unless an image was created from it. Never fails. */
  discard(): Promise<void>;
}

/** An admitted upload. */
export interface Upload {
  readonly id: string;
  /**
   * Receives the file. Refuses one over the limit as early as possible, and a full or absent store with
   * `maintenance`.
   */
  receive(chunks: AsyncIterable<Uint8Array>): Promise<ReceivedFile>;
  /** As in ReceivedUpload. */
  discard(): Promise<void>;
}

export interface UploadRequest {
  /** Minimum size of the file, as far as it is known in advance. */
  readonly atLeastBytes: number;
  /** The Idempotency-Key. A key with a stored response bypasses the quotas, to be compared with it. */
  readonly key: string | undefined;
}

/**
 * Admits an upload. Refuses with `limit_reached` if no image could be created from it, with `conflict_state`
 * if the customer has too many uploads in progress, and with 400 if its declared size is too large.
 */
export async function beginUpload(
  service: Service,
  actor: CustomerActor,
  { atLeastBytes, key }: UploadRequest,
): Promise<Upload> {
  if (atLeastBytes > LIMITS.imageUploadMaxBytes) throwTooLarge();
  try {
    return await admitUpload(service, actor, { atLeastBytes, quotas: true });
  } catch (error) {
    // This may be a retry whose first response was lost, and the first attempt used up the quota.
    const full = error instanceof Failure && error.code === 'limit_reached';
    if (!full || key === undefined || !(await hasStoredResponse(service, actor, key))) throw error;
    return await admitUpload(service, actor, { atLeastBytes, quotas: false });
  }
}

async function admitUpload(
  service: Service,
  { customerId }: CustomerActor,
  { atLeastBytes, quotas }: { atLeastBytes: number; quotas: boolean },
): Promise<Upload> {
  const id = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const uploadId = newId(now);
    await lockCustomer(tx, customerId);
    if (quotas) {
      const limits = await readQuotas(service, tx, customerId);
      requireImageQuota(limits, await readImageUsage(tx, customerId), atLeastBytes);
    }
    await requireUploadSlot(tx, customerId, now);
    await insertUpload(tx, { id: uploadId, customerId, aliveS: UPLOAD_LEASE_S });
    await enqueueTask(tx, { kind: 'image_remove', subject: uploadId, now });
    return uploadId;
  });
  return openUpload(service, id, atLeastBytes);
}

/** Refuses with `conflict_state` if the customer, who is locked, has too many uploads in progress. */
export async function requireUploadSlot(tx: Sql, customerId: string, now: Date): Promise<void> {
  if ((await countUploads(tx, customerId, now)) < LIMITS.imageUploadsConcurrent) return;
  fail(
    'conflict_state',
    {},
    `${LIMITS.imageUploadsConcurrent} uploads are in progress. Try again when one of them has finished.`,
  );
}

function openUpload(service: Service, id: string, atLeastBytes: number): Upload {
  let receiving: Promise<unknown> = Promise.resolve();
  const heartbeat = setInterval(() => {
    extendUpload(service.db, id, UPLOAD_LEASE_S).catch((error: unknown) =>
      service.log.warn({ err: error }, 'upload lease could not be extended'),
    );
  }, HEARTBEAT_MS).unref();
  return {
    id,
    receive: async (chunks) => {
      const received = receiveFile(service, id, chunks, atLeastBytes);
      receiving = received.catch(() => undefined);
      return await received;
    },
    discard: async () => {
      clearInterval(heartbeat);
      await receiving;
      await discardUpload(service, id);
    },
  };
}

/** If this fails, the task discards the upload later. */
async function discardUpload(service: Service, id: string): Promise<void> {
  try {
    if (await endUpload(service.db, id)) await service.blobs.remove(id);
  } catch (error) {
    service.log.warn({ err: error }, 'upload could not be discarded; its task will retry');
  }
}

async function receiveFile(
  service: Service,
  id: string,
  chunks: AsyncIterable<Uint8Array>,
  expectedBytes: number,
): Promise<ReceivedFile> {
  const probe = new IsoProbe();
  let sizeBytes = 0;
  try {
    const writer = await service.blobs.createWriter(id, expectedBytes);
    try {
      for await (const chunk of chunks) {
        sizeBytes += chunk.length;
        if (sizeBytes > LIMITS.imageUploadMaxBytes) throwTooLarge();
        probe.push(chunk);
        await writer.write(chunk);
      }
      const facts = await writer.finish();
      return { ...facts, isIso: probe.isIso() };
    } catch (error) {
      await writer
        .abort()
        .catch((err: unknown) => service.log.warn({ err }, 'upload could not be aborted; its task will'));
      throw error;
    }
  } catch (error) {
    if (!(error instanceof BlobStoreError)) throw error;
    service.log.error({ err: error }, 'an upload could not be stored');
    return fail('maintenance', { retry_after_s: RETRY_AFTER_S });
  }
}

function throwTooLarge(): never {
  const max = LIMITS.imageUploadMaxBytes;
  invalidRequest([{ field: 'file', issue: 'max', max }], `An image can have at most ${max} bytes.`);
}

async function hasStoredResponse(service: Service, actor: CustomerActor, key: string): Promise<boolean> {
  const retainedSince = new Date(service.clock.now().getTime() - LIMITS.idempotencyRetentionHours * HOUR_MS);
  const { customerId } = actor;
  return (
    (await findStoredResponse(service.db, { customerId, keyDigest: digest(key), retainedSince })) !==
    undefined
  );
}

/** Refuses with `limit_reached` if the customer has too many images, or no room for `moreBytes`. */
export function requireImageQuota(
  quotas: Quotas,
  used: { readonly count: number; readonly bytes: number },
  moreBytes: number,
): void {
  const { customImages, customImagesGb } = quotas;
  requireQuota('customImages', customImages, used.count, { field: 'file' });
  if (used.bytes >= customImagesGb * GIB_BYTES || used.bytes + moreBytes > customImagesGb * GIB_BYTES) {
    quotaExceeded('customImagesGb', customImagesGb, { field: 'file', used: toGib(used.bytes) });
  }
}

/**
 * Detects ISO 9660 in a stream. The first volume descriptor is sector 16, of 2048 bytes: a type byte,
 * `CD001`, and a version byte of 1.
 */
const DESCRIPTOR_OFFSET = 16 * 2048;
const DESCRIPTOR_END = DESCRIPTOR_OFFSET + 2048;
const MAGIC_OFFSET = DESCRIPTOR_OFFSET + 1;
const MAGIC = Buffer.from('CD001\x01', 'latin1');

export class IsoProbe {
  readonly #seen = Buffer.alloc(MAGIC.length);
  #sizeBytes = 0;

  /** Takes the next bytes of the file. */
  push(chunk: Uint8Array): void {
    const begin = this.#sizeBytes;
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes <= MAGIC_OFFSET || begin >= MAGIC_OFFSET + MAGIC.length) return;
    const from = Math.max(MAGIC_OFFSET - begin, 0);
    const to = Math.min(MAGIC_OFFSET + MAGIC.length - begin, chunk.length);
    this.#seen.set(chunk.subarray(from, to), begin + from - MAGIC_OFFSET);
  }

  /** Call it after the last byte. */
  isIso(): boolean {
    return this.#sizeBytes >= DESCRIPTOR_END && this.#seen.equals(MAGIC);
  }
}
