/** Converts a catalog file to the database rows that it asks for. */
import { newId } from '../../kernel/ids.ts';
import { formatUnits, parseUnits } from '../../kernel/money.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { ImageRow, PlanRow, RegionRow } from '../../store/catalogue/catalogue.ts';
import { imageKey } from './check.ts';
import type { CatalogueFile } from './file-schema.ts';

export interface Catalogue {
  readonly regions: readonly RegionRow[];
  readonly plans: readonly PlanRow[];
  readonly images: readonly ImageRow[];
}

/** `stored` provides the ids of known images. A relative deprecation date counts only until one is stored. */
export function desiredCatalogue(file: CatalogueFile, stored: Catalogue, now: Date): Catalogue {
  const known = new Map(stored.images.map((image) => [imageKey(image), image]));
  return {
    regions: file.regions.map((region) => ({
      ...region,
      tor_onion: region.tor_onion ?? null,
      active: true,
    })),
    plans: file.plans.map(({ price_usd_month, ...plan }) => ({
      ...plan,
      transfer_tb: twoDecimals(plan.transfer_tb),
      price_cents_month: parseUnits(price_usd_month, 2) ?? 0n,
      regions: plan.regions.toSorted(),
      active: true,
    })),
    images: file.images.map((image) => desiredImage(image, known.get(imageKey(image)), now)),
  };
}

function desiredImage(
  { deprecated_days_ago: daysAgo, ...image }: CatalogueFile['images'][number],
  known: ImageRow | undefined,
  now: Date,
): ImageRow {
  const since = daysAgo === undefined ? null : new Date(now.getTime() - daysAgo * DAY_MS);
  const relative = since === null ? null : (known?.deprecated_at ?? since.toISOString().slice(0, 10));
  return {
    ...image,
    id: known?.id ?? newId(now),
    variant: image.variant ?? null,
    size_gb: twoDecimals(image.size_gb),
    deprecated_at: image.deprecated_at ?? relative,
    active: true,
  };
}

/** Formats a decimal like the database. */
function twoDecimals(text: string): string {
  return formatUnits(parseUnits(text, 2) ?? 0n, 2, true);
}
