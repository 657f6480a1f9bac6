/** The stored catalog as a catalog file. */
import { formatUnits } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import {
  type ImageRow,
  listOfficialImages,
  listPlans,
  listRegions,
  type PlanRow,
  type RegionRow,
} from '../../store/catalogue/catalogue.ts';
import type { Catalogue } from './diff.ts';
import type { CatalogueFile } from './file-schema.ts';

export async function readCatalogue(tx: Sql): Promise<Catalogue> {
  return {
    regions: await listRegions(tx),
    plans: await listPlans(tx),
    images: await listOfficialImages(tx),
  };
}

/**
 * Returns the stored catalog as a file, which changes nothing when it is loaded. It has no retired entries,
 * and no inventory: a file only adds to that.
 */
export async function exportCatalogue(db: Sql): Promise<CatalogueFile> {
  return toFile(await readCatalogue(db));
}

export function toFile({ regions, plans, images }: Catalogue): CatalogueFile {
  const isOffered = ({ active }: { readonly active: boolean }) => active;
  return {
    regions: regions.filter(isOffered).map(regionEntry),
    plans: plans.filter(isOffered).map(planEntry),
    images: images.filter(isOffered).map(imageEntry),
  };
}

export function regionEntry({ active: _, ...region }: RegionRow): CatalogueFile['regions'][number] {
  return region;
}

export function planEntry(row: PlanRow): CatalogueFile['plans'][number] {
  const { active: _, price_cents_month: cents, host_tags: tags, ...plan } = row;
  return {
    ...plan,
    price_usd_month: formatUnits(cents, 2, true),
    ...(tags.length > 0 && { host_tags: [...tags] }),
    regions: [...plan.regions],
  };
}

export function imageEntry({
  active: _active,
  id: _id,
  arch,
  ...image
}: ImageRow): CatalogueFile['images'][number] {
  return { ...image, arch: arch as CatalogueFile['images'][number]['arch'] };
}
