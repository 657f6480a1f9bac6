/**
 * Uploads that arrive in parts and resume, for the panel. The row of an upload says how many of its bytes are
 * safely on disk, and where the next part begins. Bytes that a killed request wrote behind them are written
 * again. One request at a time appends: it holds the lease of the upload, and writes nothing once that may
 * have ended. A complete file is hashed as a whole, because the parts may come through several processes.
 *
 * The row and the file outlive requests and restarts. They end with the creation of the image, or when the
 * row has expired or was discarded and its task removes both.
 */

import { randomUUID } from 'node:crypto';
import { fail, invalidRequest, LeaseLost, notFound } from '../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../kernel/ids.ts';
import { HOUR_MS, SECOND_MS } from '../../kernel/time.ts';
import { BlobMissingError, BlobStoreError } from '../../ports/blobs.ts';
import { LIMITS } from '../../spec/limits.ts';
import { lockCustomer } from '../../store/customers/customers.ts';
import { readImageUsage } from '../../store/images/images.ts';
import {
  claimPartUpload,
  confirmPart,
  expirePartUpload,
  extendClaim,
  findPartUpload,
  insertPartUpload,
  listPartUploads,
  type PartUploadRow,
  releaseClaim,
} from '../../store/images/part-uploads.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { readQuotas } from '../customers/own-limits.ts';
import { IsoProbe, type ReceivedFile, requireImageQuota, requireUploadSlot } from './upload.ts';

const LEASE_S = 60;
const HEARTBEAT_MS = 15_000;
/** A writer stops this long before the database ends its lease. */
const LEASE_MARGIN_MS = 15_000;
const RETRY_AFTER_S = 60;

/** An unfinished upload. */
export interface PartUpload {
  /** Id of the image that it becomes. */
  readonly id: string;
  /** Chosen by the browser, to find the upload of a file again. */
  readonly fileKey: string;
  readonly sizeBytes: number;
  readonly receivedBytes: number;
  readonly startedAt: Date;
  readonly expiresAt: Date;
}

/** A complete file that an image can be created from. Call `release` afterwards. */
export interface CompleteUpload {
  readonly id: string;
  readonly file: ReceivedFile;
  /** Keeps the upload for another attempt, unless an image was created, or the file cannot become one. */
  release(): Promise<void>;
}

function toPartUpload(row: PartUploadRow): PartUpload {
  return {
    id: formatId('customImage', row.id),
    fileKey: row.file_key,
    sizeBytes: Number(row.size_bytes),
    receivedBytes: Number(row.received_bytes),
    startedAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

export async function listUnfinishedUploads(service: Service, actor: CustomerActor): Promise<PartUpload[]> {
  return (await listPartUploads(service.db, actor.customerId, service.clock.now())).map(toPartUpload);
}

/** Fails with `not_found` for an upload that ended, and for one of another customer. */
export async function getUnfinishedUpload(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<PartUpload> {
  return toPartUpload(await requireUpload(service, actor, shownId));
}

async function requireUpload(
  service: Service,
  { customerId }: CustomerActor,
  shownId: string,
): Promise<PartUploadRow> {
  const id = parseId('customImage', shownId) ?? notFound('image');
  return (await findPartUpload(service.db, customerId, id, service.clock.now())) ?? notFound('image');
}

/**
 * Begins an upload, or returns the customer's unfinished one of the same file. Refuses as `beginUpload` does.
 * The bytes that other unfinished uploads declared count as used.
 */
export async function beginPartUpload(
  service: Service,
  actor: CustomerActor,
  { fileKey, sizeBytes }: Pick<PartUpload, 'fileKey' | 'sizeBytes'>,
): Promise<PartUpload> {
  const max = LIMITS.imageUploadMaxBytes;
  if (sizeBytes === 0) fail('required', { field: 'file' }, 'Choose a file.');
  if (sizeBytes > max) invalidRequest([{ field: 'file', issue: 'max', max }]);
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { customerId } = actor;
    await lockCustomer(tx, customerId);
    const others = await listPartUploads(tx, customerId, now);
    const same = others.find((row) => row.file_key === fileKey && Number(row.size_bytes) === sizeBytes);
    if (same) return toPartUpload(same);
    const used = await readImageUsage(tx, customerId);
    const declared = others.reduce((sum, row) => sum + Number(row.size_bytes), 0);
    requireImageQuota(await readQuotas(service, tx, customerId), used, sizeBytes + declared);
    await requireUploadSlot(tx, customerId, now);
    const row = { id: newId(now), file_key: fileKey, created_at: now, expires_at: expiryFrom(now) };
    await insertPartUpload(tx, { ...row, customerId, sizeBytes });
    await enqueueTask(tx, { kind: 'image_remove', subject: row.id, now: row.expires_at });
    return toPartUpload({ ...row, size_bytes: BigInt(sizeBytes), received_bytes: 0n });
  });
}

function expiryFrom(now: Date): Date {
  return new Date(now.getTime() + LIMITS.imageUploadResumeHours * HOUR_MS);
}

/** Discards an unfinished upload. Its task removes the file. */
export async function discardPartUpload(
  service: Service,
  { customerId }: CustomerActor,
  shownId: string,
): Promise<void> {
  const id = parseId('customImage', shownId) ?? notFound('image');
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    if (!(await expirePartUpload(tx, customerId, id, now))) notFound('image');
    await enqueueTask(tx, { kind: 'image_remove', subject: id, now });
  });
  service.wake();
}

/**
 * Appends the next part, of `sizeBytes`. Returns how many bytes of the file are on disk. Refuses another
 * offset, or while another part arrives, with `conflict_state`. After an error, what arrived may count.
 */
