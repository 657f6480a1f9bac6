/** Invariants of hosts that do not come back: nothing of them is sold, billed, or forgotten. */
import type { Invariant } from './invariant.ts';

/** Every pooled address, and the lost host that may still use it. */
const POOL = `(select host(addr) as id, server_id, free_from, held_by from ipv4_addresses
  union all select prefix::text, server_id, free_from, held_by from ipv6_prefixes)`;

export const LOST_HOST_INVARIANTS: readonly Invariant[] = [
  {
    name: 'lost hosts are out of use',
    description: 'every lost host is drained, and its backend is never called',
    source: 'hosts where lost_at is not null',
    violations: `select h.id from hosts h left join backends b on b.name = h.backend
      where h.lost_at is not null and (not h.draining or b.state = 'active')`,
  },
  {
    name: 'servers of lost hosts are settled',
    description: 'every server on a lost host has its task, waits for another host, or is being deleted',
    source: 'servers',
    violations: `select s.id from servers s join hosts h on h.id = s.host_id
      where h.lost_at is not null and s.status <> 'destroying'
        and not exists (select from tasks t where t.kind = 'lost_server' and t.subject = s.id)
        and not exists (select from operations o where o.server_id = s.id and o.step = 'place')`,
  },
  {
    name: 'held addresses wait for a lost host',
    description: 'held addresses have no server, are not available, and their host is lost and not fenced',
    source: `${POOL} as pool where held_by is not null`,
    violations: `select p.id from ${POOL} as p left join hosts h on h.id = p.held_by
      where p.held_by is not null
        and (p.server_id is not null or p.free_from <> 'infinity' or h.lost_at is null
             or h.fenced_at is not null)`,
  },
  {
    name: 'reserved addresses have a reason',
    description: 'addresses without a server are available at some time, are held, or have a published name',
    source: `${POOL} as pool where server_id is null`,
    violations: `select p.id from ${POOL} as p
      where p.server_id is null and p.held_by is null and p.free_from = 'infinity'
        and not exists (select from published_rdns d
                         where d.free_from is not null and d.address <<= p.id::inet)`,
  },
  {
    name: 'lost volumes use no disk',
    description: 'every lost volume is detached and uses no disk, or has its task',
    source: 'volumes where lost_at is not null',
    violations: `select v.id from volumes v
      where v.lost_at is not null and (v.server_id is not null or v.host_id is not null or v.disk_gb > 0)
        and not exists (select from tasks t where t.kind = 'volume' and t.subject = v.id)`,
  },
  {
    name: 'lost snapshots have failed',
    description: 'every lost snapshot has failed, or has its task',
    source: 'snapshots where lost_at is not null',
    violations: `select n.id from snapshots n
      where n.lost_at is not null and n.status <> 'error'
        and not exists (select from tasks t where t.kind = 'snapshot' and t.subject = n.id)`,
  },
  {
    name: 'copies have their snapshots',
    description: 'every copy in the file store is of a snapshot that is ready, or has work to do',
    source: 'snapshot_copies',
    violations: `select c.snapshot_id from snapshot_copies c
      where c.due_at is null
        and not exists (select from snapshots n where n.id = c.snapshot_id and n.status = 'ready')
        and not exists (select from tasks t where t.kind = 'snapshot' and t.subject = c.snapshot_id)`,
  },
];
