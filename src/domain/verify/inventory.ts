/**
 * Invariants of hosts, machines, addresses, volumes, snapshots, and firewall groups: nothing leaks, and
 * nothing is assigned twice.
 */
import { DISK_ON_HOST } from '../../store/inventory/placement.ts';
import type { Invariant } from './invariant.ts';

/** Every pooled address: its id and the server that has it. */
const POOL = `(select host(addr) as id, 4 as family, server_id, region_id, block_id from ipv4_addresses
  union all select prefix::text, 6, server_id, region_id, block_id from ipv6_prefixes)`;

export const INVENTORY_INVARIANTS: readonly Invariant[] = [
  {
    name: 'assigned addresses have a server',
    description: 'every address and /64 outside the pool is assigned to an existing server',
    source: `${POOL} as pool where server_id is not null`,
    violations: `select p.id from ${POOL} as p
      where p.server_id is not null and not exists (select from servers s where s.id = p.server_id)`,
  },
  {
    name: 'servers have their addresses',
    description: 'every server has one IPv4 address and one /64 of its region, unless it is being deleted',
    source: `servers where status <> 'destroying'`,
    violations: `select s.id from servers s
      left join ${POOL} as p on p.server_id = s.id and p.region_id = s.region_id
      where s.status <> 'destroying'
      group by s.id
      having count(*) filter (where p.family = 4) <> 1 or count(*) filter (where p.family = 6) <> 1`,
  },
  {
    name: 'the address history has every assignment',
    description: 'every assigned address has one open row in the history, of its server and customer',
    source: `${POOL} as pool where server_id is not null`,
    violations: `select coalesce(p.address, a.address)::text
      from (select addr::cidr as address, server_id from ipv4_addresses where server_id is not null
            union all
            select prefix, server_id from ipv6_prefixes where server_id is not null) p
      full join (select address, server_id from address_assignments x
                  where released_at is null
                    and address not in (select addr::cidr from ipv4_addresses where held_by is not null
                                        union all
                                        select prefix from ipv6_prefixes where held_by is not null)
                    and not exists (select from servers s
                                     where s.id = x.server_id and s.customer_id <> x.customer_id)) a
        on a.address = p.address and a.server_id = p.server_id
      where p.address is null or a.address is null`,
  },
  {
    name: 'addresses lie in their block',
    description: 'every address belongs to its block and the region of the block, and none is a gateway',
    source: `${POOL} as pool`,
    violations: `select host(a.addr) from ipv4_addresses a join ip_blocks b on b.id = a.block_id
      where not a.addr <<= b.block or a.region_id <> b.region_id or a.addr = b.gateway
         or a.gateway <> b.gateway
      union all
      select p.prefix::text from ipv6_prefixes p join ip_blocks b on b.id = p.block_id
      where not p.prefix <<= b.block or p.region_id <> b.region_id or p.prefix >>= b.gateway`,
  },
  {
    name: 'host usage matches servers and volumes',
    description: 'memory and disk in use on each host are the sums of its servers, volumes, and moves',
    source: 'hosts',
    violations: `select h.id from hosts h
        left join (select host_id, sum(ram_mb) as ram_mb, sum(${DISK_ON_HOST}) as disk_gb
                     from servers s group by host_id) s
          on s.host_id = h.id
        left join (select host_id, sum(disk_gb) as disk_gb from volumes group by host_id) v
          on v.host_id = h.id
        left join (select case when state in ('copying', 'kept') then to_host else from_host end as host_id,
                          sum(ram_mb) as ram_mb, sum(disk_gb) as disk_gb
                     from moves where state <> 'queued' group by 1) m
          on m.host_id = h.id
      where h.used_ram_mb <> coalesce(s.ram_mb, 0) + coalesce(m.ram_mb, 0)
         or h.used_disk_gb <> coalesce(s.disk_gb, 0) + coalesce(v.disk_gb, 0) + coalesce(m.disk_gb, 0)`,
  },
  {
    name: 'no host is overcommitted',
    description: 'no host has assigned more memory or disk than it has',
    source: 'hosts',
    violations: `select id from hosts
      where used_ram_mb > ram_mb or used_disk_gb > disk_gb or used_ram_mb < 0 or used_disk_gb < 0`,
  },
  {
    name: 'machines and servers agree',
    description:
      'sold machines, and no others, have a server; both refer to each other and share plan and region',
    source: 'machines',
    violations: `select m.id from machines m left join servers s on s.id = m.server_id
      where (m.state = 'sold') <> (m.server_id is not null) or (m.off_since is not null and m.state <> 'sold')
         or m.server_id is not null
            and (s.machine_id is distinct from m.id or s.plan_id <> m.plan_id or s.region_id <> m.region_id)
      union
      select s.id from servers s join machines m on m.id = s.machine_id
      where m.server_id is distinct from s.id`,
  },
  {
    name: 'servers have a place',
    description:
      'every server has a host of its region or a machine, as its plan requires, unless it is being deleted',
    source: `servers where status <> 'destroying'`,
    violations: `select s.id from servers s join plans p on p.id = s.plan_id
      left join hosts h on h.id = s.host_id
      where s.status <> 'destroying'
        and case p.category
                 when 'vps' then s.machine_id is not null or h.region_id is distinct from s.region_id
                            else s.host_id is not null or s.machine_id is null end`,
  },
];

