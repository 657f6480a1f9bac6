/** Customers' own images, the uploads that become them, and the imported disks of official images. */
import type { Sql } from '../../kernel/sql.ts';
import { parametersFor } from '../parameters.ts';
import type { VisibleImageRow } from './visible.ts';

export type CustomImageRow = Omit<VisibleImageRow, 'type' | 'family' | 'cloud_init' | 'deprecated_at'>;

const COLUMNS = 'id, name, version, variant, arch, size_gb, released_at';

export async function insertCustomImage(
  tx: Sql,
  row: CustomImageRow & {
    readonly customerId: string;
    readonly sha256: string;
    readonly sizeBytes: number;
  },
): Promise<void> {
  await tx.run(
    `insert into images (${COLUMNS}, customer_id, sha256, size_bytes, blob_key, type, family, cloud_init)
     values (${parametersFor(COLUMNS)}, $customerId, $sha256, $sizeBytes, $id, 'custom', 'custom', false)`,
    row,
  );
}

/**
 * Counts the customer's images and their size, including deleted images that a server of theirs still needs.
 * Exact while the customer's lock is held. Quotas bound the number of rows read.
 */
export async function readImageUsage(tx: Sql, customerId: string): Promise<{ count: number; bytes: number }> {
  const row = await tx.row<{ count: bigint; bytes: bigint }>(
    `select count(*) filter (where deleted_at is null) as count, coalesce(sum(size_bytes), 0)::int8 as bytes
       from (select deleted_at, size_bytes from images where customer_id = $1 and deleted_at is null
             union all
             select i.* from (select distinct image_id from servers where customer_id = $1) as s
               cross join lateral (select deleted_at, size_bytes from images
                 where id = s.image_id and customer_id = $1 and deleted_at is not null limit 1) as i
            ) as used`,
    [customerId],
  );
  return { count: Number(row?.count ?? 0n), bytes: Number(row?.bytes ?? 0n) };
}

/** Hides the image from its customer. Returns false when they have no image with this id. */
export async function softDeleteImage(tx: Sql, customerId: string, id: string, now: Date): Promise<boolean> {
  const changed = await tx.run(
    `update images set deleted_at = $3 where id = $1 and customer_id = $2 and deleted_at is null`,
    [id, customerId, now],
  );
  return changed === 1;
}

/** A customer's own image, with the columns that an install needs. */
export interface OwnImageRow {
  readonly id: string;
  readonly family: string;
  readonly version: string;
  readonly cloud_init: boolean;
  readonly blob_key: string;
  readonly sha256: string;
  readonly deleted: boolean;
}

/**
 * Finds the customer's own image whose file exists, deleted or not, and prevents its deletion until commit.
 */
export async function findOwnImage(
  tx: Sql,
  customerId: string,
  id: string,
): Promise<OwnImageRow | undefined> {
  return await tx.row<OwnImageRow>(
    `select id, family, version, cloud_init, blob_key, sha256, deleted_at is not null as deleted
       from images where id = $1 and customer_id = $2 and blob_key is not null for share`,
    [id, customerId],
  );
}

export async function isDeletedImage(tx: Sql, id: string): Promise<boolean> {
  return (await tx.row(`select from images where id = $1 and deleted_at is not null`, [id])) !== undefined;
}

/** The payload of an operation by its id. */
export interface SealedPayload {
  readonly id: string;
  readonly sealed: string;
}

export interface BlobUsageRow {
  /** The image is not deleted, or a server uses it. */
  readonly needed: boolean;
  /** Sealed payloads of the rebuilds and restores in progress on servers of the image's customer. */
  readonly reinstalls: SealedPayload[];
}

/** Reads in one snapshot who uses the file of this key; undefined: it belongs to no image. */
export async function findBlobUsage(tx: Sql, key: string): Promise<BlobUsageRow | undefined> {
  return await tx.row<BlobUsageRow>(
    `select i.deleted_at is null
              or exists (select from servers s
                          where s.customer_id = i.customer_id
                            and (s.image_id = i.id or s.iso_image_id = i.id)) as needed,
            (select coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'sealed', o.payload_sealed)), '[]')
               from servers s join operations o on o.server_id = s.id
              where s.customer_id = i.customer_id and o.kind in ('rebuild', 'restore')
                and o.payload_sealed is not null) as reinstalls
       from images i where i.id = $1`,
    [key],
  );
}

