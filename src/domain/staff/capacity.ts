/** How much of each region is left to sell. */
import { countPool } from '../../store/inventory/addresses.ts';
import { listSeenHosts } from '../../store/inventory/host-facts.ts';
import { countMachines } from '../../store/inventory/hosts.ts';
import type { Service } from '../context.ts';
import { countLarge } from '../health/large-counts.ts';
import { hostStateOf } from './hosts.ts';

/** Memory and disk are those of hosts that accept servers; addresses and machines are counted. */
export interface RegionCapacity {
  readonly region: string;
  readonly hosts: number;
  readonly hosts_unavailable: number;
  readonly ram_mb: number;
  readonly used_ram_mb: number;
  readonly disk_gb: number;
  readonly used_disk_gb: number;
  readonly ipv4_free: number;
  readonly ipv4_used: number;
  readonly ipv6_free: number;
  readonly ipv6_used: number;
  readonly machines: readonly { readonly plan: string; readonly total: number; readonly free: number }[];
}

export async function readCapacity({ db, clock }: Pick<Service, 'db' | 'clock'>): Promise<RegionCapacity[]> {
  const [hosts, pool, stock] = await Promise.all([
    listSeenHosts(db),
    countLarge(
      db,
      'pool',
      () => countPool(db, clock.now()),
      (row) => row.held + row.free,
    ),
    countMachines(db),
  ]);
  const names = [
    hosts.map((row) => row.region_id),
    pool.map((row) => row.region_id),
    stock.map((row) => row.region_id),
  ];
  return [...new Set(names.flat())].toSorted().map((region) => {
    const mine = hosts.filter((row) => row.region_id === region);
    const open = mine.filter((row) => ['ok', 'not_seen'].includes(hostStateOf(row)));
    const sum = (pick: (host: (typeof mine)[number]) => number) =>
      open.reduce((total, host) => total + pick(host), 0);
    const count = (family: 4 | 6, pick: 'free' | 'held') =>
      Number(pool.find((row) => row.region_id === region && row.family === family)?.[pick] ?? 0);
    return {
      region,
      hosts: mine.length,
      hosts_unavailable: mine.length - open.length,
      ram_mb: sum((host) => host.promised_ram_mb),
      used_ram_mb: sum((host) => Number(host.used_ram_mb)),
      disk_gb: sum((host) => host.promised_disk_gb),
      used_disk_gb: sum((host) => Number(host.used_disk_gb)),
      ipv4_free: count(4, 'free'),
      ipv4_used: count(4, 'held'),
      ipv6_free: count(6, 'free'),
      ipv6_used: count(6, 'held'),
      machines: stock
        .filter((row) => row.region_id === region)
        .map((row) => ({ plan: row.plan_id, total: Number(row.total), free: Number(row.free) })),
    };
  });
}
