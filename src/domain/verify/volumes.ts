/** Volumes, snapshots and the tasks that ensure them. */
import type { Invariant } from './invariant.ts';

export const VOLUME_INVARIANTS: readonly Invariant[] = [
  {
    name: 'volumes are attached to what is there',
    description: 'each attached volume has a server of its customer and region that is not being destroyed',
    source: 'volumes where server_id is not null',
    violations: `select v.id from volumes v
      where v.server_id is not null
        and not exists (select from servers s
                         where s.id = v.server_id and s.customer_id = v.customer_id and s.region_id = v.region_id
                           and s.status <> 'destroying')`,
  },
  {
    name: 'volumes lie in their region',
    description:
      'each volume that was ever attached has its disk, on a host of its region or on a machine’s own disks',
    source: 'volumes',
    violations: `select v.id from volumes v left join hosts h on h.id = v.host_id
      where h.region_id <> v.region_id or (v.server_id is not null and v.disk_gb = 0)`,
  },
  {
    name: 'volumes are worked on',
    description: 'whatever a driver has not confirmed of a volume has its task',
    source: 'volumes',
    violations: `select v.id from volumes v
      where (v.deleted_at is not null or exists (select from volume_changes c where c.volume_id = v.id))
        and not exists (select from tasks t where t.kind = 'volume' and t.subject = v.id)`,
  },
  {
    name: 'snapshots are worked on',
    description: 'each snapshot that is being made, or that has a date of deletion, has its task',
    source: 'snapshots',
    violations: `select n.id from snapshots n
      where (n.status = 'creating' or n.expires_at is not null)
        and not exists (select from tasks t where t.kind = 'snapshot' and t.subject = n.id)`,
  },
  {
    name: 'snapshots have a size when they are ready',
    description: 'only a snapshot that is ready has a size',
    source: 'snapshots',
    violations: `select id from snapshots where status <> 'ready' and size_gb <> 0`,
  },
];
