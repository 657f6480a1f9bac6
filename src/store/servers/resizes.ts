/** Changes of a server's plan: its size on its host, and its price for the rest of the cycle. */
import type { Sql } from '../../kernel/sql.ts';
import { canGrowOnHost, fitsOnHost, type PlacementNeeds } from '../inventory/placement.ts';
import { assignmentsFor } from '../parameters.ts';
import { bestForMove } from './placements.ts';
import { SERVER_PRICE, type ServerRow } from './servers.ts';

/** A plan, sold or retired, as a server of the region would have it. */
export interface ResizePlanRow {
  readonly id: string;
  readonly category: 'vps' | 'dedicated';
  readonly cpu: number;
  readonly ram_mb: number;
  readonly disk_gb: number;
  readonly price_cents_month: bigint;
  readonly backup_percent: number;
  readonly host_tags: readonly string[];
  readonly active: boolean;
  /** Whether it is sold in the region. */
  readonly offered: boolean;
}

const PLAN = `p.id, p.category, p.cpu, p.ram_mb, p.disk_gb, p.price_cents_month, p.backup_percent,
  p.host_tags, p.active,
  exists (select from plan_regions o where o.plan_id = p.id and o.region_id = $1) as offered`;

export async function findResizePlan(
  tx: Sql,
  regionId: string,
  planId: string,
): Promise<ResizePlanRow | undefined> {
  return await tx.row<ResizePlanRow>(`select ${PLAN} from plans p where p.id = $2`, [regionId, planId]);
}

/** Lists the plans of the category that are sold in the region, cheapest first. */
export async function listResizePlans(
  tx: Sql,
  regionId: string,
  category: 'vps' | 'dedicated',
): Promise<ResizePlanRow[]> {
  return await tx.rows<ResizePlanRow>(
    `select * from (select ${PLAN} from plans p where p.category = $2 and p.active) as plan
      where offered order by price_cents_month, id`,
    [regionId, category],
  );
}

/** The needs of a resize on the host of the server, besides the size that it has. */
export interface Growth {
  readonly ramMb: number;
  readonly diskGb: number;
  readonly hostTags: readonly string[];
}

const GROWS = `h.id = s.host_id and h.tags @> $4::text[] and h.lost_at is null
  and (not h.draining or $2::int = 0 and $3::int = 0)
  and ${canGrowOnHost({ ramMb: '$2::int', diskGb: '$3::int' })}`;

/** `locks`: the caller reserves it in its transaction. */
export async function fitsOnOwnHost(
  tx: Sql,
  serverId: string,
  { ramMb, diskGb, hostTags, locks }: Growth & { readonly locks: boolean },
): Promise<boolean> {
  const row = await tx.row(
    `select from servers s join hosts h on ${GROWS} where s.id = $1 ${locks ? 'for update of h' : ''}`,
    [serverId, ramMb, diskGb, hostTags],
  );
  return row !== undefined;
}

/** The needs of a server that moves to a host that has room for its new size. */
export interface TargetNeeds extends Growth {
  /** Leaves out hosts of the same backend, between which its driver does not move. */
  readonly otherBackend: boolean;
  readonly locks: boolean;
}

const TARGET: PlacementNeeds = {
  region: 's.region_id',
  ramMb: '$2::int',
  diskGb: '$3::int',
  hostTags: '$4::text[]',
};

/** Returns another host of the region that has room for all of it. */
export async function findResizeTarget(
  tx: Sql,
  serverId: string,
  { ramMb, diskGb, hostTags, otherBackend, locks }: TargetNeeds,
): Promise<string | undefined> {
  const row = await tx.row<{ id: string }>(
    `select h.id from servers s join hosts own on own.id = s.host_id
       join hosts h on h.id <> own.id and ${fitsOnHost(TARGET, 'kept')}
      where s.id = $1 and own.lost_at is null and (not $5 or h.backend is distinct from own.backend)
      order by ${bestForMove(TARGET)} limit 1 ${locks ? 'for update of h' : ''}`,
    [serverId, ramMb, diskGb, hostTags, otherBackend],
  );
  return row?.id;
}

/** Reserves that on the target. */
export async function reserveOnHost(
  tx: Sql,
  hostId: string,
  { ramMb, diskGb }: Pick<Growth, 'ramMb' | 'diskGb'>,
): Promise<void> {
  await tx.run(
    'update hosts set used_ram_mb = used_ram_mb + $2, used_disk_gb = used_disk_gb + $3 where id = $1',
    [hostId, ramMb, diskGb],
  );
}

/** Sets what the server has, and what its host has assigned to it. The caller holds the server's lock. */
export async function setReservedSize(
  tx: Sql,
  size: { readonly id: string; readonly ramMb: number; readonly diskGb: number },
): Promise<void> {
  await tx.run(
    `with before as (select host_id, ram_mb, disk_gb, shared_disk from servers where id = $id),
     changed as (
       update hosts h
          set used_ram_mb = h.used_ram_mb + $ramMb - before.ram_mb,
              used_disk_gb = h.used_disk_gb
                + case when before.shared_disk then 0 else $diskGb - before.disk_gb end
         from before where h.id = before.host_id)
     update servers set ram_mb = $ramMb, disk_gb = $diskGb where id = $id`,
    size,
  );
}

const PLAN_OF_SERVER = `plan_id, ${SERVER_PRICE}, paid_from, paid_cents, priced_at, updated_at`;

export type PlanOfServer = Pick<
  ServerRow,
  | 'plan_id'
  | 'price_cents_month'
  | 'price_cents_cycle'
  | 'backup_cents_cycle'
  | 'backup_percent'
  | 'paid_from'
  | 'paid_cents'
  | 'priced_at'
  | 'updated_at'
>;

/** Changes the plan and the price. The end of the cycle stays. */
export async function setServerPlan(tx: Sql, server: Pick<ServerRow, 'id'> & PlanOfServer): Promise<void> {
  await tx.run(`update servers set ${assignmentsFor(PLAN_OF_SERVER)} where id = $id`, server);
}
