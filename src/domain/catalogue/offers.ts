/** The offers: plans, regions, and images, and what can be deployed right now. */
import { notFound } from '../../kernel/fail.ts';
import { parseId, readCode } from '../../kernel/ids.ts';
import { centsToUsd, formatUnits, mulDiv } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { Plan, Region } from '../../spec/schemas/plan.ts';
import {
  findInstallableImage,
  findRegionBySessionCode,
  type InstallableImageRow,
  listPlans as listRows,
  catalogueNames as readNames,
} from '../../store/catalogue/catalogue.ts';
import {
  findOfferedPlan,
  findOfferedRegion,
  type OfferContext,
  type OfferedPlanRow,
  type OfferedRegionRow,
  pageOfferedPlans,
  pageOfferedRegions,
} from '../../store/catalogue/offers.ts';
import type { Service } from '../context.ts';
import { cyclePrices } from '../servers/billing/price.ts';
import { isSoldByHand } from '../servers/hardware.ts';

/** The hours in a month (DECISIONS "Money in JSON"). */
const HOURS_PER_MONTH = 730n;
const EXACT_DECIMALS = 8;

export async function listPlans(service: Service, page: PageRequest): Promise<Page<Plan>> {
  const { rows, next } = await pageOfferedPlans(service.db, offeredNow(service), page);
  return { items: rows.map(planObject), next };
}

/** Fails with `not_found` for plans that are no longer sold, too. */
export async function getPlan(service: Service, text: string): Promise<Plan> {
  const id = readCode(text) ?? notFound('plan');
  return planObject((await findOfferedPlan(service.db, offeredNow(service), id)) ?? notFound('plan'));
}

function planObject(row: OfferedPlanRow): Plan {
  const monthCents = row.price_cents_month;
  const hourUnits = mulDiv(monthCents * 10n ** BigInt(EXACT_DECIMALS - 2), 1n, HOURS_PER_MONTH, 'half_up');
  return {
    id: row.id,
    object: 'plan',
    category: row.category,
    cpu: row.cpu,
    cpu_model: row.cpu_model,
    ram_mb: row.ram_mb,
    disk_gb: row.disk_gb,
    transfer_tb: Number(row.transfer_tb),
    price_usd_month: centsToUsd(monthCents),
    price_usd_hour: centsToUsd(mulDiv(monthCents, 1n, HOURS_PER_MONTH, 'half_up')),
    price_usd_hour_exact: formatUnits(hourUnits, EXACT_DECIMALS, true),
    cycles: cyclePrices(monthCents),
    backup_percent: row.backup_percent,
    available_in: [...row.available_in],
  };
}

export async function listRegions(service: Service, page: PageRequest): Promise<Page<Region>> {
  const { rows, next } = await pageOfferedRegions(service.db, offeredNow(service), page);
  return { items: rows.map(regionObject), next };
}

/** Returns a region by its REST code; fails with `not_found`. */
export async function getRegion(service: Service, text: string): Promise<Region> {
  const id = readCode(text) ?? notFound('region');
  return regionObject((await findOfferedRegion(service.db, offeredNow(service), id)) ?? notFound('region'));
}

function regionObject(row: OfferedRegionRow): Region {
  return {
    id: row.id,
    object: 'region',
    name: row.name,
    country: row.country,
    pop_id: row.pop_id,
    available: row.available,
    ipv4_pool_remaining: row.ipv4_pool_remaining,
    tor_onion: row.tor_onion,
  };
}

/** Returns the region ID of the REST API for a region code of the session API; null if unknown. */
export async function regionIdBySessionCode(service: Service, code: string): Promise<string | null> {
  return (await findRegionBySessionCode(service.db, code))?.id ?? null;
}

/** Region names by code, and plan ids, for selection lists. */
export interface CatalogueNames {
  readonly regions: Readonly<Record<string, string>>;
  readonly plans: readonly string[];
}

export async function listCatalogueNames(service: Pick<Service, 'reads'>): Promise<CatalogueNames> {
  return await readNames(service.reads);
}

/**
 * Returns the regions that sell each plan by plan id, in stock or not. Compared with current availability,
 * this tells "sold out" from "not sold here".
 */
export async function listSellingRegions(
  service: Pick<Service, 'db'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const plans = await listRows(service.db);
  return new Map(plans.filter(({ active }) => active).map(({ id, regions }) => [id, regions]));
}

/**
 * Returns the current conditions of an offer: the time, and whether the driver can deploy dedicated
 * servers.
 */
export function offeredNow(service: Pick<Service, 'clock' | 'compute'>): OfferContext {
  return { at: service.clock.now(), dedicated: !isSoldByHand(service, 'dedicated') };
}

/**
 * Returns the official image for an image id, `family-version` (`debian-12`), `family+version` (`debian12`,
 * `ubuntu24.04`, `ubuntu2404`), or a bare family (the newest), ignoring case. Skips deprecated images and,
 * with `imported`, images without their disk.
 */
export async function findImageForOs(
  tx: Sql,
  os: string,
  { imported = false }: { readonly imported?: boolean } = {},
): Promise<InstallableImageRow | undefined> {
  const name = os.toLowerCase();
  return await findInstallableImage(tx, { id: parseId('image', name) ?? null, name, imported });
}
