/** The reads and writes of a rebuild or restore. */
import type { Sql } from '../../kernel/sql.ts';

/** The installed state of a server that is not in its own row. */
export interface InstallDetails {
  readonly category: 'vps' | 'dedicated';
  readonly ssh_public_keys: string[];
}

/** The caller holds the server's lock. */
export async function findInstallDetails(tx: Sql, serverId: string): Promise<InstallDetails | undefined> {
  return await tx.row<InstallDetails>(
    `select p.category, s.ssh_public_keys from servers s join plans p on p.id = s.plan_id where s.id = $1`,
    [serverId],
  );
}

export interface OfficialImageRow {
  readonly id: string;
  readonly cloud_init: boolean;
  /** `YYYY-MM-DD` */
  readonly deprecated_at: string | null;
  /** The smallest disk that fits the imported disk; null if none was imported. */
  readonly base_disk_gb: number | null;
}

/** Finds an official image that is not retired. */
export async function findOfficialImage(tx: Sql, id: string): Promise<OfficialImageRow | undefined> {
  return await tx.row<OfficialImageRow>(
    `select id, cloud_init, deprecated_at, base_disk_gb from images
      where id = $1 and type = 'official' and active`,
    [id],
  );
}

export interface OwnSshKeyRow {
  readonly id: string;
  readonly public_key: string;
}

/** Returns which of these keys are the customer's. */
export async function findOwnKeys(
  tx: Sql,
  customerId: string,
  ids: readonly string[],
): Promise<OwnSshKeyRow[]> {
  return await tx.rows<OwnSshKeyRow>(
    `select id, public_key from ssh_keys where customer_id = $1 and id = any ($2::uuid[])`,
    [customerId, ids],
  );
}

export interface RestorableSnapshotRow {
  readonly region_id: string;
  readonly disk_gb: number;
  readonly shared: boolean;
  readonly image_id: string;
  readonly status: 'creating' | 'ready' | 'error';
}

/** Locks the customer's own snapshot against deletion until the restore has begun. */
export async function lockRestorableSnapshot(
  tx: Sql,
  customerId: string,
  id: string,
): Promise<RestorableSnapshotRow | undefined> {
  return await tx.row<RestorableSnapshotRow>(
    `select region_id, disk_gb, shared, image_id, status from snapshots
      where id = $1 and customer_id = $2 for share`,
    [id, customerId],
  );
}

/** The inputs of an install. */
export interface Install {
  readonly imageId: string;
  readonly sshKeys: readonly string[];
  /** The public keys, in the same order. */
  readonly sshPublicKeys: readonly string[];
  readonly userDataSealed: string | null;
}

/** Marks the server as being reinstalled with these inputs. */
export async function setReinstallState(
  tx: Sql,
  change: Install & {
    readonly id: string;
    readonly status: 'installing' | 'running' | 'stopped';
    readonly now: Date;
  },
): Promise<void> {
  await tx.run(
    `update servers
        set status = $status, image_id = $imageId, ssh_keys = $sshKeys, ssh_public_keys = $sshPublicKeys,
            user_data_sealed = $userDataSealed, updated_at = $now
      where id = $id`,
    change,
  );
}
