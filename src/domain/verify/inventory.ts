/** Invariants of hosts, machines, and addresses: nothing leaks, and nothing is assigned twice. */
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
    description: 'memory and disk in use on each host are the sums of its servers and volumes',
    source: 'hosts',
    violations: `select h.id from hosts h
        left join (select host_id, sum(ram_mb) as ram_mb, sum(disk_gb) as disk_gb
                     from servers group by host_id) s
          on s.host_id = h.id
        left join (select host_id, sum(disk_gb) as disk_gb from volumes group by host_id) v
          on v.host_id = h.id
      where h.used_ram_mb <> coalesce(s.ram_mb, 0)
         or h.used_disk_gb <> coalesce(s.disk_gb, 0) + coalesce(v.disk_gb, 0)`,
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
