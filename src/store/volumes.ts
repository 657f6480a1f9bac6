/**
 * Volumes: what the customer was told of each, and the changes of attachment that the driver has not confirmed yet.
 * Locks: the server, the customer's balance, the volume, hosts.
 */
import { parseId } from '../kernel/ids.ts';
import type { Sql } from '../kernel/sql.ts';
import type { PageRequest } from '../spec/lists.ts';
import { type Page, readPage } from './page.ts';

export interface VolumeRow {
  readonly id: string;
  readonly customer_id: string;
  readonly name: string;
  readonly size_gb: number;
  readonly region_id: string;
  readonly encrypted: boolean;
  readonly filesystem: string | null;
  /** Both null while it is detached. */
  readonly server_id: string | null;
  readonly device: string | null;
  /** 0 until it was attached once. */
  readonly disk_gb: number;
  readonly host_id: string | null;
  /** Set: its customer sees it no more. */
  readonly deleted_at: Date | null;
  readonly created_at: Date;
}

export const VOLUME_COLUMNS = `id, customer_id, name, size_gb, region_id, encrypted, filesystem, server_id, device, disk_gb, host_id,
  deleted_at, created_at`;

export type NewVolume = Pick<
  VolumeRow,
  'id' | 'customer_id' | 'name' | 'size_gb' | 'region_id' | 'encrypted' | 'filesystem' | 'created_at'
>;

/** Makes it, detached and without a disk. */
export async function insertVolume(tx: Sql, row: NewVolume): Promise<VolumeRow> {
  const [made] = await tx.rows<VolumeRow>(
    `insert into volumes (id, customer_id, name, size_gb, region_id, encrypted, filesystem, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${VOLUME_COLUMNS}`,
    [
      row.id,
      row.customer_id,
      row.name,
      row.size_gb,
      row.region_id,
      row.encrypted,
      row.filesystem,
      row.created_at,
    ],
  );
  if (!made) throw new Error('an inserted volume came back without its row');
  return made;
}

export async function findVolume(tx: Sql, customerId: string, id: string): Promise<VolumeRow | undefined> {
  return await tx.row<VolumeRow>(
    `select ${VOLUME_COLUMNS} from volumes where id = $1 and customer_id = $2 and deleted_at is null`,
    [id, customerId],
  );
}

export async function lockVolume(tx: Sql, customerId: string, id: string): Promise<VolumeRow | undefined> {
  return await tx.row<VolumeRow>(
    `select ${VOLUME_COLUMNS} from volumes where id = $1 and customer_id = $2 and deleted_at is null for update`,
    [id, customerId],
  );
}

/** Their number is bounded by the quota: one index serves every filter and sort. */
export async function pageVolumes(tx: Sql, customerId: string, page: PageRequest): Promise<Page<VolumeRow>> {
  return await readPage<VolumeRow>(
    tx,
    {
      columns: VOLUME_COLUMNS,
      from: 'volumes',
      where: 'customer_id = ? and deleted_at is null',
      values: [customerId],
      id: { column: 'id', type: 'uuid' },
      sorts: {
        created_at: { column: 'created_at', type: 'timestamptz' },
        name: { column: 'name', type: 'text' },
      },
      filters: {
        name: { where: 'name = ?' },
        region: { where: 'region_id = ?' },
        attached_to: { where: 'server_id = ?', value: (text) => parseId('server', text) },
      },
    },
    page,
  );
}

/** Counts to `limit` and no further. */
export async function countVolumes(tx: Sql, customerId: string, limit: number): Promise<number> {
  const row = await tx.row<{ count: bigint }>(
    `select count(*) from (select 1 from volumes where customer_id = $1 and deleted_at is null limit $2) as held`,
    [customerId, limit],
  );
  return Number(row?.count ?? 0n);
}

/** GiB of disk that the customer's volumes have, those included that are just being removed. */
export async function sumVolumeDisk(tx: Sql, customerId: string): Promise<number> {
  const row = await tx.row<{ gb: bigint }>(
    `select coalesce(sum(disk_gb), 0) as gb from volumes where customer_id = $1`,
    [customerId],
  );
  return Number(row?.gb ?? 0n);
}

/** Writes name, size and disk of a volume that the caller has locked. */
export async function updateVolume(
  tx: Sql,
  change: Pick<VolumeRow, 'id' | 'name' | 'size_gb' | 'disk_gb'>,
): Promise<VolumeRow> {
  const row = await tx.row<VolumeRow>(
    `update volumes set name = $2, size_gb = $3, disk_gb = $4 where id = $1 returning ${VOLUME_COLUMNS}`,
    [change.id, change.name, change.size_gb, change.disk_gb],
  );
  return row ?? throwVolumeGone();
}

/**
 * Takes `gb` more of the host's disk; false, and nothing is taken, when it has not as much. Less than 0 gives back.
 */
export async function reserveDisk(tx: Sql, hostId: string, gb: number): Promise<boolean> {
  const taken = await tx.run(
    `update hosts set used_disk_gb = used_disk_gb + $2 where id = $1 and used_disk_gb + $2 <= disk_gb`,
    [hostId, gb],
  );
  return taken === 1;
}

/** Locks hosts in one order, for who moves disk from one to another. */
export async function lockHosts(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.run(`select from hosts where id = any ($1::uuid[]) order by id for update`, [ids]);
}

/** The volume goes, from the customer's view; its row and its disk stay until the driver has removed it. */
export async function markVolumeDeleted(tx: Sql, id: string, now: Date): Promise<void> {
  await tx.run(`update volumes set deleted_at = $2 where id = $1`, [id, now]);
}

/** Deletes the row and gives its disk back to its host. */
export async function deleteVolume(tx: Sql, id: string): Promise<void> {
  await tx.run(
    `with gone as (delete from volumes where id = $1 returning host_id, disk_gb)
     update hosts h set used_disk_gb = used_disk_gb - gone.disk_gb from gone where h.id = gone.host_id`,
    [id],
  );
}

export function throwVolumeGone(): never {
  throw new Error('a locked volume is gone');
}
