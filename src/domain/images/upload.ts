/**
 * An upload: a file of up to 4 GiB that is received before anybody knows whether an image may be made of it.
 *
 * It has a row from its first byte on, which the process that receives it keeps alive, and a task of kind `image_remove`,
 * which looks at it every minute. The row becomes the image in one commit. Whoever ends the row decides what becomes of
 * the file: the commit keeps it, everybody else removes it. So a file stays only where an image is, whatever was refused,
 * cut off or killed, and neither of two can take the other's away.
 */
import { crashPoint } from '../../kernel/crash.ts';
import { Failure, fail, invalidRequest } from '../../kernel/fail.ts';
import { newId } from '../../kernel/ids.ts';
import { digest } from '../../kernel/secrets.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { BlobStoreFullError } from '../../ports/blobs.ts';
import { LIMITS } from '../../spec/limits.ts';
import { lockCustomer } from '../../store/customers.ts';
import { findStoredResponse } from '../../store/idempotency.ts';
import { countUploads, endUpload, extendUpload, insertUpload, readImageUsage } from '../../store/images.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { IsoProbe } from './iso9660.ts';
import { requireImageQuota } from './quota.ts';

/** How long an upload whose process is silent counts as alive, and how often a living one says so. */
const UPLOAD_LEASE_S = 90;
const HEARTBEAT_MS = 30_000;
const RETRY_AFTER_S = 60;

/** A file that was received whole. */
export interface ReceivedFile {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly isIso: boolean;
}

/** One text part as it came; a value that is too long is cut. */
export interface ReceivedField {
  readonly name: string;
  readonly value: string;
}

/** Everything that a request brought. Whoever has it ends it: by `createImage`, and by `discard` in any case. */
export interface ReceivedUpload {
  /** Of the image that it becomes. */
  readonly id: string;
  /** In the order in which they came. */
  readonly fields: readonly ReceivedField[];
  /** How many parts were called `file`, of which the first was taken. */
  readonly files: number;
  readonly file: ReceivedFile | null;
  /** Nothing of it stays, unless an image was made of it. Never fails. */
  discard(): Promise<void>;
}

/** An upload that was let in. */
export interface Upload {
  readonly id: string;
  /** Takes the file. Refuses one over the limit as soon as it is, and a full disk with `maintenance`. */
  receive(chunks: AsyncIterable<Uint8Array>): Promise<ReceivedFile>;
  /** As in ReceivedUpload. */
  discard(): Promise<void>;
}

export interface UploadRequest {
  /** What the file has at least, as far as that is known before it comes. */
  readonly atLeastBytes: number;
  /** The Idempotency-Key. One that has its answer is let in whatever the quotas say, to be compared with the first. */
  readonly key: string | undefined;
}

/**
 * Lets an upload in. Refuses with `limit_reached` where no image could be made of it, with `conflict_state` while the
 * customer has too many under way, with 400 one that says itself that it is too large.
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
    // The customer may be asking again for what he was not told: the first try took the room.
    const full = error instanceof Failure && error.code === 'limit_reached';
    if (!full || key === undefined || !(await hasStoredAnswer(service, actor, key))) throw error;
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
    if (quotas)
      requireImageQuota(service.settings.quotas, await readImageUsage(tx, customerId), atLeastBytes);
    if ((await countUploads(tx, customerId)) >= LIMITS.imageUploadsConcurrent) {
      fail(
        'conflict_state',
        {},
        `${LIMITS.imageUploadsConcurrent} uploads are under way; try again when one of them has ended.`,
      );
    }
    await insertUpload(tx, { id: uploadId, customerId, aliveS: UPLOAD_LEASE_S });
    await enqueueTask(tx, { kind: 'image_remove', subject: uploadId, now });
    return uploadId;
  });
  crashPoint('upload.begun');
  return openUpload(service, id, atLeastBytes);
}

function openUpload(service: Service, id: string, atLeastBytes: number): Upload {
  let receiving: Promise<unknown> = Promise.resolve();
  const heartbeat = setInterval(() => {
    extendUpload(service.db, id, UPLOAD_LEASE_S).catch((error: unknown) =>
      service.log.warn({ err: error }, 'an upload could not be kept alive'),
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

/** The task does the same, later, where this cannot. */
async function discardUpload(service: Service, id: string): Promise<void> {
  try {
    if (await endUpload(service.db, id)) await service.blobs.remove(id);
  } catch (error) {
    service.log.warn({ err: error }, 'an upload could not be discarded; its task will do it');
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
      crashPoint('upload.received');
      const facts = await writer.finish();
      crashPoint('upload.on_disk');
      return { ...facts, isIso: probe.isIso() };
    } catch (error) {
      await writer.abort();
      throw error;
    }
  } catch (error) {
    if (!(error instanceof BlobStoreFullError)) throw error;
    service.log.error({ err: error }, 'no room for an upload');
    return fail('maintenance', { retry_after_s: RETRY_AFTER_S });
  }
}

function throwTooLarge(): never {
  const max = LIMITS.imageUploadMaxBytes;
  invalidRequest([{ field: 'file', issue: 'max', max }], `An image has at most ${max} bytes.`);
}

async function hasStoredAnswer(service: Service, actor: CustomerActor, key: string): Promise<boolean> {
  const retainedSince = new Date(service.clock.now().getTime() - LIMITS.idempotencyRetentionHours * HOUR_MS);
  const { customerId } = actor;
  return (
    (await findStoredResponse(service.db, { customerId, keyDigest: digest(key), retainedSince })) !==
    undefined
  );
}
