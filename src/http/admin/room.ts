/**
 * A room of the console: the pages for one kind of resource, from a description. The forms follow the schemas
 * of the operations (route.ts), so that a new operation needs no page of its own.
 */
import type { ConsoleSection } from '../../panel/staff/layout.ts';
import {
  type RoomLookupField,
  type RoomLookupTable,
  type RoomTable,
  roomItemView,
  roomListView,
  type Shown,
} from '../../panel/staff/room.ts';
import type { StaffOperation } from '../../spec/staff/operations.ts';
import { type Form, field } from '../form.ts';
import { downloadList } from './download.ts';
import {
  type ConsoleContext,
  type ConsoleFile,
  type ConsoleForm,
  type ConsolePage,
  type ConsoleResult,
  csvFile,
} from './page.ts';
import { type ListAnswer, readFiltered } from './pages/lists.ts';
import { actForms, type RoomAct, shownActs } from './room-acts.ts';
import { adminRouteOf } from './routes.ts';
import { choicesOf } from './schema-form.ts';

export interface Room<Item> {
  readonly section: ConsoleSection;
  readonly path: string;
  /** The heading of the list: `Hosts`. */
  readonly title: string;
  /** In a sentence: `hosts`. */
  readonly many: string;
  readonly intro?: string;
  readonly list: StaffOperation;
  readonly columns: readonly Shown<Item>[];
  /** The label of a field that finds by anything: the query `search` of `list`. */
  readonly search?: string;
  /** A field that finds something else, which the same page then shows. */
  readonly lookup?: RoomLookup;
  readonly links?: readonly (readonly [name: string, path: string])[];
  /** Of the query of `list`. The choices of an enumeration follow its schema. */
  readonly filters?: readonly (readonly [name: string, label: string])[];
  /** The list is also a file: the path with `.csv`. */
  readonly hasDownload?: true;
  /** Reading the list asks other machines: its page does not update on its own. */
  readonly isSlow?: true;
  readonly creates?: readonly RoomAct<undefined>[];
  /** The page of one resource; undefined: the list shows all of it. */
  readonly item?: RoomItem<Item>;
}

export interface RoomLookup {
  readonly label: string;
  /** The query of the operation. It is in no URL of a page: it may be an IP address. */
  readonly name: string;
  /** Another field of the query, which may be empty. */
  readonly more?: RoomLookupField;
  readonly operation: StaffOperation;
  /** Of the answer, as text. */
  readonly details: readonly Shown<Readonly<Record<string, string>>>[];
  /** A list in the answer. */
  readonly table?: RoomLookupTable;
}

export interface RoomItem<Item> {
  readonly get: StaffOperation;
  /** Fields of the page whose values go to the query of `get`, such as a price to preview. */
  readonly asks?: readonly (readonly [name: string, label: string])[];
  /** Its name in the path. */
  readonly id: (item: Item) => string;
  readonly title: (item: Item) => string;
  readonly state?: Shown<Item>;
  readonly details: readonly Shown<Item>[];
  readonly tables?: readonly RoomTable<Item>[];
  readonly links?: (item: Item) => readonly (readonly [name: string, path: string])[];
  readonly acts?: readonly RoomAct<Item>[];
}

export function roomItemPath({ path }: { readonly path: string }, id: string): string {
  return `${path}/${encodeURIComponent(id)}`;
}

/** The pages of a room. */
export function roomPages<Item>(room: Room<Item>): readonly ConsolePage[] {
  const { item, creates = [] } = room;
  const list: ConsolePage = {
    path: room.path,
    access: 'staff',
    render: (context) => renderList(room, context),
    forms: {
      ...actForms(creates, (answer) => ({ to: newItemPath(room, answer) })),
      ...(room.lookup && { lookup: lookupForm(room.lookup) }),
      ...(room.search !== undefined && { search: { run: ({ read }, form) => find(room, read, form) } }),
    },
  };
  if (!item) return [list];
  const one: ConsolePage = {
    path: `${room.path}/{id}`,
    access: 'staff',
    render: (context) => renderItem(room, item, context),
    forms: actForms(item.acts ?? [], (_answer, { id = '' }) => ({ to: roomItemPath(room, id) })),
  };
  return [list, one];
}

