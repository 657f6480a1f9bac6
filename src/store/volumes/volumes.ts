/**
 * Volumes: the state shown to the customer, and the attachment changes that the driver has not confirmed yet.
 * Lock order: the server, the customer's balance, the volume, hosts.
 */
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { LOCAL_BACKEND } from '../../ports/backends.ts';
import type { PageRequest } from '../../spec/lists.ts';
import type { Reach } from '../../spec/token-limits.ts';
import { ACTION_COLUMNS, joinAction, type ShownAction } from '../actions.ts';
import { pageInside } from '../customers/reach.ts';
import { hasDiskFor } from '../inventory/placement.ts';
import { BY_CREATION_OR_NAME, byLabels, countUpTo, type Page, type PageSource, readPage } from '../page.ts';
import { assignmentsFor, parametersFor } from '../parameters.ts';

export interface VolumeRow extends Partial<ShownAction> {
  readonly id: string;
  readonly customer_id: string;
  readonly name: string;
  readonly size_gb: number;
  readonly region_id: string;
  readonly encrypted: boolean;
  readonly filesystem: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** It is on the storage that the region's hosts share. */
  readonly shared: boolean;
  /** Both null while it is detached. */
  readonly server_id: string | null;
  readonly device: string | null;
  /** 0 until it is first attached. */
  readonly disk_gb: number;
  /** The host on whose disk it is. Null for a shared volume, and before the first attachment. */
  readonly host_id: string | null;
  readonly protect_delete: boolean;
  /** When the host was lost that had its data. */
  readonly lost_at: Date | null;
  /** Set once deleted: its customer no longer sees it. */
  readonly deleted_at: Date | null;
  readonly created_at: Date;
}

export const VOLUME_COLUMNS = `id, customer_id, name, size_gb, region_id, encrypted, filesystem, labels,
  shared, server_id, device, disk_gb, host_id, protect_delete, lost_at, deleted_at, created_at`;

const NEW = `id, customer_id, name, size_gb, region_id, encrypted, filesystem, labels, shared, protect_delete,
  created_at`;

export type NewVolume = Pick<
  VolumeRow,
  | 'id'
  | 'customer_id'
  | 'name'
  | 'size_gb'
  | 'region_id'
  | 'encrypted'
  | 'filesystem'
  | 'labels'
  | 'shared'
  | 'protect_delete'
  | 'created_at'
>;

/** Inserts a volume, detached and without a disk. */
export async function insertVolume(tx: Sql, row: NewVolume): Promise<VolumeRow> {
  const [inserted] = await tx.rows<VolumeRow>(
    `insert into volumes (${NEW}) values (${parametersFor(NEW)}) returning ${VOLUME_COLUMNS}`,
    row,
  );
  if (!inserted) throw new Error('the insert of a volume did not return its row');
  return inserted;
}

export async function findVolume(tx: Sql, customerId: string, id: string): Promise<VolumeRow | undefined> {
  return await tx.row<VolumeRow>(
    `select ${VOLUME_COLUMNS}, ${ACTION_COLUMNS} from volumes ${joinAction('volumes.id')}
      where id = $1 and customer_id = $2 and deleted_at is null`,
    [id, customerId],
  );
}

export async function lockVolume(tx: Sql, customerId: string, id: string): Promise<VolumeRow | undefined> {
  return await tx.row<VolumeRow>(
    `select ${VOLUME_COLUMNS} from volumes
      where id = $1 and customer_id = $2 and deleted_at is null for update`,
    [id, customerId],
  );
}

/**
 * Pages through the customer's volumes. The quota bounds their number, so one index serves every filter and
 * sort.
 */
export async function pageVolumes(
  tx: Sql,
  customerId: string,
  page: PageRequest,
  reach?: Reach | null,
): Promise<Page<VolumeRow>> {
  const source: PageSource = {
    columns: `${VOLUME_COLUMNS}, ${ACTION_COLUMNS}`,
    from: `volumes ${joinAction('volumes.id')}`,
    where: 'customer_id = $customerId and deleted_at is null',
    values: { customerId },
    sorts: BY_CREATION_OR_NAME,
    filters: {
      name: { where: 'name = $name' },
      region: { where: 'region_id = $region' },
      attached_to: { where: 'server_id = $attached_to', value: (text) => parseId('server', text) },
      label: byLabels('labels'),
    },
  };
  return await readPage<VolumeRow>(tx, pageInside(source, reach, 'volume'), page);
}

/** Counts up to `limit`. */
export async function countVolumes(tx: Sql, customerId: string, limit: number): Promise<number> {
  return await countUpTo(tx, 'volumes where customer_id = $customerId and deleted_at is null', {
    customerId,
    limit,
  });
}

