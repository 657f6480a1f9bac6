/** Pages from a description: a list of resources, one resource, and the forms of the acts on it. */
import { buttonLink, detailList, section, statusBadge, table, time } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { formatNumber, usd } from '../parts/format.ts';
import { type Html, type HtmlValue, html } from '../parts/html.ts';
import { part } from '../parts/live.ts';
import { customerLink } from './customers.ts';
import type { ConsoleSection, ConsoleView } from './layout.ts';
import { filterChoice, filterField, filterForm, nothingFound, shortId, UPDATES_EVERY_S } from './parts.ts';

import { type RoomForm, roomForm } from './room-form.ts';

export type Tone = 'good' | 'busy' | 'off' | 'bad';

/**
 * How a value is written. `customer` is an email address, with a link, `meter` a percentage in use, and
 * `lines` a text of several lines.
 */
export type ValueFormat =
  | 'text'
  | 'lines'
  | 'code'
  | 'short'
  | 'time'
  | 'usd'
  | 'number'
  | 'state'
  | 'customer'
  | 'meter';

/** A column, or a line of the details. A value of null is left out. */
export interface Shown<Item> {
  readonly name: string;
  readonly value: (item: Item) => string | number | boolean | null | undefined;
  readonly as?: ValueFormat;
  /** For `state`. */
  readonly tones?: Readonly<Record<string, Tone>>;
  /** For `meter`: the same in words. */
  readonly text?: (item: Item) => string;
  /** The path that the value leads to. */
  readonly link?: (item: Item) => string | null;
}

/** A table on the page of a resource. */
export interface RoomTable<Item, Row = never> {
  readonly title: string;
  readonly rows: (item: Item) => readonly Row[];
  readonly columns: readonly Shown<Row>[];
  /** If there are no rows. */
  readonly empty: string;
}

/** Forgets the type of the rows, so that a resource can have tables of several kinds. */
export function tableOf<Item, Row>(rows: RoomTable<Item, Row>): RoomTable<Item> {
  return rows as unknown as RoomTable<Item>;
}

/** A field that finds resources by anything. It is sent with POST: the text may be an IP address. */
export interface RoomSearch {
  readonly label: string;
  readonly value: string;
}

export interface RoomFilter {
  readonly name: string;
  readonly label: string;
  readonly choices: readonly string[] | null;
  readonly value: string;
}

const RIGHT: readonly ValueFormat[] = ['usd', 'number'];

export function shownValue<Item>(shown: Shown<Item>, item: Item): HtmlValue {
  const value = shown.value(item);
  if (value === null || value === undefined || value === '') return null;
  const path = shown.link?.(item) ?? null;
  const text = shown.as === 'meter' ? meter(shown, item, Number(value)) : formatValue(shown, value);
  return path === null ? text : html`<a href="${path}">${text}</a>`;
}

function meter<Item>({ name, text }: Shown<Item>, item: Item, percent: number): Html {
  const words = text?.(item) ?? `${Math.round(percent)}%`;
  return html`<progress max="100" value="${Math.round(percent)}" aria-label="${name}"></progress> ${words}`;
}

function formatValue<Item>(
  { as = 'text', tones = {} }: Shown<Item>,
  value: string | number | boolean,
): HtmlValue {
  const text = typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
  if (as === 'usd') return usd(Number(value));
  if (as === 'number') return formatNumber(Number(value));
  if (as === 'time') return time(text);
  if (as === 'code') return html`<code class="copy" data-copy>${text}</code>`;
  if (as === 'short') return shortId(text);
  if (as === 'lines') return html`<div class="talk-text">${text}</div>`;
  if (as === 'state') return statusBadge(text, tones[text] ?? 'off');
  return as === 'customer' ? customerLink(text) : text;
}

export function roomTable<Item>(
  caption: string,
  columns: readonly Shown<Item>[],
  items: readonly Item[],
): Html {
  return table({
    caption,
    columns: columns.map(({ name, as = 'text' }) => (RIGHT.includes(as) ? { name, class: 'number' } : name)),
    rows: items.map((item) => columns.map((column) => shownValue(column, item) ?? '–')),
  });
}

type Found = Readonly<Record<string, string>>;

export interface RoomLookupField {
  readonly name: string;
  readonly label: string;
}

/** The answer has its rows as JSON, under `name`. */
export interface RoomLookupTable {
  readonly name: string;
  readonly title: string;
  readonly columns: readonly Shown<Found>[];
  readonly empty: string;
}

interface LookupView extends RoomLookupField {
  readonly more?: RoomLookupField;
  readonly details: readonly Shown<Found>[];
  readonly table?: RoomLookupTable;
}