/** Records that the file of a deleted image was removed. */
export async function clearBlobKey(tx: Sql, key: string): Promise<void> {
  await tx.run(`update images set blob_key = null where id = $1 and deleted_at is not null`, [key]);
}

// ---- uploads in progress: real time, on the database's clock

export async function insertUpload(
  tx: Sql,
  upload: { readonly id: string; readonly customerId: string; readonly aliveS: number },
): Promise<void> {
  await tx.run(
    `insert into image_uploads (id, customer_id, alive_until)
     values ($1, $2, clock_timestamp() + make_interval(secs => $3))`,
    [upload.id, upload.customerId, upload.aliveS],
  );
}

/** Counts the customer's uploads in progress, and those that can resume. */
export async function countUploads(tx: Sql, customerId: string, now: Date): Promise<number> {
  const row = await tx.row<{ count: bigint }>(
    `select count(*) from image_uploads
      where customer_id = $1
        and case when expires_at is null then alive_until > clock_timestamp() else expires_at > $2 end`,
    [customerId, now],
  );
  return Number(row?.count ?? 0n);
}

export async function extendUpload(tx: Sql, id: string, aliveS: number): Promise<void> {
  await tx.run(
    `update image_uploads set alive_until = clock_timestamp() + make_interval(secs => $2) where id = $1`,
    [id, aliveS],
  );
}

/** Ends the upload. Returns false when it had already ended: then its file must not be used or removed. */
export async function endUpload(tx: Sql, id: string): Promise<boolean> {
  return (await tx.run(`delete from image_uploads where id = $1`, [id])) === 1;
}

/**
 * Ends the upload if its process died, or if it expired and no one writes. Returns undefined if there is none
 * left, and otherwise when it expires, if it does.
 */
export async function endAbandonedUpload(
  tx: Sql,
  id: string,
  now: Date,
): Promise<{ readonly expires_at: Date | null } | undefined> {
  await tx.run(
    `delete from image_uploads
      where id = $1 and alive_until <= clock_timestamp() and (expires_at is null or expires_at <= $2)`,
    [id, now],
  );
  return await tx.row<{ expires_at: Date | null }>(`select expires_at from image_uploads where id = $1`, [
    id,
  ]);
}

/** Ends every upload in one piece. Returns their ids. */
export async function endAllUploads(tx: Sql): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `delete from image_uploads where expires_at is null returning id`,
  );
  return rows.map(({ id }) => id);
}

// ---- the imported disks that official images are installed from

export interface BaseImageRow {
  readonly id: string;
  readonly family: string;
  readonly version: string;
  readonly variant: string | null;
  /** Both null if no disk was imported. */
  readonly base_sha256: string | null;
  readonly base_disk_gb: number | null;
  /** Not available to new servers. */
  readonly deprecated: boolean;
}

/** Lists every official image that is offered, or was until it was deprecated. */
export async function listBaseImages(tx: Sql): Promise<BaseImageRow[]> {
  return await tx.rows<BaseImageRow>(
    `select id, family, version, variant, base_sha256, base_disk_gb, deprecated_at is not null as deprecated
       from images
      where type = 'official' and active order by family, released_at, version, variant`,
  );
}

/** Returns false when the id is not an official image. */
export async function setBaseImage(
  tx: Sql,
  imageId: string,
  disk: { readonly sha256: string; readonly diskGb: number },
): Promise<boolean> {
  const count = await tx.run(
    `update images set base_sha256 = $2, base_disk_gb = $3 where id = $1 and type = 'official'`,
    [imageId, disk.sha256, disk.diskGb],
  );
  return count === 1;
}

export interface ImageImportRow {
  readonly family: string;
  readonly version: string;
  readonly imported: boolean;
}

/** Lists every official image available to new servers, and whether its disk was imported. */
export async function listImageImports(tx: Sql): Promise<ImageImportRow[]> {
  return await tx.rows<ImageImportRow>(
    `select family, version, base_sha256 is not null as imported from images
      where type = 'official' and active and deprecated_at is null order by family, version`,
  );
}
