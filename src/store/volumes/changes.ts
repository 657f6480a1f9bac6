/** Attach and detach changes of volumes, from the response to the customer until the driver confirms them. */
import type { Sql } from '../../kernel/sql.ts';
import type { VolumeSpec } from '../../ports/compute.ts';
import { throwVolumeGone, VOLUME_COLUMNS, type VolumeRow } from './volumes.ts';

export interface VolumeChange {
  readonly event: 'volume.attached' | 'volume.detached';
  /** The server it was attached to or detached from. */
  readonly server_id: string;
  readonly device: string;
}

/** The desired state of a volume for the driver, read in one snapshot. */
export interface VolumeWork extends VolumeRow {
  /** The actions that run on it, the oldest first. */
  readonly action_ids: readonly string[];
  /** The latest change reflected in `server_id` and `device`; null when all are confirmed. */
  readonly last_seq: bigint | null;
  /** It was detached since the driver's last confirmation, even if it was attached again. */
  readonly detached: boolean;
  /** Its server has never run: its machine may not exist yet. */
  readonly awaits_install: boolean;
  /** When the shutdown of a server that it is being detached from began; null: none is shutting down. */
  readonly shutdown_since: Date | null;
}

export async function findVolumeWork(tx: Sql, id: string): Promise<VolumeWork | undefined> {
  return await tx.row<VolumeWork>(
    `select ${VOLUME_COLUMNS}, c.last_seq, coalesce(c.detached, false) as detached,
            exists (select from servers s
                     where s.id = v.server_id and s.first_run_at is null) as awaits_install,
            array(select x.id from actions x
                   where x.resource_id = v.id and x.status = 'running' order by x.id) as action_ids,
            (select max(o.placed_at)
               from volume_changes d join operations o on o.server_id = d.server_id
              where d.volume_id = v.id and d.event = 'volume.detached'
                and o.kind in ('stop', 'suspend')) as shutdown_since
       from volumes v,
            lateral (select max(seq) as last_seq, bool_or(event = 'volume.detached') as detached
                       from volume_changes where volume_id = v.id) c
      where v.id = $1`,
    [id],
  );
}

/**
 * Lists the server's devices that a volume uses, or may still use until the driver confirms the detach.
 * Excludes unconfirmed devices of `volumeId` itself. The caller holds the server's lock.
 */
export async function listUsedDevices(tx: Sql, serverId: string, volumeId: string): Promise<Set<string>> {
  const rows = await tx.rows<{ device: string }>(
    `select device from volumes where server_id = $1
     union select device from volume_changes where server_id = $1 and volume_id <> $2`,
    [serverId, volumeId],
  );
  return new Set(rows.map(({ device }) => device));
}

/** Whether a volume was detached from the server without the driver's confirmation yet. */
export async function hasDetachingVolume(tx: Sql, serverId: string): Promise<boolean> {
  const found = await tx.row(
    `select from volume_changes where server_id = $1 and event = 'volume.detached' limit 1`,
    [serverId],
  );
  return found !== undefined;
}

/** Attaches a volume. The caller holds the volume's lock and has reserved its disk on this host. */
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
    `update volumes set server_id = $2, device = $3, disk_gb = size_gb, host_id = $4
      where id = $1 returning ${VOLUME_COLUMNS}`,
    [to.id, to.serverId, to.device, to.hostId],
  );
  return row ?? throwVolumeGone();
}

/** Detaches an attached volume. The caller holds its lock. */
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

/** Locks the volumes of a server. The caller holds the server's lock, so none is attached meanwhile. */
export async function lockVolumesOf(tx: Sql, serverId: string): Promise<VolumeRow[]> {
  return await tx.rows<VolumeRow>(`${OF_SERVER} for update`, [serverId]);
}

export async function listVolumesOf(sql: Sql, serverId: string): Promise<VolumeRow[]> {
  return await sql.rows<VolumeRow>(OF_SERVER, [serverId]);
}

const OF_SERVER = `select ${VOLUME_COLUMNS} from volumes where server_id = $1 order by id`;

/** Lists the ids of volumes attached to these servers. */
export async function listAttachedTo(tx: Sql, serverIds: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>('select id from volumes where server_id = any($1::uuid[])', [
    serverIds,
  ]);
  return rows.map(({ id }) => id);
}

/** Returns how volumes are attached. */
export async function findAttachments(tx: Sql, ids: readonly string[]): Promise<VolumeSpec[]> {
  const rows = await tx.rows<Omit<VolumeSpec, 'shared'> & { readonly shared: boolean }>(
    `select v.id, v.size_gb as "sizeGb", coalesce(v.device, c.device) as device, v.shared
       from volumes v
       left join lateral (select device from volume_changes
                           where volume_id = v.id and event = 'volume.detached'
                           order by seq limit 1) c on true
      where v.id = any ($1::uuid[]) and coalesce(v.device, c.device) is not null order by v.id`,
    [ids],
  );
  return rows.map(({ shared, ...spec }) => (shared ? { ...spec, shared } : spec));
}

/**
 * Removes and returns the changes up to `seq`, in order. Only the caller that removes them sends their
 * events.
 */
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

/** Whether the volume is unchanged since `work` was read. The caller holds its lock. */
export async function isVolumeUnchanged(tx: Sql, work: VolumeWork): Promise<boolean> {
  const current = await findVolumeWork(tx, work.id);
  return current?.last_seq === work.last_seq && current.server_id === work.server_id;
}
