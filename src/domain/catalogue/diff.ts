/** Compares two states of the catalog: the rows to write, and lines that describe them. */
import { formatCents } from '../../kernel/money.ts';
import type { ImageRow, PlanRow, RegionRow } from '../../store/catalogue/catalogue.ts';
import { imageKey } from './check.ts';
import type { Catalogue } from './desired.ts';

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