export const MOVE_INVARIANTS: readonly Invariant[] = [
  {
    name: 'moves fit their servers',
    description: 'each move is from the host that has its server, or to it once the hosts have switched',
    source: `moves where kind = 'server'`,
    violations: `select m.server_id from moves m left join servers s on s.id = m.server_id
      where m.kind = 'server'
        and case when m.state in ('queued', 'copying') then s.host_id is distinct from m.from_host
                 when m.state = 'switched' then s.host_id is distinct from m.to_host
                 else s.host_id = case m.state when 'kept' then m.to_host else m.from_host end end`,
  },
  {
    name: 'moves fit their volumes and snapshots',
    description:
      'each volume or snapshot under way is on the host that its move says, and the volume is detached',
    source: `moves where kind <> 'server' and state in ('copying', 'switched')`,
    violations: `select m.server_id from moves m
        left join volumes v on v.id = m.server_id and m.kind = 'volume'
        left join snapshots n on n.id = m.server_id and m.kind = 'snapshot'
      where m.kind <> 'server' and m.state in ('copying', 'switched')
        and (v.server_id is not null
             or coalesce(v.id, n.id) is not null
                and coalesce(v.host_id, n.host_id)
                    is distinct from case m.state when 'copying' then m.from_host else m.to_host end)`,
  },
  {
    name: 'moves are continued',
    description:
      'each move of a server has an operation while it is under way, and a task before and after; other ' +
      'moves always have a task',
    source: 'moves',
    violations: `select m.server_id from moves m
        left join operations o on o.server_id = m.server_id and o.kind in ('move', 'resize', 'destroy')
        left join tasks t
          on t.kind = case m.kind when 'server' then 'move' else m.kind || '_move' end
         and t.subject = m.server_id
      where case when m.kind = 'server' and m.state in ('copying', 'switched') then o.id is null
                 else t.subject is null end
      union all
      select o.server_id from operations o left join moves m on m.server_id = o.server_id
      where o.kind = 'move' and (m.state is null or m.state not in ('copying', 'switched'))`,
  },
  {
    name: 'moved volumes are with their server',
    description: 'each volume that moves with a server is on the host that has the machine',
    source: 'moves',
    violations: `select v.id from moves m join volumes v on v.id = any (m.volume_ids)
      where m.state in ('copying', 'switched')
        and v.host_id is distinct from case m.state when 'copying' then m.from_host else m.to_host end`,
  },
];

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
    description: 'each snapshot that is being created or will expire has its task',
    source: 'snapshots',
    violations: `select n.id from snapshots n
      where (n.status = 'creating' or n.expires_at is not null and not n.protect_delete)
        and not exists (select from tasks t where t.kind = 'snapshot' and t.subject = n.id)`,
  },
  {
    name: 'backups have a task',
    description: 'each server whose backups are enabled, or of which a backup is in progress, has its task',
    source: 'backup_policies',
    violations: `select b.server_id from backup_policies b
      where (b.enabled or b.snapshot_id is not null)
        and not exists (select from tasks t where t.kind = 'backup' and t.subject = b.server_id)`,
  },
  {
    name: 'backups are priced',
    description: 'each server whose backups are enabled, and no other, has their share in its price',
    source: 'servers',
    violations: `select s.id from servers s left join backup_policies b on b.server_id = s.id
      where coalesce(b.enabled, false) <> (s.backup_percent is not null)
         or s.backup_cents_cycle <> ceil((s.price_cents_cycle - s.backup_cents_cycle)
                                         * coalesce(s.backup_percent, 0) / 100.0)`,
  },
  {
    name: 'only ready snapshots have a size',
    description: 'a snapshot that is not ready has no size',
    source: 'snapshots',
    violations: `select id from snapshots where status <> 'ready' and size_gb <> 0`,
  },
];

export const FIREWALL_INVARIANTS: readonly Invariant[] = [
  {
    name: 'groups are applied to existing servers',
    description: 'a firewall group is applied only to servers of its own customer that are not being deleted',
    source: 'firewall_attachments',
    violations: `select a.group_id from firewall_attachments a
      where not exists (select from firewall_groups g join servers s on s.customer_id = g.customer_id
                         where g.id = a.group_id and s.id = a.server_id and s.status <> 'destroying')`,
  },
];
