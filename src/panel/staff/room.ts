/** Pages from a description: a list of resources, one resource, and the forms of the acts on it. */
import { buttonLink, detailList, section, statusBadge, table, time } from '../parts/components.ts';
import { Fields, type FormContext } from '../parts/form.ts';
import { formatNumber, usd } from '../parts/format.ts';
import { type Html, type HtmlValue, html } from '../parts/html.ts';
import { part } from '../parts/live.ts';
import { customerLink } from './customers.ts';
import type { ConsoleSection, ConsoleView } from './layout.ts';
import {
  actForm,
  filterChoice,
  filterField,
  filterForm,
  nothingFound,
  reasonField,
  shortId,
  UPDATES_EVERY_S,
} from './parts.ts';

export type Tone = 'good' | 'busy' | 'off' | 'bad';

/** How a value is written. `short` cuts a long one. `customer` is an email address with a link. */
export type ValueFormat = 'text' | 'code' | 'short' | 'time' | 'usd' | 'number' | 'state' | 'customer';

/** A column, or a line of the details. A value of null is left out. */
export interface Shown<Item> {
  readonly name: string;
  readonly value: (item: Item) => string | number | boolean | null | undefined;
  readonly as?: ValueFormat;
  /** For `state`. */
  readonly tones?: Readonly<Record<string, Tone>>;
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

/** Hides the type of the rows, so that one list has tables of different rows. */
export function tableOf<Item, Row>(rows: RoomTable<Item, Row>): RoomTable<Item> {
  return rows as unknown as RoomTable<Item>;
}

/** One input of a form. */
export interface RoomField {
  readonly name: string;
  readonly label: string;
  readonly kind: 'text' | 'long' | 'number' | 'choice' | 'tick';
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  readonly hint: string | undefined;
  readonly maxLength: number | undefined;
  /** The current value. */
  readonly value: string;
}

/** A form that performs an act. */
export interface RoomForm {
  readonly name: string;
  readonly title: string;
  readonly button: string;
  readonly isDangerous: boolean;
  readonly text: string | undefined;
  readonly fields: readonly RoomField[];
  readonly needsReason: boolean;
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
  const text = formatValue(shown, value);
  return path === null ? text : html`<a href="${path}">${text}</a>`;
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

export function roomListView<Item>(data: {
  readonly title: string;
  readonly many: string;
  readonly section: ConsoleSection;
  readonly path: string;
  readonly intro: string | undefined;
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
  const fields = filters.map(({ name, label, value, choices }) =>
    choices === null ? filterField(name, label, value) : filterChoice(name, label, value, choices),
  );
  const isFiltered = filters.some(({ value }) => value !== '');
  const none = isFiltered ? nothingFound(many) : html`<p>There are no ${many}.</p>`;
  const csv = items.length > 0 && data.download;
  return {
    title: data.title,
    section: data.section,
    ...(!data.isSlow && { updatesEveryS: UPDATES_EVERY_S }),
    body: html`${data.intro && html`<p>${data.intro}</p>`}
${filters.length > 0 && filterForm(data.path, fields)}
${part(
  'list',
  html`${items.length === 0 ? none : roomTable(data.title, data.columns, items)}
${data.next && html`<p>${buttonLink(`More ${many}`, data.next, 'plain')}</p>`}
${csv && html`<p>${buttonLink('Download as CSV', csv, 'plain')}</p>`}`,
)}
${data.acts.map((act) => roomForm(data.forms, act))}`,
  };
}

export function roomItemView<Item>(data: {
  readonly title: string;
  readonly section: ConsoleSection;
  readonly parent: readonly [name: string, path: string];
  readonly state: Shown<Item> | undefined;
  readonly links: readonly (readonly [name: string, path: string])[];
  readonly details: readonly Shown<Item>[];
  readonly tables: readonly RoomTable<Item>[];
  readonly item: Item;
  readonly acts: readonly RoomForm[];
  readonly forms: FormContext;
}): ConsoleView {
  const { item, links } = data;
  const buttons = links.map(([name, path]) => html`${buttonLink(name, path, 'plain')} `);
  return {
    title: data.title,
    section: data.section,
    breadcrumbs: [data.parent],
    ...(data.state && { status: shownValue(data.state, item) }),
    updatesEveryS: UPDATES_EVERY_S,
    body: html`${buttons.length > 0 && html`<p class="page-actions">${buttons}</p>`}
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

function itemTable<Item>({ title, rows, columns, empty }: RoomTable<Item>, item: Item): Html {
  const shown = rows(item);
  return section(title, shown.length === 0 ? html`<p>${empty}</p>` : roomTable(title, columns, shown));
}

/** A folded form. A refused one stays open. */
export function roomForm(forms: FormContext, act: RoomForm): Html {
  const fields = new Fields(forms, act.name);
  const { name, title, button, text } = act;
  return actForm(
    forms,
    { name, title, button, ...(act.isDangerous && { danger: true }) },
    html`${text && html`<p>${text}</p>`}
${act.fields.map((row) => formField(fields, row))}
${act.needsReason && reasonField(fields)}`,
  );
}

function formField(fields: Fields, row: RoomField): Html {
  const { name, label, value, hint, isRequired: required, maxLength } = row;
  const common = { value, required, ...(hint !== undefined && { hint }) };
  const bounded = { ...common, ...(maxLength !== undefined && { maxLength }) };
  if (row.kind === 'choice') {
    const choices = row.choices.map((word) => [word, word === '' ? 'Any' : word] as const);
    return fields.select(name, label, { ...common, choices });
  }
  if (row.kind === 'tick') {
    return fields.checkbox(name, label, { value: value === 'true', ...(hint !== undefined && { hint }) });
  }
  if (row.kind === 'long') return fields.textarea(name, label, { ...bounded, rows: 8 });
  return fields.text(name, label, {
    ...bounded,
    ...(row.kind === 'number' && { inputmode: 'numeric', size: 12 }),
  });
}
