/**
 * Plans and regions that can be deployed now, read from the stock itself: a plan in a region that offers it
 * and has an IPv4 address, a /64 and capacity. Each check stops at the first match, on the index that the
 * deploy uses.
 */
import type { Sql } from '../../kernel/sql.ts';
import type { PageRequest } from '../../spec/lists.ts';
import { fitsOnHost } from '../inventory/placement.ts';
import { type Page, type PageSource, readPage } from '../page.ts';
import type { PlanRow, RegionRow } from './catalogue.ts';

export type OfferedPlanRow = Omit<PlanRow, 'active' | 'host_tags' | 'regions'> & {
  /** Regions where a deploy would succeed, sorted. */
  readonly available_in: readonly string[];
};

export type OfferedRegionRow = Omit<RegionRow, 'active' | 'session_code'> & {
  readonly ipv4_pool_remaining: number;
  readonly available: boolean;
};

/**
 * For a region `r` at the time `now.at`. Selects the earliest free address instead of `exists`: for `exists`,
 * the planner may scan the whole table of a region that has few addresses left.
 */
const HAS_ADDRESSES = `coalesce(
     (select a.free_from from ipv4_addresses a
       where a.region_id = r.id and a.server_id is null and not a.blocked
       order by a.free_from limit 1) <= now.at
     and (select x.free_from from ipv6_prefixes x
           where x.region_id = r.id and x.server_id is null and not x.blocked
           order by x.free_from limit 1) <= now.at, false)`;

const NEEDS = {
  region: 'r.id',
  ramMb: 'p.ram_mb',
  diskGb: "(case when r.disk_storage = 'shared' then 0 else p.disk_gb end)",
  hostTags: 'p.host_tags',
};

/** For a plan `p` in a region `r`. Machines without a driver are sold by hand only (`now.dedicated`). */
const HAS_ROOM = `case p.category when 'vps' then
       exists (select from hosts h where ${fitsOnHost(NEEDS, 'kept')})
     else
       now.dedicated
       and (select m.id from machines m where m.plan_id = p.id and m.region_id = r.id and m.state = 'free'
             order by m.id limit 1) is not null
     end`;

const NOW = '(select $at::timestamptz as at, $dedicated::boolean as dedicated) now';

/** The inputs of an offer, apart from the stock. */
export interface OfferContext {
  readonly at: Date;
  /** Whether dedicated machines can be ordered: a driver manages them. */
  readonly dedicated: boolean;
}

const PLANS = {
  columns: `p.id, p.category, p.cpu, p.cpu_model, p.ram_mb, p.disk_gb, p.transfer_tb, p.price_cents_month,
     p.backup_percent,
     array(select r.id from plan_regions o join regions r on r.id = o.region_id and r.active
            where o.plan_id = p.id and ${HAS_ADDRESSES} and ${HAS_ROOM} order by r.id) as available_in`,
  from: `${NOW} cross join plans p`,
  where: 'p.active',
  id: { column: 'p.id', type: 'text' },
  sorts: {
    id: { column: 'p.id', type: 'text' },
    created_at: { column: 'p.id', type: 'text' },
    name: { column: 'p.id', type: 'text' },
  },
  filters: { category: { where: 'p.category = $category' } },
} as const satisfies Omit<PageSource, 'values'>;

const REGIONS = {
  columns: `r.id, r.name, r.country, r.pop_id, r.tor_onion,
     (select count(*)::int from ipv4_addresses a where a.region_id = r.id and a.server_id is null
         and not a.blocked and a.free_from <= now.at) as ipv4_pool_remaining,
     ${HAS_ADDRESSES} and exists (select from plan_regions o join plans p on p.id = o.plan_id and p.active
         where o.region_id = r.id and ${HAS_ROOM}) as available`,
  from: `${NOW} cross join regions r`,
  where: 'r.active',
  id: { column: 'r.id', type: 'text' },
  sorts: {
    id: { column: 'r.id', type: 'text' },
    created_at: { column: 'r.id', type: 'text' },
    name: { column: 'r.name', type: 'text' },
  },
  filters: { country: { where: 'r.country = $country' } },
} as const satisfies Omit<PageSource, 'values'>;

export async function pageOfferedPlans(
  tx: Sql,
  now: OfferContext,
  request: PageRequest,
): Promise<Page<OfferedPlanRow>> {
  return await readPage<OfferedPlanRow>(tx, { ...PLANS, values: now }, request);
}

export async function findOfferedPlan(
  tx: Sql,
  now: OfferContext,
  id: string,
): Promise<OfferedPlanRow | undefined> {
  return await findOne<OfferedPlanRow>(tx, PLANS, now, id);
}

export async function pageOfferedRegions(
  tx: Sql,
  now: OfferContext,
  request: PageRequest,
): Promise<Page<OfferedRegionRow>> {
  return await readPage<OfferedRegionRow>(tx, { ...REGIONS, values: now }, request);
}

export async function findOfferedRegion(
  tx: Sql,
  now: OfferContext,
  id: string,
): Promise<OfferedRegionRow | undefined> {
  return await findOne<OfferedRegionRow>(tx, REGIONS, now, id);
}

async function findOne<Row extends object>(
  tx: Sql,
  source: typeof PLANS | typeof REGIONS,
  now: OfferContext,
  id: string,
): Promise<Row | undefined> {
  const { columns, from, where } = source;
  const text = `select ${columns} from ${from} where ${where} and ${source.id.column} = $id`;
  return await tx.row<Row>(text, { ...now, id });
}