export async function appendPart(
  service: Service,
  actor: CustomerActor,
  part: { readonly id: string; readonly offset: number; readonly sizeBytes: number },
  chunks: AsyncIterable<Uint8Array>,
): Promise<number> {
  const row = await requireUpload(service, actor, part.id);
  const { offset, sizeBytes } = part;
  const left = Number(row.size_bytes) - offset;
  if (offset !== Number(row.received_bytes)) refuseOffset(row);
  const max = Math.min(left, LIMITS.imageUploadPartBytes);
  if (sizeBytes < 1 || sizeBytes > max) fail('bad_request', {}, `A part can have 1 to ${max} bytes here.`);
  const lease = await claim(service, actor, row, offset);
  let received = offset;
  try {
    const appender = await service.blobs.openAppender(row.id, offset, sizeBytes);
    try {
      for await (const chunk of chunks) {
        if (received + chunk.length > offset + sizeBytes) fail('bad_request', {}, 'The part is too long.');
        lease.requireHeld();
        await appender.write(chunk);
        received += chunk.length;
      }
    } finally {
      // A store writes the part only now: over that of another request, if the lease was taken over.
      await lease.renew().catch(async (error: unknown) => {
        await appender.abandon();
        throw error;
      });
      await appender.finish();
      await confirm(service, row.id, lease.writer, received);
    }
    return received;
  } catch (error) {
    return await rethrowPartError(service, actor, part.id, error);
  } finally {
    await lease.release();
  }
}

function refuseOffset({ received_bytes: received }: Pick<PartUploadRow, 'received_bytes'>): never {
  fail('conflict_state', {}, `Continue at byte ${received}, or try again when the other part has arrived.`);
}

async function confirm(service: Service, id: string, writer: string, receivedBytes: number): Promise<void> {
  const now = service.clock.now();
  const part = { id, writer, receivedBytes, now, expiresAt: expiryFrom(now) };
  if (!(await confirmPart(service.db, part))) throw new LeaseLost();
}

/** A store that fails, lost leases, and lost files get answers that make a client try or start again. */
async function rethrowPartError(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  error: unknown,
): Promise<never> {
  if (error instanceof BlobStoreError) {
    service.log.error({ err: error }, 'a part of an upload could not be stored');
    fail('maintenance', { retry_after_s: RETRY_AFTER_S });
  }
  if (error instanceof LeaseLost) {
    // If the upload ended meanwhile, this request may have created its file again.
    const [subject, now] = [parseId('customImage', shownId) ?? '', service.clock.now()];
    await enqueueTask(service.db, { kind: 'image_remove', subject, now });
    fail('maintenance', { retry_after_s: 1 });
  }
  if (error instanceof BlobMissingError) {
    service.log.error({ err: error }, 'bytes of an unfinished upload are missing');
    await discardPartUpload(service, actor, shownId);
    notFound('image');
  }
  throw error;
}

interface Lease {
  readonly writer: string;
  /** Throws when the lease may have ended. */
  requireHeld(): void;
  /** Starts its time again. Throws when it has ended. */
  renew(): Promise<void>;
  release(): Promise<void>;
}

/** Reserves the upload for this request, at this offset. */
async function claim(
  service: Service,
  { customerId }: CustomerActor,
  row: PartUploadRow,
  offset: number,
): Promise<Lease> {
  const [writer, { id }] = [randomUUID(), row];
  const now = service.clock.now();
  const untilMs = () => performance.now() + LEASE_S * SECOND_MS - LEASE_MARGIN_MS;
  let heldUntilMs = untilMs();
  const claimed = { id, customerId, offset, writer, leaseS: LEASE_S, now };
  if (!(await claimPartUpload(service.db, claimed))) refuseOffset(row);
  const renew = async (): Promise<void> => {
    const nextMs = untilMs();
    const isHeld = await extendClaim(service.db, id, writer, LEASE_S);
    heldUntilMs = isHeld ? nextMs : 0;
    if (!isHeld) throw new LeaseLost();
  };
  const heartbeat = setInterval(() => {
    renew().catch((err: unknown) => service.log.warn({ err }, 'upload lease could not be extended'));
  }, HEARTBEAT_MS).unref();
  return {
    writer,
    requireHeld: () => {
      if (performance.now() > heldUntilMs) throw new LeaseLost();
    },
    renew,
    release: async () => {
      clearInterval(heartbeat);
      await releaseClaim(service.db, id, writer).catch((error: unknown) =>
        service.log.warn({ err: error }, 'upload lease could not be released; it ends on its own'),
      );
    },
  };
}

/**
 * Hashes and publishes the file of a completely received upload. Returns null if there is no such upload: it
 * may have become an image.
 */
export async function completePartUpload(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<CompleteUpload | null> {
  const id = parseId('customImage', shownId);
  const row = id && (await findPartUpload(service.db, actor.customerId, id, service.clock.now()));
  if (!row) return null;
  const sizeBytes = Number(row.size_bytes);
  if (Number(row.received_bytes) !== sizeBytes) refuseOffset(row);
  const lease = await claim(service, actor, row, sizeBytes);
  try {
    const probe = new IsoProbe();
    const facts = await service.blobs.publish(row.id, sizeBytes, (chunk) => {
      lease.requireHeld();
      probe.push(chunk);
    });
    const file = { ...facts, isIso: probe.isIso() };
    const release = async () => {
      await lease.release();
      if (!file.isIso) await discardPartUpload(service, actor, shownId);
    };
    return { id: row.id, file, release };
  } catch (error) {
    await lease.release();
    return await rethrowPartError(service, actor, shownId, error);
  }
}
