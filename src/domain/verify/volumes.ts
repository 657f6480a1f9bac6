/** Invariants of volumes, snapshots, and their tasks. */
import type { Invariant } from './invariant.ts';

export const VOLUME_INVARIANTS: readonly Invariant[] = [
  {
    name: 'volumes are attached to existing servers',
    description: 'each attached volume has a server of its customer and region that is not being deleted',
    source: 'volumes where server_id is not null',
    violations: `select v.id from volumes v
      where v.server_id is not null
        and not exists (select from servers s
                         where s.id = v.server_id and s.customer_id = v.customer_id
                           and s.region_id = v.region_id
                           and s.status <> 'destroying')`,
  },
  {
    name: 'volumes lie in their region',
    description: 'each volume that was ever attached has a disk on a host of its region or on its machine',
    source: 'volumes',
    violations: `select v.id from volumes v left join hosts h on h.id = v.host_id
      where h.region_id <> v.region_id or (v.server_id is not null and v.disk_gb = 0)`,
  },
  {
    name: 'volume changes have a task',
    description: 'every volume change that a driver has not confirmed has its task',
    source: 'volumes',
    violations: `select v.id from volumes v
      where (v.deleted_at is not null or exists (select from volume_changes c where c.volume_id = v.id))
        and not exists (select from tasks t where t.kind = 'volume' and t.subject = v.id)`,
  },
  {
    name: 'snapshots have a task',
    description: 'each snapshot that is being created or has an expiry has its task',
    source: 'snapshots',
    violations: `select n.id from snapshots n
      where (n.status = 'creating' or n.expires_at is not null)
        and not exists (select from tasks t where t.kind = 'snapshot' and t.subject = n.id)`,
  },
  {
    name: 'only ready snapshots have a size',
    description: 'a snapshot that is not ready has no size',
    source: 'snapshots',
    violations: `select id from snapshots where status <> 'ready' and size_gb <> 0`,
  },
];
