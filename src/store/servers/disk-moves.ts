/** Moves of detached volumes and of snapshots: rows of the same queue as those of servers. */
import type { Sql } from '../../kernel/sql.ts';
import { LOCAL_BACKEND } from '../../ports/backends.ts';
import type { MovedDisk } from '../../ports/moves.ts';
import { fitsOnHost, hostsOfCustomer, loadOfHost } from '../inventory/placement.ts';
import type { SnapshotRow } from '../snapshots.ts';
import { VOLUME_COLUMNS, type VolumeRow } from '../volumes/volumes.ts';
import type { MoveRow } from './moves.ts';

export type QueuedDisk = Pick<MoveRow, 'kind' | 'server_id'>;

/** Queues moves of all detached volumes and all snapshots of the host that have none. */
export async function queueDiskMovesFrom(tx: Sql, hostId: string, now: Date): Promise<QueuedDisk[]> {
  return await tx.rows<QueuedDisk>(
    `insert into moves (kind, server_id, id, state, from_host, created_at)
     select kind, id, gen_random_uuid(), 'queued', $1::uuid, $2::timestamptz
       from (select 'volume' as kind, id from volumes
              where host_id = $1 and server_id is null and not shared and lost_at is null
                and deleted_at is null
              union all
             select 'snapshot', id from snapshots
              where host_id = $1 and status <> 'error' and lost_at is null) as d
     on conflict (server_id) do nothing returning kind, server_id`,
    [hostId, now],
  );
}

/** Queues moves of snapshots to the host of their server, which just came from the host `from`. */
export async function queueSnapshotsOf(
  tx: Sql,
  server: { readonly id: string; readonly from: string; readonly now: Date },
): Promise<QueuedDisk[]> {
  return await tx.rows<QueuedDisk>(
    `insert into moves (kind, server_id, id, state, from_host, wanted_host, created_at)
     select 'snapshot', n.id, gen_random_uuid(), 'queued', n.host_id,
            case when f.draining then null else s.host_id end, $now
       from servers s
       join snapshots n on n.customer_id = s.customer_id and n.server_id = s.id
       join hosts f on f.id = n.host_id
      where s.id = $id and n.host_id = $from and n.status = 'ready' and n.lost_at is null
     on conflict (server_id) do nothing returning kind, server_id`,
    server,
  );
}

/** The move for which a restore waits. */
export interface AwaitedMove {
  /** Queued, or sent to another host than before, just now. */
  readonly isNew: boolean;
  readonly attempts: number;
  readonly fault: string | null;
}

/**
 * Queues the move of a snapshot to the host of a server that is restored from it. Returns null if the
 * backend of that host has it, or no host is known to have it.
 */
export async function bringSnapshot(
  tx: Sql,
  wanted: { readonly id: string; readonly serverId: string; readonly now: Date },
): Promise<AwaitedMove | null> {
  const away = await tx.row<{ from: string; to: string; attempts: number | null; fault: string | null }>(
    `select n.host_id as from, h.id as to, m.attempts, m.last_fault as fault
       from snapshots n join servers s on s.id = $serverId join hosts h on h.id = s.host_id
       left join placed_resources p on p.kind = 'snapshot' and p.id = n.id::text
       left join moves m on m.server_id = n.id
      where n.id = $id and n.host_id is not null
        and (m.state in ('copying', 'switched')
             or coalesce(p.backend, '${LOCAL_BACKEND}') <> coalesce(h.backend, '${LOCAL_BACKEND}'))`,
    wanted,
  );
  if (away === undefined) return null;
  const { from, to, attempts, fault } = away;
  if (attempts !== null) {
    const redirected = await tx.run(
      `update moves set wanted_host = $to, attempts = 0, tried_hosts = '{}'
        where server_id = $id and state = 'queued' and wanted_host is distinct from $to`,
      { id: wanted.id, to },
    );
    return redirected > 0 ? { isNew: true, attempts: 0, fault: null } : { isNew: false, attempts, fault };
  }
  await tx.run(
    `insert into moves (kind, server_id, id, state, from_host, wanted_host, created_at)
     values ('snapshot', $id, gen_random_uuid(), 'queued', $from, $to, $now)
     on conflict (server_id) do nothing`,
    { id: wanted.id, now: wanted.now, from, to },
  );
  return { isNew: true, attempts: 0, fault: null };
}

