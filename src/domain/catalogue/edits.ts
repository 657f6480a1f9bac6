/** The edits of plans, regions, and images. */
import { formatId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { CatalogueEditOperation } from '../../spec/staff/catalogue.ts';
import type { ImageRow } from '../../store/catalogue/catalogue.ts';
import { type Catalogue, imageKey } from './diff.ts';
import type { CatalogueEdit, CatalogueKind } from './edit.ts';
import { EFFECTS } from './effects.ts';
import { imageEntry, planEntry, regionEntry } from './export.ts';
import type { CatalogueFile } from './file-schema.ts';
import { requireOfficialImage } from './images.ts';

/** The keys of an entry in a catalog file. The rules of files check the values. */
export type EntryFields = Readonly<Record<string, unknown>>;

const NAMES = { regions: 'region', plans: 'plan', images: 'image' } as const;
const AUDITED = {
  plans: { create: 'plan.create', change: 'plan.change', retire: 'plan.retire', restore: 'plan.restore' },
  regions: {
    ...{ create: 'region.create', change: 'region.change' },
    ...{ retire: 'region.retire', restore: 'region.restore' },
  },
  images: {
    ...{ create: 'official_image.create', change: 'official_image.change' },
    ...{ retire: 'official_image.retire', restore: 'official_image.restore' },
  },
} as const satisfies Record<CatalogueKind, Record<string, CatalogueEdit['audits']>>;

type Entry = CatalogueFile[CatalogueKind][number];

/** A new entry. `resource` is its name in the audit log. */
export function createEntry(kind: CatalogueKind, fields: EntryFields, resource: string): CatalogueEdit {
  return {
    ...{ audits: AUDITED[kind].create, resource, entry: null, effects: EFFECTS[kind].create },
    apply: (file, stored) => {
      refuseKnown(stored, kind, fields);
      const entries = [...file[kind], cleaned(fields)];
      return { file: replaced(file, kind, entries), at: [kind, entries.length - 1] };
    },
  };
}

/** Changes the fields that are given. */
export function changeEntry(kind: CatalogueKind, id: string, fields: EntryFields): CatalogueEdit {
  return {
    ...editOf(kind, id, 'change'),
    apply: (file, stored) => {
      const index = positionOf(file, stored, kind, id);
      const entries = file[kind].map((entry, at) =>
        at === index ? cleaned({ ...entry, ...fields }) : entry,
      );
      return { file: replaced(file, kind, entries), at: [kind, index] };
    },
  };
}

/** A region leaves the plans that are sold there, too. */
export function retireEntry(kind: CatalogueKind, id: string): CatalogueEdit {
  return {
    ...editOf(kind, id, 'retire'),
    apply: (file, stored) => {
      const index = positionOf(file, stored, kind, id);
      const others = file[kind].filter((_, at) => at !== index);
      const edited = replaced(file, kind, others);
      if (kind !== 'regions') return { file: edited, at: null };
      const plans = file.plans.map((plan) => ({
        ...plan,
        regions: plan.regions.filter((each) => each !== id),
      }));
      return { file: { ...edited, plans }, at: null };
    },
  };
}

/** The entry as it was when it was retired. `plans` are sold in a region that opens again. */
export function restoreEntry(kind: CatalogueKind, id: string, plans: readonly string[] = []): CatalogueEdit {
  return {
    ...editOf(kind, id, 'restore'),
    apply: (file, stored) => {
      const entry = requireRetired(stored, kind, id);
      const entries = [...file[kind], entry];
      const edited = replaced(file, kind, entries);
      const at = [kind, entries.length - 1] as const;
      if (kind !== 'regions') return { file: edited, at };
      const unknown = plans.find((plan) => !file.plans.some((each) => each.id === plan));
      if (unknown !== undefined) throw new OperatorError('plans: enter ids of plans that are sold');
      const sold = file.plans.map((plan) =>
        plans.includes(plan.id) ? { ...plan, regions: [...new Set([...plan.regions, id])] } : plan,
      );
      return { file: { ...edited, plans: sold }, at };
    },
  };
}

/** The rules check the entries afterwards. */
function replaced(file: CatalogueFile, kind: CatalogueKind, entries: readonly Entry[]): CatalogueFile {
  return { ...file, [kind]: entries } as CatalogueFile;
}

function editOf(
  kind: CatalogueKind,
  id: string,
  act: 'change' | 'retire' | 'restore',
): Omit<CatalogueEdit, 'apply'> {
  const resource = kind === 'images' ? formatId('image', id) : id;
  return {
    audits: AUDITED[kind][act],
    resource,
    entry: { kind, id },
    effects: EFFECTS[kind][act],
  };
}

/** Values that a file leaves out, or has as null, are empty in a form. */
function cleaned(fields: EntryFields): Entry {
  const { host_tags: tags, ...rest } = fields;
  const kept = Object.entries(rest).map(([name, value]) => [name, value === '' ? null : value]);
  const hasTags = Array.isArray(tags) && tags.length > 0;
  return { ...Object.fromEntries(kept), ...(hasTags && { host_tags: tags }) } as Entry;
}

function refuseKnown(stored: Catalogue, kind: CatalogueKind, fields: EntryFields): void {
  const key = kind === 'images' ? imageKey(fields as unknown as ImageRow) : fields.id;
  const found = stored[kind].find((row) => (kind === 'images' ? imageKey(row as ImageRow) : row.id) === key);
  if (found?.active) throw new OperatorError(`${NAMES[kind]} ${key} already exists`);
  if (found) throw new OperatorError(`${NAMES[kind]} ${key} is retired: restore it, and change it then`);
}

function requireStored(stored: Catalogue, kind: CatalogueKind, id: string): Catalogue[CatalogueKind][number] {
  const row = stored[kind].find((each) => each.id === id);
  if (!row) throw new OperatorError(`${NAMES[kind]} not found: the catalog lists all ${kind}`);
  return row;
}

function positionOf(file: CatalogueFile, stored: Catalogue, kind: CatalogueKind, id: string): number {
  const row = requireStored(stored, kind, id);
  if (!row.active) throw new OperatorError(`this ${NAMES[kind]} is retired: restore it first`);
  if (kind !== 'images') return file[kind].findIndex((entry) => entry.id === id);
  return file.images.findIndex((entry) => imageKey(entry) === imageKey(row as ImageRow));
}

function requireRetired(stored: Catalogue, kind: CatalogueKind, id: string): Entry {
  if (requireStored(stored, kind, id).active) {
    throw new OperatorError(`this ${NAMES[kind]} is sold: there is nothing to restore`);
  }
  const region = stored.regions.find((row) => row.id === id);
  const plan = stored.plans.find((row) => row.id === id);
  const image = stored.images.find((row) => row.id === id);
  if (kind === 'regions' && region) return regionEntry(region);
  if (kind === 'images' && image) return imageEntry(image);
  if (!plan) throw new Error('a stored row was not found again');
  const open = stored.regions.filter(({ active }) => active).map((row) => row.id);
  return planEntry({ ...plan, regions: plan.regions.filter((each) => open.includes(each)) });
}

/** Returns the edit of an operation. `id` is empty for a new entry. Fails for an unknown image. */
export async function editFor(
  db: Sql,
  operation: CatalogueEditOperation,
  { id, fields }: { readonly id: string; readonly fields: EntryFields },
): Promise<CatalogueEdit> {
  const [kind, act] = operation.split('.') as [CatalogueKind, string];
  if (act === 'create') return createEntry(kind, fields, resourceOf(kind, fields));
  const key = kind === 'images' ? (await requireOfficialImage(db, id)).id : id;
  if (act === 'change') return changeEntry(kind, key, fields);
  if (act === 'retire' || act === 'close') return retireEntry(kind, key);
  return restoreEntry(kind, key, (fields.plans ?? []) as readonly string[]);
}

/** The id of an image is random: its name is in the audit log. */
function resourceOf(kind: CatalogueKind, fields: EntryFields): string {
  return kind === 'images' ? `${fields.family}-${fields.version}` : String(fields.id);
}
