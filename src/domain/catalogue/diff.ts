/**
 * Converts a catalog file to the rows that it asks for, and compares them with the stored ones: the rows to
 * write, and lines that describe them.
 */

import { newId } from '../../kernel/ids.ts';
import { formatCents, formatUnits, parseUnits } from '../../kernel/money.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { ImageRow, PlanRow, RegionRow } from '../../store/catalogue/catalogue.ts';
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
      volume_storage: region.volume_storage ?? 'local',
      disk_storage: region.disk_storage ?? 'local',
      active: true,
    })),
    plans: file.plans.map(({ price_usd_month, backup_percent = 0, host_tags: hostTags = [], ...plan }) => ({
      ...plan,
      backup_percent,
      host_tags: hostTags.toSorted(),
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

/** A row to write. A row that is missing from the file returns as inactive. */
export interface RowChange<Row> {
  readonly before: Row | undefined;
  readonly after: Row;
}

export interface CatalogueDiff {
  readonly regions: readonly RowChange<RegionRow>[];
  readonly plans: readonly RowChange<PlanRow>[];
  readonly images: readonly RowChange<ImageRow>[];
}

export function diffCatalogue(stored: Catalogue, wanted: Catalogue): CatalogueDiff {
  return {
    regions: diffRows(stored.regions, wanted.regions, (region) => region.id, regionFields),
    plans: diffRows(stored.plans, wanted.plans, (plan) => plan.id, planFields),
    images: diffRows(stored.images, wanted.images, imageKey, imageFields),
  };
}

/** Returns one line per change: `+` new, `~` changed (old → new), `-` retired. */
export function formatCatalogueDiff(difference: CatalogueDiff): string[] {
  return [
    ...difference.regions.map((change) => formatChange('region', change.after.id, change, regionFields)),
    ...difference.plans.map((change) => formatChange('plan', change.after.id, change, planFields)),
    ...difference.images.map((change) => formatChange('image', imageKey(change.after), change, imageFields)),
  ];
}

/** The fields that count as a difference, in printable form. */
type Fields = Readonly<Record<string, string>>;

function diffRows<Row extends { readonly active: boolean }>(
  stored: readonly Row[],
  wanted: readonly Row[],
  keyOf: (row: Row) => string,
  fieldsOf: (row: Row) => Fields,
): RowChange<Row>[] {
  const before = new Map(stored.map((row) => [keyOf(row), row]));
  const kept = new Set(wanted.map(keyOf));
  const written = wanted
    .map((after) => ({ before: before.get(keyOf(after)), after }))
    .filter((change) => !change.before || !sameFields(fieldsOf(change.before), fieldsOf(change.after)));
  const retired = stored
    .filter((row) => row.active && !kept.has(keyOf(row)))
    .map((row) => ({ before: row, after: { ...row, active: false } }));
  return [...written, ...retired];
}

function sameFields(one: Fields, other: Fields): boolean {
  return Object.entries(one).every(([name, value]) => other[name] === value);
}

function formatChange<Row extends { readonly active: boolean }>(
  kind: string,
  key: string,
  { before, after }: RowChange<Row>,
  fieldsOf: (row: Row) => Fields,
): string {
  const fields = Object.entries(fieldsOf(after)).filter(([name]) => name !== 'active');
  if (!before) return `+ ${kind} ${key}: ${fields.map(([name, value]) => `${name} ${value}`).join(', ')}`;
  if (!after.active) return `- ${kind} ${key}: retired`;
  const previousFields = fieldsOf(before);
  const changed = fields
    .filter(([name, value]) => previousFields[name] !== value)
    .map(([name, value]) => `${name} ${previousFields[name]} → ${value}`);
  return `~ ${kind} ${key}: ${[...(before.active ? [] : ['offered again']), ...changed].join(', ')}`;
}

function regionFields(row: RegionRow): Fields {
  return {
    session_code: row.session_code,
    name: row.name,
    country: row.country,
    pop_id: row.pop_id,
    tor_onion: row.tor_onion ?? 'none',
    volume_storage: row.volume_storage,
    disk_storage: row.disk_storage,
    active: String(row.active),
  };
}

function planFields(row: PlanRow): Fields {
  return {
    category: row.category,
    cpu: String(row.cpu),
    cpu_model: row.cpu_model,
    ram_mb: String(row.ram_mb),
    disk_gb: String(row.disk_gb),
    transfer_tb: row.transfer_tb,
    price_usd_month: formatCents(row.price_cents_month),
    backup_percent: String(row.backup_percent),
    host_tags: row.host_tags.join(' ') || 'none',
    regions: row.regions.join(' ') || 'none',
    active: String(row.active),
  };
}

function imageFields(row: ImageRow): Fields {
  return {
    arch: row.arch.join(' '),
    size_gb: row.size_gb,
    cloud_init: String(row.cloud_init),
    released_at: row.released_at,
    deprecated_at: row.deprecated_at ?? 'none',
    active: String(row.active),
  };
}

/** Returns the identity of an image. */
export function imageKey(image: {
  readonly family: string;
  readonly version: string;
  readonly variant?: string | null;
}): string {
  return [image.family, image.version, image.variant ?? ''].join(' ').trim();
}