/** Locks a volume, even if its customer deleted it. */
export async function lockVolumeById(tx: Sql, id: string): Promise<VolumeRow | undefined> {
  return await tx.row<VolumeRow>(`select ${VOLUME_COLUMNS} from volumes where id = $1 for update`, [id]);
}

/** Whether a server of the customer is about to leave the host. */
export async function hasLeavingServer(tx: Sql, customerId: string, hostId: string): Promise<boolean> {
  const row = await tx.row(
    `select from moves m join servers s on s.id = m.server_id
      where m.kind = 'server' and m.from_host = $2 and m.state in ('queued', 'copying')
        and s.customer_id = $1 limit 1`,
    [customerId, hostId],
  );
  return row !== undefined;
}

/** A snapshot that moves, with what its way depends on. */
export type MovingSnapshot = Pick<SnapshotRow, 'id' | 'server_id' | 'status' | 'lost_at'> & {
  readonly host_id: string | null;
};

export async function lockSnapshotById(tx: Sql, id: string): Promise<MovingSnapshot | undefined> {
  return await tx.row<MovingSnapshot>(
    'select id, server_id, status, lost_at, host_id from snapshots where id = $1 for update',
    [id],
  );
}

/** Returns what moves, without a lock; null if its customer deleted it. */
export async function findMovedDisk(tx: Sql, { kind, server_id: id }: MoveRow): Promise<MovedDisk | null> {
  if (kind === 'volume') {
    const volume = await tx.row<{ gb: number }>(
      'select disk_gb as gb from volumes where id = $1 and deleted_at is null',
      [id],
    );
    return volume ? { sizeGb: volume.gb, snapshot: null } : null;
  }
  const row = await tx.row<{ gb: string; machineId: string; generation: number; diskGb: number }>(
    `select size_gb as gb, server_id as "machineId", generation, disk_gb as "diskGb"
       from snapshots where id = $1 and status = 'ready'`,
    [id],
  );
  if (!row) return null;
  const { gb, ...snapshot } = row;
  return { sizeGb: Number(gb), snapshot };
}

/** Whether a server on the host is being restored from the snapshot. The caller holds the snapshot's lock. */
export async function isRestoredOn(tx: Sql, snapshotId: string, hostId: string): Promise<boolean> {
  const row = await tx.row(
    `select from operations o join servers s on s.id = o.server_id
      where o.snapshot_id = $1 and s.host_id = $2 limit 1`,
    [snapshotId, hostId],
  );
  return row !== undefined;
}

interface Wanted {
  readonly id: string;
  readonly excludedHosts: readonly string[];
  /** Leaves out hosts of the same backend, between which its driver does not move. */
  readonly otherBackend: boolean;
}

/**
 * Reserves disk for a volume that moves; undefined when no other host of its region has it. Hosts with
 * servers of its customer come first: only these can use it.
 */
export async function reserveVolumeTarget(tx: Sql, wanted: Wanted): Promise<string | undefined> {
  const needs = { region: 'v.region_id', ramMb: '0', diskGb: 'v.disk_gb', hostTags: `'{}'::text[]` };
  const row = await tx.row<{ id: string }>(
    `with host as materialized (
       select h.id, v.disk_gb
         from volumes v join hosts own on own.id = v.host_id join hosts h on ${fitsOnHost(needs, 'used')}
        where v.id = $id and h.id <> own.id and h.id <> all ($excludedHosts::uuid[])
          and (not $otherBackend or h.backend is distinct from own.backend)
        order by cardinality(array_positions(${hostsOfCustomer('v.customer_id')}, h.id)) desc,
                 ${loadOfHost('h.id')}, h.disk_gb - h.used_disk_gb desc, h.id
        limit 1 for update of h)
     update hosts h set used_disk_gb = h.used_disk_gb + host.disk_gb
       from host where h.id = host.id returning h.id`,
    wanted,
  );
  return row?.id;
}

/** Whether a driver may have created the volume: it has an entry from before that on. */
export async function mayHaveContent(tx: Sql, volumeId: string): Promise<boolean> {
  const row = await tx.row(`select from placed_resources where kind = 'volume' and id = $1`, [volumeId]);
  return row !== undefined;
}