export function roomListView<Item>(data: {
  readonly title: string;
  readonly many: string;
  readonly section: ConsoleSection;
  readonly path: string;
  readonly intro: string | undefined;
  readonly search: RoomSearch | undefined;
  readonly links: readonly (readonly [name: string, path: string])[];
  readonly lookup: LookupView | undefined;
  /** Of the lookup. */
  readonly found: Found | null;
  readonly shown: Readonly<Record<string, string>> | null;
  readonly filters: readonly RoomFilter[];
  readonly columns: readonly Shown<Item>[];
  readonly items: readonly Item[];
  /** The path of the next page; null on the last one. */
  readonly next: string | null;
  /** The path of the list as a file. */
  readonly download: string | null;
  /** The page does not update on its own. */
  readonly isSlow: boolean;
  /** Forms that create a resource. */
  readonly acts: readonly RoomForm[];
  readonly forms: FormContext;
}): ConsoleView {
  const { filters, items, many } = data;
  const isFiltered = data.search?.value || filters.some(({ value }) => value !== '');
  const none = isFiltered ? nothingFound(many) : html`<p>There are no ${many}.</p>`;
  const csv = items.length > 0 && data.download;
  return {
    title: data.title,
    section: data.section,
    ...(!data.isSlow && { updatesEveryS: UPDATES_EVERY_S }),
    body: html`${shownOnce(data.shown)}
${data.intro && html`<p>${data.intro}</p>`}
${linkButtons(data.links)}
${data.search && searchForm(data.forms, 'search', 'search', data.search)}
${data.lookup && lookupPart(data.forms, data.lookup, data.found)}
${filterPart(data.path, filters)}
${part(
  'list',
  html`${items.length === 0 ? none : roomTable(data.title, data.columns, items)}
${data.next && html`<p>${buttonLink(`More ${many}`, data.next, 'plain')}</p>`}
${csv && html`<p>${buttonLink('Download as CSV', csv, 'plain')}</p>`}`,
)}
${data.acts.map((act) => roomForm(data.forms, act))}`,
  };
}

function filterPart(path: string, filters: readonly RoomFilter[], button?: string): Html | null {
  const fields = filters.map(({ name, label, value, choices }) =>
    choices === null ? filterField(name, label, value) : filterChoice(name, label, value, choices),
  );
  return fields.length > 0 ? filterForm(path, fields, button) : null;
}

function searchForm(
  forms: FormContext,
  name: string,
  input: string,
  { label, value }: RoomSearch,
  more: Html | null = null,
): Html {
  const content = html`${filterField(input, label, value)}${more}<button class="plain">Find</button>`;
  return form(forms, { name, class: 'filters row' }, content);
}

function lookupPart(
  forms: FormContext,
  { label, name, more, details, table: list }: LookupView,
  found: Found | null,
): Html {
  const second = more ? filterField(more.name, more.label, '') : null;
  return html`${searchForm(forms, 'lookup', name, { label, value: '' }, second)}
${found && detailList(details.map((row) => [row.name, shownValue(row, found)]))}
${found && list && itemTable({ ...list, rows: (each) => JSON.parse(each[list.name] ?? '[]') }, found)}`;
}

function linkButtons(links: readonly (readonly [name: string, path: string])[]): Html | null {
  if (links.length === 0) return null;
  const buttons = links.map(([name, path]) => html`${buttonLink(name, path, 'plain')} `);
  return html`<p class="page-actions">${buttons}</p>`;
}

/** Secrets, such as a code, that only this page shows. */
function shownOnce(shown: Readonly<Record<string, string>> | null): Html | null {
  if (shown === null) return null;
  const rows = Object.entries(shown).map(
    ([name, value]) => html`<p>${name}: <code class="copy" data-copy>${value}</code></p>\n`,
  );
  return html`<div class="once" role="status"><p>Copy it now. It is shown only here:</p>
${rows}</div>`;
}

export function roomItemView<Item>(data: {
  readonly title: string;
  readonly section: ConsoleSection;
  readonly parent: readonly [name: string, path: string];
  readonly state: Shown<Item> | undefined;
  readonly links: readonly (readonly [name: string, path: string])[];
  readonly details: readonly Shown<Item>[];
  readonly tables: readonly RoomTable<Item>[];
  /** Fields for more to show, such as the effect of another price. */
  readonly asks: { readonly path: string; readonly fields: readonly RoomFilter[] };
  readonly item: Item;
  readonly shown: Readonly<Record<string, string>> | null;
  readonly acts: readonly RoomForm[];
  readonly forms: FormContext;
}): ConsoleView {
  const { item } = data;
  return {
    title: data.title,
    section: data.section,
    breadcrumbs: [data.parent],
    ...(data.state && { status: shownValue(data.state, item) }),
    updatesEveryS: UPDATES_EVERY_S,
    body: html`${shownOnce(data.shown)}
${linkButtons(data.links)}
${filterPart(data.asks.path, data.asks.fields, 'Preview')}
${part('details', detailList(data.details.map((row) => [row.name, shownValue(row, item)])))}
${part(
  'tables',
  data.tables.map((each) => itemTable(each, item)),
)}
${part(
  'acts',
  data.acts.length > 0 &&
    section(
      'Actions',
      data.acts.map((act) => roomForm(data.forms, act)),
    ),
)}`,
  };
}

function itemTable<Item, Row>({ title, rows, columns, empty }: RoomTable<Item, Row>, item: Item): Html {
  const shown = rows(item);
  return section(title, shown.length === 0 ? html`<p>${empty}</p>` : roomTable(title, columns, shown));
}
