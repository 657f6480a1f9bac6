/** Hosts that do not come back, and what they took with them. */
import type { Sql } from '../../kernel/sql.ts';
import { LOCAL_BACKEND } from '../../ports/backends.ts';
import type { LostServers } from '../../spec/states.ts';
import { detachFromHosts, IS_COPIED } from '../servers/snapshot-copies.ts';
import { endAssignments } from './address-history.ts';

/** A lost host. */
export interface HostLoss {
  readonly host_id: string;
  readonly host: string;
  readonly lost_at: Date;
  readonly lost_servers: LostServers;
  readonly fenced_at: Date | null;
}

const LOSS = 'h.id as host_id, h.name as host, h.lost_at, h.lost_servers, h.fenced_at';

/** Returns the loss of the host that the server is on; undefined if that host is not lost. */
export async function findLossOfServer(tx: Sql, serverId: string): Promise<HostLoss | undefined> {
  return await tx.row<HostLoss>(
    `select ${LOSS} from servers s join hosts h on h.id = s.host_id
      where s.id = $1 and h.lost_at is not null`,
    [serverId],
  );
}

/**
 * Like `findLossOfServer`, for a host. It is neither lost nor fenced before the transaction ends: the lock is
 * as strong as that of the updates of its usage that may follow.
 */
export async function lockLoss(tx: Sql, hostId: string): Promise<HostLoss | undefined> {
  const host = await tx.row<HostLoss & { readonly is_lost: boolean }>(
    `select ${LOSS}, h.lost_at is not null as is_lost from hosts h where h.id = $1 for no key update`,
    [hostId],
  );
  return host?.is_lost ? host : undefined;
}

/** Marks the host as lost, or changes the choice. The caller holds its lock. */
export async function markHostLost(
  tx: Sql,
  host: { readonly name: string; readonly servers: LostServers; readonly now: Date },
): Promise<void> {
  await tx.run(
    `update hosts set lost_at = coalesce(lost_at, $now), lost_servers = $servers, draining = true
      where name = $name`,
    host,
  );
}

/** Returns the servers on the host, and those that move to or from it. */
export async function listServersOfLostHost(tx: Sql, hostId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from servers where host_id = $1
     union select server_id from moves where kind = 'server' and $1 in (from_host, to_host)`,
    [hostId],
  );
  return rows.map(({ id }) => id);
}

/** Something whose data was on the host. */
export interface LostData {
  readonly id: string;
  readonly customer_id: string;
  readonly name: string;
}

/**
 * Whether the data of volume `v` is on host `h`: by its backend, or, before a driver created it, by the disk
 * reserved for it. A customer may have asked for an attachment on a host that does not have the data.
 */
const VOLUME_ON_HOST = `(not v.shared and coalesce(
  (select p.backend = coalesce(h.backend, '${LOCAL_BACKEND}') and (h.backend is not null or v.host_id = h.id)
     from placed_resources p where p.kind = 'volume' and p.id = v.id::text),
  v.host_id = h.id, false))`;

export async function markVolumesLost(tx: Sql, hostId: string, now: Date): Promise<LostData[]> {
  return await tx.rows<LostData>(
    `update volumes v set lost_at = $2 from hosts h
      where h.id = $1 and v.lost_at is null and v.deleted_at is null and ${VOLUME_ON_HOST}
     returning v.id, v.customer_id, v.name`,
    [hostId, now],
  );
}

/**
 * Which snapshots `n` were on host `h`: by their backend, or, before a driver started them, by their server.
 * Simulated hosts have no backend. A shared one needs the host only while it is being made.
 */
const SNAPSHOT_ON_HOST = `((not n.shared or n.status = 'creating')
  and case when h.backend is null then coalesce(n.host_id, s.host_id) = h.id
  else p.backend = h.backend or p.backend is null and n.status = 'creating' and s.host_id = h.id end)`;
const SNAPSHOTS = `snapshots n left join servers s on s.id = n.server_id
  left join placed_resources p on p.kind = 'snapshot' and p.id = n.id::text`;

/** Locks the snapshots on the host, so that no copy of one is confirmed until the transaction ends. */
export async function lockSnapshotsOfHost(tx: Sql, hostId: string): Promise<void> {
  await tx.rows(
    `select id from snapshots where id in (
       select n.id from hosts h, ${SNAPSHOTS}
        where h.id = $1 and n.lost_at is null and n.status <> 'error' and ${SNAPSHOT_ON_HOST})
      order by id for update`,
    [hostId],
  );
}

/**
 * Takes the snapshots of which the store has a copy off the host, and returns their ids. The caller holds
 * their locks.
 */
export async function detachCopiedSnapshots(tx: Sql, hostId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select n.id from hosts h, ${SNAPSHOTS}
      where h.id = $1 and n.lost_at is null and n.status = 'ready' and ${SNAPSHOT_ON_HOST} and ${IS_COPIED}`,
    [hostId],
  );
  const ids = rows.map(({ id }) => id);
  await detachFromHosts(tx, ids);
  return ids;
}

/** Marks the others as lost. */
export async function markSnapshotsLost(
  tx: Sql,
  hostId: string,
  { now, kept }: { readonly now: Date; readonly kept: readonly string[] },
): Promise<LostData[]> {
  return await tx.rows<LostData>(
    `update snapshots set lost_at = $2
      where id in (select n.id from hosts h, ${SNAPSHOTS}
                    where h.id = $1 and n.lost_at is null and n.status <> 'error' and ${SNAPSHOT_ON_HOST}
                      and n.id <> all ($3::uuid[]))
     returning id, customer_id, name`,
    [hostId, now, kept],
  );
}