/** The list of a room as a file. */
export function roomFiles<Item>(room: Room<Item>): readonly ConsoleFile[] {
  if (!room.hasDownload) return [];
  const path = `${room.path}.csv`;
  return [{ path, read: async (context) => csvFile(path.slice(1), await downloadList(room, context)) }];
}

function newItemPath<Item>(room: Room<Item>, answer: Readonly<Record<string, unknown>>): string {
  return room.item ? roomItemPath(room, room.item.id(answer as Item)) : room.path;
}

function lookupForm({ name, more, operation, table }: RoomLookup): ConsoleForm {
  return {
    run: async ({ read }, form) => {
      const asked = [name, ...(more ? [more.name] : [])].map((each) => [each, field(form, each).trim()]);
      const query = Object.fromEntries(asked.filter(([each, value]) => each === name || value !== ''));
      const answer = await read<object>(operation, {}, query);
      const given = Object.entries(answer).filter(([, value]) => value !== null);
      const text = (key: string, value: unknown) =>
        key === table?.name ? JSON.stringify(value) : String(value);
      return { shown: Object.fromEntries(given.map(([key, value]) => [key, text(key, value)])) };
    },
  };
}

/** Leads to the only match, or to the list of them. An IP address has one at most, so no URL has one. */
async function find<Item>(
  room: Room<Item>,
  read: ConsoleContext['read'],
  form: Form,
): Promise<ConsoleResult> {
  const search = field(form, 'search').trim();
  if (search === '') return { to: room.path };
  const { data } = await read<ListAnswer<Item>>(room.list, {}, { search, limit: '2' });
  const [found, another] = data;
  if (found === undefined) return { to: room.path, notice: 'nothing_found' };
  if (another === undefined && room.item) return { to: roomItemPath(room, room.item.id(found)) };
  return { to: `${room.path}?${new URLSearchParams({ search })}` };
}

async function renderList<Item>(room: Room<Item>, context: ConsoleContext) {
  const { query, forms } = context;
  const filters = (room.filters ?? []).map(([name, label]) => ({
    name,
    label,
    value: field(query, name).trim(),
    choices: choicesOf(adminRouteOf(room.list).query?.properties[name]),
  }));
  const search = room.search === undefined ? undefined : field(query, 'search').trim();
  const filter = {
    ...Object.fromEntries(filters.map(({ name, value }) => [name, value])),
    ...(search !== undefined && { search }),
  };
  const { data, next } = await readFiltered<Item & { id: string }>(context, room.list, filter, room.path);
  return roomListView<Item>({
    ...{ title: room.title, many: room.many, section: room.section, path: room.path, intro: room.intro },
    ...{ filters, columns: room.columns, items: data, next, forms, lookup: room.lookup },
    ...{ links: room.links ?? [], shown: room.lookup ? null : context.shown },
    found: room.lookup ? context.shown : null,
    search: room.search === undefined ? undefined : { label: room.search, value: search ?? '' },
    download: room.hasDownload ? `${room.path}.csv?${new URLSearchParams(filter)}` : null,
    isSlow: room.isSlow ?? false,
    acts: shownActs(room.creates ?? [], undefined, context),
  });
}

async function renderItem<Item>(room: Room<Item>, row: RoomItem<Item>, context: ConsoleContext) {
  const fields = (row.asks ?? []).map(([name, label]) => {
    return { name, label, value: field(context.query, name).trim(), choices: null };
  });
  const given = fields.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]);
  const item = await context.read<Item>(row.get, context.params, Object.fromEntries(given));
  return roomItemView<Item>({
    ...{ title: row.title(item), section: room.section, parent: [room.title, room.path], item },
    ...{ state: row.state, details: row.details, tables: row.tables ?? [], forms: context.forms },
    shown: context.shown,
    asks: { path: roomItemPath(room, row.id(item)), fields },
    links: row.links?.(item) ?? [],
    acts: shownActs(row.acts ?? [], item, context),
  });
}