/** Moves a volume without content to the host where its disk was just reserved. */
export async function moveEmptyVolume(tx: Sql, id: string, toHost: string): Promise<void> {
  await tx.run(
    `with moved as (select host_id, disk_gb from volumes where id = $1),
     released as (
       update hosts h set used_disk_gb = h.used_disk_gb - moved.disk_gb
         from moved where h.id = moved.host_id)
     update volumes set host_id = $2 where id = $1`,
    [id, toHost],
  );
}

/**
 * Finds a host for a snapshot that moves: that of its server, or else of its region, with the most free disk.
 * A host where a server is restored from it may also be drained.
 */
export async function findSnapshotTarget(
  tx: Sql,
  wanted: Wanted & { readonly onlyHost: string | null },
): Promise<string | undefined> {
  const row = await tx.row<{ id: string }>(
    `select h.id
       from snapshots n join hosts own on own.id = n.host_id
       join hosts h on h.region_id = n.region_id and h.lost_at is null
       left join servers s on s.id = n.server_id
      where n.id = $id and h.id <> own.id and h.id <> all ($excludedHosts::uuid[])
        and (not $otherBackend or h.backend is distinct from own.backend)
        and (h.id = $onlyHost
             or $onlyHost::uuid is null and not h.draining
                and (h.id = s.host_id or h.disk_gb - h.used_disk_gb >= n.size_gb))
      order by h.id is not distinct from s.host_id desc, h.disk_gb - h.used_disk_gb desc, h.id limit 1`,
    wanted,
  );
  return row?.id;
}

/**
 * The only authority on which host has the volume or snapshot: from this commit on, the target. The caller
 * holds its lock.
 */
export async function switchDisk(tx: Sql, move: MoveRow): Promise<void> {
  await placeDisk(tx, move, move.to_host);
  await tx.run(`update moves set state = 'switched' where id = $1`, [move.id]);
}

/**
 * Gives volumes and snapshots back to their source if their target is lost before the move has ended. Nothing
 * changed them since the switch, so the source's copy is the same.
 */
export async function returnSwitchedDisks(tx: Sql, lostHostId: string): Promise<void> {
  const returned = await tx.rows<QueuedDisk & Pick<MoveRow, 'from_host'>>(
    `update moves set state = 'kept', last_fault = 'the host is lost'
      where kind <> 'server' and state = 'switched' and to_host = $1
        and not exists (select from hosts f where f.id = from_host and f.lost_at is not null)
     returning kind, server_id, from_host`,
    [lostHostId],
  );
  for (const move of returned) await placeDisk(tx, move, move.from_host);
}

/** Stores which host has the volume or snapshot. */
async function placeDisk(tx: Sql, move: QueuedDisk, hostId: string | null): Promise<void> {
  const table = move.kind === 'volume' ? 'volumes' : 'snapshots';
  await tx.run(`update ${table} set host_id = $2 where id = $1`, [move.server_id, hostId]);
  await tx.run(
    `insert into placed_resources as p (kind, id, backend)
     select $1, $2, coalesce(h.backend, '${LOCAL_BACKEND}') from hosts h
      where h.id = $3
        and ($1 = 'volume' or h.backend is not null
             or exists (select from placed_resources where kind = $1 and id = $2))
     on conflict (kind, id) do update set backend = excluded.backend`,
    [move.kind, move.server_id, hostId],
  );
}

/** Returns since when the copy fails, from now on if it did not. */
export async function noteFailingCopy(
  tx: Sql,
  id: string,
  { fault, now }: { readonly fault: string; readonly now: Date },
): Promise<Date> {
  const row = await tx.row<{ failing_since: Date }>(
    `update moves set failing_since = coalesce(failing_since, $3), last_fault = $2
      where id = $1 returning failing_since`,
    [id, fault, now],
  );
  return row?.failing_since ?? now;
}

/** Whether the volume or snapshot is on its way, with a server or alone. */
export async function isDiskMoving(tx: Sql, id: string): Promise<boolean> {
  const row = await tx.row(
    `select from moves
      where state in ('copying', 'switched') and (server_id = $1 or $1 = any (volume_ids)) limit 1`,
    [id],
  );
  return row !== undefined;
}

/** Whether the volume has a change or a task that a driver has not confirmed. */
export async function hasUnsettledChanges(tx: Sql, volumeId: string): Promise<boolean> {
  const row = await tx.row(
    `select from volume_changes where volume_id = $1
     union all
     select from tasks where kind = 'volume' and subject = $1
     limit 1`,
    [volumeId],
  );
  return row !== undefined;
}