/** Lists the volumes with a disk reserved on the host whose data is elsewhere. Lost ones are marked. */
export async function listIntactVolumes(tx: Sql, hostId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    'select id from volumes where host_id = $1 and lost_at is null and deleted_at is null',
    [hostId],
  );
  return rows.map(({ id }) => id);
}

/** Forgets that a backend has the server's machine. */
export async function forgetMachine(tx: Sql, serverId: string): Promise<void> {
  await tx.run(`delete from placed_resources where kind = 'machine' and id = $1::text`, [serverId]);
}

/** Releases the disk of a lost volume, which is detached. The caller holds its lock. */
export async function releaseLostVolume(tx: Sql, id: string): Promise<void> {
  await tx.run(
    `with freed as (
       update hosts h set used_disk_gb = h.used_disk_gb - v.disk_gb
         from volumes v where v.id = $1 and h.id = v.host_id)
     update volumes set host_id = null, disk_gb = 0 where id = $1`,
    [id],
  );
}

/**
 * Records that the machine is off for good, and lets its addresses rest until `freeFrom`. Returns how many,
 * and the servers whose task `rdns` releases those with names.
 */
export async function fenceHost(
  tx: Sql,
  hostId: string,
  { now, freeFrom }: { readonly now: Date; readonly freeFrom: Date },
): Promise<{ readonly released: bigint; readonly named: readonly string[] }> {
  await tx.run('update hosts set fenced_at = coalesce(fenced_at, $2) where id = $1', [hostId, now]);
  // An address whose name is still published stays reserved until the name is withdrawn.
  const names = await tx.rows<{ server_id: string }>(
    `update published_rdns d set free_from = $2
      where d.free_from is not null
        and (exists (select from ipv4_addresses where addr = d.address and held_by = $1)
             or exists (select from ipv6_prefixes
                         where d.address <<= prefix and held_by = $1))
     returning server_id`,
    [hostId, freeFrom],
  );
  const row = await tx.row<{ n: bigint }>(
    `with history as (${endAssignments('held_by = $1', '$3::timestamptz')}),
     four as (
       update ipv4_addresses a
          set held_by = null, free_from = case when exists (
                select from published_rdns d
                 where d.address = a.addr and d.free_from is not null) then free_from else $2 end
        where held_by = $1 returning 1),
     six as (
       update ipv6_prefixes x
          set held_by = null, free_from = case when exists (
                select from published_rdns d
                 where family(d.address) = 6 and d.address <<= x.prefix and d.free_from is not null)
              then free_from else $2 end
        where held_by = $1 returning 1)
     select (select count(*) from four) + (select count(*) from six) as n`,
    [hostId, freeFrom, now],
  );
  return { released: row?.n ?? 0n, named: [...new Set(names.map(({ server_id: id }) => id))] };
}

/** Counts of everything on a host, and of the things that wait for it once it is lost. */
export interface HostContents {
  readonly name: string;
  readonly lost_at: Date | null;
  readonly lost_servers: LostServers | null;
  readonly fenced_at: Date | null;
  readonly servers: bigint;
  /** Of those, with a shared disk. */
  readonly shared_disks: bigint;
  /** Of those, under a legal hold. */
  readonly held_servers: bigint;
  /** Of those, without a hold, and without a host or an address to go to. */
  readonly waiting_servers: bigint;
  readonly volumes: bigint;
  readonly snapshots: bigint;
  /** Shared volumes that it had last. */
  readonly shared_volumes: bigint;
  /** Addresses and /64s that are held until it is fenced. */
  readonly held_addresses: bigint;
}

const CONTENTS = `h.name, h.lost_at, h.lost_servers, h.fenced_at,
  (select count(*) from servers where host_id = h.id) as servers,
  (select count(*) from servers where host_id = h.id and shared_disk) as shared_disks,
  (select count(*) from servers where host_id = h.id and held_at is not null) as held_servers,
  (select count(*) from servers s join operations o on o.server_id = s.id
    where s.host_id = h.id and s.held_at is null and o.step = 'place' and o.last_fault is not null)
    as waiting_servers,
  (select count(*) from volumes v where v.deleted_at is null and ${VOLUME_ON_HOST}) as volumes,
  (select count(*) from ${SNAPSHOTS}
    where n.status <> 'error' and ${SNAPSHOT_ON_HOST} and not ${IS_COPIED}) as snapshots,
  (select count(*) from volumes v join placed_resources p on p.kind = 'volume' and p.id = v.id::text
    where v.shared and p.backend = h.backend) as shared_volumes,
  (select count(*) from ipv4_addresses where held_by = h.id)
    + (select count(*) from ipv6_prefixes where held_by = h.id) as held_addresses`;

export async function findHostContents(tx: Sql, name: string): Promise<HostContents | undefined> {
  return await tx.row<HostContents>(`select ${CONTENTS} from hosts h where h.name = $1`, [name]);
}

export async function listLostHosts(tx: Sql): Promise<HostContents[]> {
  return await tx.rows<HostContents>(
    `select ${CONTENTS} from hosts h where h.lost_at is not null order by h.name`,
  );
}
