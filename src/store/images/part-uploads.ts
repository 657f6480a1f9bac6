/**
 * Uploads that arrive in parts. They expire by the service's clock. The lease of the request that appends to
 * one runs on the database's clock.
 */
import type { Sql } from '../../kernel/sql.ts';

export interface PartUploadRow {
  readonly id: string;
  /** Identifies the file to its customer's browser. */
  readonly file_key: string;
  readonly size_bytes: bigint;
  /** On the disk. */
  readonly received_bytes: bigint;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const COLUMNS = 'id, file_key, size_bytes, received_bytes, created_at, expires_at';

export async function insertPartUpload(
  tx: Sql,
  row: Pick<PartUploadRow, 'id' | 'file_key' | 'created_at' | 'expires_at'> & {
    readonly customerId: string;
    readonly sizeBytes: number;
  },
): Promise<void> {
  await tx.run(
    `insert into image_uploads (id, customer_id, alive_until, file_key, size_bytes, created_at, expires_at)
     values ($id, $customerId, clock_timestamp(), $file_key, $sizeBytes, $created_at, $expires_at)`,
    row,
  );
}

/** Lists the customer's unfinished uploads, oldest first. */
export async function listPartUploads(tx: Sql, customerId: string, now: Date): Promise<PartUploadRow[]> {
  return await tx.rows<PartUploadRow>(
    `select ${COLUMNS} from image_uploads where customer_id = $1 and expires_at > $2 order by id`,
    [customerId, now],
  );
}

export async function findPartUpload(
  tx: Sql,
  customerId: string,
  id: string,
  now: Date,
): Promise<PartUploadRow | undefined> {
  return await tx.row<PartUploadRow>(
    `select ${COLUMNS} from image_uploads where id = $1 and customer_id = $2 and expires_at > $3`,
    [id, customerId, now],
  );
}

/** Makes `writer` the only one to append. Returns false if there is another, or the offset is wrong. */
export async function claimPartUpload(
  tx: Sql,
  claim: {
    readonly id: string;
    readonly customerId: string;
    readonly offset: number;
    readonly writer: string;
    readonly leaseS: number;
    readonly now: Date;
  },
): Promise<boolean> {
  const claimed = await tx.run(
    `update image_uploads
        set writer = $writer, alive_until = clock_timestamp() + make_interval(secs => $leaseS)
      where id = $id and customer_id = $customerId and expires_at > $now and received_bytes = $offset
        and alive_until <= clock_timestamp()`,
    claim,
  );
  return claimed === 1;
}

/** Returns false when the lease ended, or the upload. */
export async function extendClaim(tx: Sql, id: string, writer: string, leaseS: number): Promise<boolean> {
  const extended = await tx.run(
    `update image_uploads set alive_until = clock_timestamp() + make_interval(secs => $3)
      where id = $1 and writer = $2 and alive_until > clock_timestamp()`,
    [id, writer, leaseS],
  );
  return extended === 1;
}

/**
 * Records what is on the disk, and ends the writer's lease. Does not revive an upload that was discarded.
 * Returns false when another writer took over, or the upload ended.
 */
export async function confirmPart(
  tx: Sql,
  part: {
    readonly id: string;
    readonly writer: string;
    readonly receivedBytes: number;
    readonly now: Date;
    readonly expiresAt: Date;
  },
): Promise<boolean> {
  const confirmed = await tx.run(
    `update image_uploads
        set received_bytes = $receivedBytes, writer = null, alive_until = clock_timestamp(),
            expires_at = case when received_bytes < $receivedBytes and expires_at > $now
                              then $expiresAt else expires_at end
      where id = $id and writer = $writer`,
    part,
  );
  return confirmed === 1;
}

/** Ends the writer's lease. */
export async function releaseClaim(tx: Sql, id: string, writer: string): Promise<void> {
  await tx.run(
    `update image_uploads set writer = null, alive_until = clock_timestamp() where id = $1 and writer = $2`,
    [id, writer],
  );
}

/** Hides the upload from now on. Its task removes it when no one writes. Returns false if there is none. */
export async function expirePartUpload(tx: Sql, customerId: string, id: string, now: Date): Promise<boolean> {
  const expired = await tx.run(
    `update image_uploads set expires_at = $3 where id = $1 and customer_id = $2 and expires_at > $3`,
    [id, customerId, now],
  );
  return expired === 1;
}

/** Ends the leases of killed processes. */
export async function releaseAllClaims(tx: Sql): Promise<void> {
  await tx.run(
    `update image_uploads set writer = null, alive_until = clock_timestamp()
      where expires_at is not null and alive_until > clock_timestamp()`,
  );
}