/** Returns the total disk size in GiB of the customer's volumes, including those being removed. */
export async function sumVolumeDisk(tx: Sql, customerId: string): Promise<number> {
  const row = await tx.row<{ gb: bigint }>(
    `select coalesce(sum(disk_gb), 0) as gb from volumes where customer_id = $1`,
    [customerId],
  );
  return Number(row?.gb ?? 0n);
}

/** Updates name, size, disk, labels, and protection of a volume. The caller holds its lock. */
export async function updateVolume(
  tx: Sql,
  change: Pick<VolumeRow, 'id' | 'name' | 'size_gb' | 'disk_gb' | 'labels' | 'protect_delete'>,
): Promise<VolumeRow> {
  const row = await tx.row<VolumeRow>(
    `update volumes set ${assignmentsFor('name, size_gb, disk_gb, labels, protect_delete')}
      where id = $id returning ${VOLUME_COLUMNS}`,
    change,
  );
  return row ?? throwVolumeGone();
}

/**
 * Reserves `gb` of the host's disk. Returns false, without a change, when not enough is free. Below 0
 * releases.
 */
export async function reserveDisk(tx: Sql, hostId: string, gb: number): Promise<boolean> {
  const reserved = await tx.run(
    `update hosts h set used_disk_gb = used_disk_gb + $2
      where id = $1 and ($2::int <= 0 or lost_at is null and ${hasDiskFor('$2::int')})`,
    [hostId, gb],
  );
  return reserved === 1;
}

/**
 * Moves the disk reservation of a detached volume to the host that has its data, after an attachment on
 * another host that never took place. It stays if the host of the data has no room for it by now. The caller
 * holds the volume's lock.
 */
export async function returnReservation(tx: Sql, id: string): Promise<void> {
  const drift = await tx.row<{ from: string | null; to: string; gb: number }>(
    `select v.host_id as from, data.id as to, v.disk_gb as gb
       from volumes v
       join placed_resources p on p.kind = 'volume' and p.id = v.id::text
       left join hosts own on own.id = v.host_id
       join lateral (select h.id from hosts h
                      where h.region_id = v.region_id and coalesce(h.backend, '${LOCAL_BACKEND}') = p.backend
                      order by h.name limit 1) data on true
      where v.id = $1 and v.server_id is null and not v.shared and v.lost_at is null and v.disk_gb > 0
        and coalesce(own.backend, '${LOCAL_BACKEND}') <> p.backend`,
    [id],
  );
  if (drift === undefined) return;
  const { from, to, gb } = drift;
  await lockHosts(
    tx,
    [from, to].filter((host) => host !== null),
  );
  await tx.run(
    `with kept as (
       update hosts set used_disk_gb = used_disk_gb + $gb
        where id = $to and used_disk_gb + $gb <= disk_gb returning 1),
     released as (
       update hosts set used_disk_gb = used_disk_gb - $gb where id = $from and exists (select from kept))
     update volumes set host_id = $to where id = $id and exists (select from kept)`,
    { id, from, to, gb },
  );
}

/** Returns the backend that has the volume's content; null if it has none yet. */
export async function findBackendOfVolume(tx: Sql, volumeId: string): Promise<string | null> {
  const row = await tx.row<{ backend: string }>(
    `select backend from placed_resources where kind = 'volume' and id = $1`,
    [volumeId],
  );
  return row?.backend ?? null;
}

/** Whether another backend than that of the host has the volume's content. */
export async function isDataElsewhere(tx: Sql, volumeId: string, hostId: string | null): Promise<boolean> {
  const found = await tx.row(
    `select from placed_resources
      where kind = 'volume' and id = $1::text
        and backend <> coalesce((select backend from hosts where id = $2::uuid), '${LOCAL_BACKEND}')`,
    [volumeId, hostId],
  );
  return found !== undefined;
}

/** Locks hosts in id order, for a caller that moves disk space between them. */
export async function lockHosts(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.run(`select from hosts where id = any ($1::uuid[]) order by id for update`, [ids]);
}

/**
 * Marks the volume as deleted for its customer. Its row and disk stay until the driver has removed the disk.
 */
export async function markVolumeDeleted(tx: Sql, id: string, now: Date): Promise<void> {
  await tx.run(`update volumes set deleted_at = $2 where id = $1`, [id, now]);
}

/** Deletes the row and releases its disk space on the host. */
export async function deleteVolume(tx: Sql, id: string): Promise<void> {
  await tx.run(
    `with deleted as (delete from volumes where id = $1 returning host_id, disk_gb)
     update hosts h set used_disk_gb = used_disk_gb - deleted.disk_gb
       from deleted where h.id = deleted.host_id`,
    [id],
  );
}

export function throwVolumeGone(): never {
  throw new Error('a locked volume does not exist');
}
