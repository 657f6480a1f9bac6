/**
 * Where a server may be placed, and which place is better: the parts of every statement that chooses a host
 * or counts what is in stock. They refer to the host as `h`.
 */
import type { Sql } from '../../kernel/sql.ts';

/** The needs of a server, as SQL expressions. */
export interface PlacementNeeds {
  readonly region: string;
  readonly ramMb: string;
  readonly diskGb: string;
  /** Tags that its plan asks for: a `text[]`. */
  readonly hostTags: string;
}

/** The disk that a server `s` uses of its host. A shared one uses none. */
export const DISK_ON_HOST = '(case when s.shared_disk then 0 else s.disk_gb end)';

/** New servers and volumes leave the reserve free. Servers that have to leave another host may use it. */
export type Reserve = 'kept' | 'used';

/** Free memory and disk for servers, as SQL expressions. */
function freeOf(reserve: Reserve): { ramMb: string; diskGb: string } {
  const kept = (column: string) => (reserve === 'kept' ? ` - h.reserve_${column}` : '');
  return {
    ramMb: `(h.ram_mb - h.used_ram_mb${kept('ram_mb')})`,
    diskGb: `(h.disk_gb - h.used_disk_gb${kept('disk_gb')})`,
  };
}

/** Condition: the server may be placed on the host. A revoked or lost host is draining too. */
export function fitsOnHost(needs: PlacementNeeds, reserve: Reserve): string {
  const free = freeOf(reserve);
  return `(h.region_id = ${needs.region} and not h.draining
    and ${needs.ramMb} <= ${free.ramMb} and ${needs.diskGb} <= ${free.diskGb}
    and h.tags @> ${needs.hostTags})`;
}

/** Condition: the host has that much more left. A part that needs nothing always fits. */
export function canGrowOnHost(more: { readonly ramMb: string; readonly diskGb: string }): string {
  const free = freeOf('kept');
  return `((${more.ramMb} = 0 or ${more.ramMb} <= ${free.ramMb})
    and (${more.diskGb} = 0 or ${more.diskGb} <= ${free.diskGb}))`;
}

/** How many such servers the host has room for: memory or disk, if they use it, whichever ends first. */
export function roomOnHost({ ramMb, diskGb }: PlacementNeeds, reserve: Reserve): string {
  const free = freeOf(reserve);
  return `least(${free.ramMb}::float8 / ${ramMb}, ${free.diskGb}::float8 / nullif(${diskGb}, 0))`;
}

/** Condition: the host has `gb` of disk left for a volume. */
export function hasDiskFor(gb: string): string {
  return `${gb} <= ${freeOf('kept').diskGb}`;
}

/** Hosts within one step are equally loaded, so that simultaneous deploys still spread over them. */
const LOAD_STEP = 0.25;
/** The step of a host whose load is not known: that of half of its cores. */
const UNKNOWN_LOAD = 2;
/** Older facts say nothing about the load of now. */
const LOAD_VALID = "interval '2 minutes'";

/** How loaded the host is, in steps of its load per core. Only a preference: it changes no stock. */
export function loadOfHost(hostId: string): string {
  return `coalesce((select floor(f.load / ${LOAD_STEP}) from host_facts f
    where f.host_id = ${hostId} and f.seen_at > clock_timestamp() - ${LOAD_VALID}), ${UNKNOWN_LOAD})`;
}

/** How many of a customer's latest servers decide on which hosts the next one is rather not placed. */
const SPREAD_SERVERS = 16;

/** The hosts of the customer's latest servers, as an array with one element per server. */
export function hostsOfCustomer(customerId: string): string {
  return `array(select o.host_id from servers o where o.customer_id = ${customerId}
    order by o.created_at desc, o.id desc limit ${SPREAD_SERVERS})`;
}

/** Counts of the resources on the host. Volumes that are attached belong to their servers. */
export const HOST_CONTENTS = `(select count(*) from servers s where s.host_id = h.id) as servers,
  (select count(*) from volumes v
    where v.host_id = h.id and v.server_id is null and v.lost_at is null) as volumes,
  (select count(*) from snapshots n
    where n.host_id = h.id and n.status <> 'error' and n.lost_at is null) as snapshots`;

/** Counts of resources that are on a host. */
export interface HostContents {
  readonly servers: bigint;
  /** Detached. */
  readonly volumes: bigint;
  readonly snapshots: bigint;
}

export async function countContents(tx: Sql, hostName: string): Promise<HostContents> {
  const row = await tx.row<HostContents>(`select ${HOST_CONTENTS} from hosts h where h.name = $1`, [
    hostName,
  ]);
  return row ?? { servers: 0n, volumes: 0n, snapshots: 0n };
}
