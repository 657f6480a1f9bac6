/** Attachments and detachments of volumes, from the answer to the customer until the driver has confirmed them. */
import type { Sql } from '../kernel/sql.ts';
import { throwVolumeGone, VOLUME_COLUMNS, type VolumeRow } from './volumes.ts';

export interface VolumeChange {
  readonly event: 'volume.attached' | 'volume.detached';
  /** Where it was attached to, or detached from. */
  readonly server_id: string;
  readonly device: string;
}

/** What a driver is to ensure of a volume, as it is in one moment. */
export interface VolumeWork extends VolumeRow {
  /** The last change that `server_id` and `device` hold; null when all were confirmed. */
  readonly last_seq: bigint | null;
  /** It was detached since the driver was last heard, whatever came after. */
  readonly detached: boolean;
  /** Since when a server is being shut down that it was detached from, as far as the driver was heard; null: none is. */
  readonly shutdown_since: Date | null;
}

export async function findVolumeWork(tx: Sql, id: string): Promise<VolumeWork | undefined> {
  return await tx.row<VolumeWork>(
    `select ${VOLUME_COLUMNS}, c.last_seq, coalesce(c.detached, false) as detached,
            (select max(o.placed_at) from volume_changes d join operations o on o.server_id = d.server_id
              where d.volume_id = v.id and d.event = 'volume.detached' and o.kind in ('stop', 'suspend')) as shutdown_since
       from volumes v,
            lateral (select max(seq) as last_seq, bool_or(event = 'volume.detached') as detached
                       from volume_changes where volume_id = v.id) c
      where v.id = $1`,
    [id],
  );
}

/**
 * Devices of the server that a volume has or, as far as the driver was heard, may still have; `volumeId`'s own old
 * ones are not among them. The caller holds the server's lock.
 */
export async function listUsedDevices(tx: Sql, serverId: string, volumeId: string): Promise<Set<string>> {
  const rows = await tx.rows<{ device: string }>(
    `select device from volumes where server_id = $1
     union select device from volume_changes where server_id = $1 and volume_id <> $2`,
    [serverId, volumeId],
  );
  return new Set(rows.map(({ device }) => device));
}

/** Whether a volume was detached from the server that the driver, as far as it was heard, may still have there. */
export async function hasDetachingVolume(tx: Sql, serverId: string): Promise<boolean> {
  const found = await tx.row(
    `select from volume_changes where server_id = $1 and event = 'volume.detached' limit 1`,
    [serverId],
  );
  return found !== undefined;
}

/** The caller holds the volume's lock and its disk is taken on this host. */
export async function attachVolume(
  tx: Sql,
  to: {
    readonly id: string;
    readonly serverId: string;
    readonly device: string;
    readonly hostId: string | null;
  },
): Promise<VolumeRow> {
  await tx.run(
    `insert into volume_changes (volume_id, event, server_id, device) values ($1, 'volume.attached', $2, $3)`,
    [to.id, to.serverId, to.device],
  );
  const row = await tx.row<VolumeRow>(
    `update volumes set server_id = $2, device = $3, disk_gb = size_gb, host_id = $4 where id = $1 returning ${VOLUME_COLUMNS}`,
    [to.id, to.serverId, to.device, to.hostId],
  );
  return row ?? throwVolumeGone();
}

/** Detaches one attached volume, which the caller has locked. */
export async function detachVolume(tx: Sql, id: string): Promise<VolumeRow> {
  await tx.run(
    `insert into volume_changes (volume_id, event, server_id, device)
     select id, 'volume.detached', server_id, device from volumes where id = $1 and server_id is not null`,
    [id],
  );
  const row = await tx.row<VolumeRow>(
    `update volumes set server_id = null, device = null where id = $1 returning ${VOLUME_COLUMNS}`,
    [id],
  );
  return row ?? throwVolumeGone();
}

/** Locks the volumes of a server; the caller holds the server's lock, so none is added. */
export async function lockVolumesOf(tx: Sql, serverId: string): Promise<VolumeRow[]> {
  return await tx.rows<VolumeRow>(
    `select ${VOLUME_COLUMNS} from volumes where server_id = $1 order by id for update`,
    [serverId],
  );
}

/** Ids of what is attached to these servers. */
export async function listAttachedTo(tx: Sql, serverIds: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>('select id from volumes where server_id = any($1::uuid[])', [
    serverIds,
  ]);
  return rows.map(({ id }) => id);
}

/** Takes the changes up to `seq` off the list, in their order: who gets them announces them, and nobody else. */
export async function drainVolumeChanges(
  tx: Sql,
  id: string,
  seq: bigint,
): Promise<(VolumeChange & { readonly seq: bigint })[]> {
  return await tx.rows(
    `with taken as (
       delete from volume_changes where volume_id = $1 and seq <= $2 returning seq, event, server_id, device)
     select * from taken order by seq`,
    [id, seq],
  );
}

/** Whether the volume is as it was when `work` was read. The caller holds its lock. */
export async function isVolumeUnchanged(tx: Sql, work: VolumeWork): Promise<boolean> {
  const now = await findVolumeWork(tx, work.id);
  return now?.last_seq === work.last_seq && now.server_id === work.server_id;
}
