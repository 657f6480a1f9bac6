/**
 * Storage that the hosts of a region share: any of them can delete a snapshot, and take a disk or a volume
 * from a host that is lost.
 */
import type { Sql } from '../../kernel/sql.ts';
import { LOCAL_BACKEND } from '../../ports/backends.ts';

const PASS_ON = `update placed_resources p set backend = coalesce(taker.backend, '${LOCAL_BACKEND}')
   from hosts l cross join lateral (${takerOf('l.region_id', 'l.id')}) as taker
  where l.backend = $1 and p.backend = $1`;

/**
 * Gives what the backend has on shared storage, and does not use, to another host of the region: any of them
 * can delete it, or attach it.
 */
export async function passSharedStorage(tx: Sql, backend: string): Promise<void> {
  await tx.run(
    `${PASS_ON}
        and (p.kind = 'snapshot' and exists (select from snapshots n where n.id::text = p.id and n.shared)
             or p.kind = 'volume' and exists (
               select from volumes v
                where v.id::text = p.id and v.shared and v.server_id is null
                  and not exists (select from volume_changes c where c.volume_id = v.id)
                  and not exists (select from tasks t where t.kind = 'volume' and t.subject = v.id)))`,
    [backend],
  );
}

/**
 * The host of a region that takes over shared storage: its name and its backend. It is neither lost nor the
 * host with the id `leaving`.
 */
function takerOf(region: string, leaving = 'null'): string {
  return `select h.name, h.backend from hosts h
      left join backends b on b.name = h.backend
      left join host_facts f on f.host_id = h.id
     where h.region_id = ${region} and h.lost_at is null and h.id is distinct from ${leaving}
       and coalesce(b.state, 'active') = 'active'
     order by f.away_since is not null, h.draining, h.name limit 1`;
}

/**
 * Forgets that a lost backend has volumes and snapshots, so that their removal calls no one. The entries of
 * shared volumes stay: their data is not on the host. So does that of any volume that is not marked as lost:
 * without it, the next attachment would create an empty volume.
 */
export async function forgetStorage(tx: Sql, backend: string): Promise<void> {
  // Those without a row are being deleted, and may be shared.
  await tx.run(
    `${PASS_ON} and p.kind = 'snapshot'
        and not exists (select from snapshots n where n.id::text = p.id and not n.shared)`,
    [backend],
  );
  await tx.run(
    `delete from placed_resources p
      where backend = $1
        and (kind = 'snapshot'
                and not exists (select from snapshots where id::text = p.id and shared and lost_at is null)
             or kind = 'volume'
                and not exists (select from volumes where id::text = p.id
                                   and (shared or lost_at is null and deleted_at is null)))`,
    [backend],
  );
}

/** Whether a lost host has the server's shared disk, and the name of a host that can take it, or null. */
export async function findDiskSeizure(
  tx: Sql,
  serverId: string,
): Promise<{ readonly by: string | null } | undefined> {
  return await tx.row<{ by: string | null }>(
    `select (select name from (${takerOf('s.region_id')}) as taker) as by
       from servers s join hosts l on l.id = s.host_id
      where s.id = $1 and s.shared_disk and l.lost_at is not null`,
    [serverId],
  );
}

/** Lists the shared volumes that the backend had last. */
export async function listSharedVolumes(tx: Sql, backend: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select v.id from volumes v join placed_resources p on p.kind = 'volume' and p.id = v.id::text
      where v.shared and p.backend = $1`,
    [backend],
  );
  return rows.map(({ id }) => id);
}

/**
 * Whether a lost host had the shared volume last, and the name of a host that can take it: that of its
 * server, or another one of its region. Null: there is none.
 */
export async function findSeizure(
  tx: Sql,
  volumeId: string,
): Promise<{ readonly by: string | null } | undefined> {
  return await tx.row<{ by: string | null }>(
    `select coalesce(own.name, (select name from (${takerOf('v.region_id')}) as taker)) as by
       from volumes v
       join placed_resources p on p.kind = 'volume' and p.id = v.id::text
       left join servers s on s.id = v.server_id
       left join hosts own on own.id = s.host_id and own.lost_at is null
         and not exists (select from backends b where b.name = own.backend and b.state <> 'active')
      where v.id = $1 and v.shared
        and exists (select from hosts l where l.backend = p.backend and l.lost_at is not null)`,
    [volumeId],
  );
}
