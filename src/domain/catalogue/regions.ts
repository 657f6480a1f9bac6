/** The regions in service, and their current capacity. */
import { notFound } from '../../kernel/fail.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { Region } from '../../spec/schemas/region.ts';
import {
  findOfferedRegion,
  type OfferedRegionRow,
  pageOfferedRegions,
} from '../../store/catalogue/offers.ts';
import type { Service } from '../context.ts';
import { offeredNow } from './availability.ts';
import { readCode } from './code.ts';

export async function listRegions(
  service: Service,
  page: PageRequest,
): Promise<{ items: Region[]; next: PagePosition | null }> {
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
