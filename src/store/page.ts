/**
 * One page of a list by keyset on (sort field, id): its cost does not grow with the length of the list, as long as an
 * index has the filters' columns and then the same two. Text is put together from fragments of the code, never from what
 * a caller typed; there are few of them, so each text is prepared once.
 *
 * Which index that is must not be left to the planner. It counts rows and cannot know how they lie: where nearly all have the
 * wanted status, it may well follow the index without it, and meet a hundred thousand others first. So those of a list
 * without bound differ in where they would have nulls, of which there are none: the order that is asked for can be had from the
 * index for as many filters as are given, and from no other.
 */
import type { Sql } from '../kernel/sql.ts';
import type { PagePosition, PageRequest } from '../spec/lists.ts';

export interface PageSource {
  /** Columns of a row. */
  readonly columns: string;
  readonly from: string;
  /** Conditions that always hold; `?` stands for the values, in order. */
  readonly where: string;
  readonly values: readonly unknown[];
  readonly id: { readonly column: string; readonly type: 'uuid' | 'text' };
  readonly sorts: Readonly<Record<string, PageSort>>;
  readonly filters?: Readonly<Record<string, PageFilter | PageBound>>;
  /** The earliest time that is shown, of a list that is sorted by `created_at` alone. */
  readonly since?: Date;
}

export interface PageSort {
  readonly column: string;
  readonly type: 'timestamptz' | 'text' | 'uuid';
}

/** A condition with one `?`. A filter with the name of a sort is an equality on its column. */
export interface PageFilter {
  readonly where: string;
  /** The list has no bound, and an index for each such filter, and for two of them: see NULLS. */
  readonly indexed?: true;
  /** What `?` is; the text as it came when left out, and undefined when it can match nothing (a malformed id). */
  readonly value?: (text: string) => unknown;
}

/** A time that bounds a list that is sorted by `created_at` alone: `from` is shown, `to` is not. */
export interface PageBound {
  readonly bound: 'from' | 'to';
  readonly value: (text: string) => Date | undefined;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The last row's place when there are more; null at the end. */
  readonly next: PagePosition | null;
}

type Positioned = { readonly page_value: string; readonly page_id: string };

export async function readPage<Row extends object>(
  tx: Sql,
  source: PageSource,
  request: PageRequest,
): Promise<Page<Row>> {
  const built = buildPageQuery(source, request);
  if (built === null) return { rows: [], next: null };
  const found = await tx.rows<Row & Positioned>(built.text, built.values);
  const rows = found.slice(0, request.size);
  const last = rows.at(-1);
  const more = found.length > request.size && last !== undefined;
  return { rows, next: more ? { value: last.page_value, id: last.page_id } : null };
}

/** null: a filter can match nothing. */
function buildPageQuery(
  source: PageSource,
  request: PageRequest,
): { text: string; values: unknown[] } | null {
  const { column: id, type: idType } = source.id;
  const sort = sortOf(source, request);
  const conditions = [source.where];
  const values: unknown[] = [...source.values];
  let indexed = 0;
  const bounds: Bounds = { from: source.since, to: undefined };
  for (const [name, text] of Object.entries(request.filter)) {
    const filter = source.filters?.[name];
    if (!filter) throw new Error(`no filter ${name}`);
    const value = filter.value ? filter.value(text) : text;
    if (value === undefined) return null;
    if ('bound' in filter) {
      narrowBounds(bounds, filter.bound, value as Date);
    } else {
      conditions.push(filter.where);
      values.push(value);
      if (filter.indexed) indexed++;
    }
  }
  const after = startAfter(bounds, request);
  for (const [side, sign] of [
    ['from', '>='],
    ['to', '<'],
  ] as const) {
    if (!bounds[side]) continue;
    conditions.push(`${sort.column} ${sign} ?`);
    values.push(bounds[side]);
  }
  if (after) {
    const beyond = request.descending ? '<' : '>';
    conditions.push(`(${sort.column}, ${id}) ${beyond} (?::${sort.type}, ?::${idType})`);
    values.push(after.value, after.id);
  }
  values.push(request.size + 1);
  const text = `select ${source.columns}, ${sort.column}::text as page_value, ${id}::text as page_id
    from ${source.from} where ${conditions.join(' and ')}
    order by ${orderBy([sort.column, id], indexed, request.descending)} limit ?`;
  let n = 0;
  return { text: text.replaceAll('?', () => `$${++n}`), values };
}

/**
 * Those of one name are sorted by age. Beside `name = …` the database would not begin at the place `(name, id) > …`, but
 * read from the first of that name on; and without a cursor it might well read the whole table in the order of ids.
 */
function sortOf({ sorts }: PageSource, { sort, filter }: PageRequest): PageSort {
  const wanted = sorts[sort];
  if (!wanted) throw new Error(`no sort ${sort}`);
  return Object.hasOwn(filter, sort) ? (sorts.created_at ?? wanted) : wanted;
}

/** Where nulls would be, newest first, of the sort's column and of the id: by how many indexed filters are given. */
const NULLS = [
  ['first', 'first'],
  ['last', 'last'],
  ['first', 'last'],
] as const;

function orderBy(columns: readonly [sort: string, id: string], indexed: number, descending: boolean): string {
  const nulls = NULLS[indexed];
  if (!nulls) throw new Error(`no index for ${indexed} filters`);
  const opposite = { first: 'last', last: 'first' } as const;
  return columns
    .map((column, i) => {
      const place = nulls[i === 0 ? 0 : 1];
      return descending ? `${column} desc nulls ${place}` : `${column} asc nulls ${opposite[place]}`;
    })
    .join(', ');
}

interface Bounds {
  from: Date | undefined;
  to: Date | undefined;
}

function narrowBounds(bounds: Bounds, side: 'from' | 'to', time: Date): void {
  const known = bounds[side];
  if (known === undefined || (side === 'from' ? time > known : time < known)) bounds[side] = time;
}

/**
 * A page begins at the cursor or at a bound, whichever is further on: the other one is left out. With both, the database
 * would begin at the bound, and read everything up to the cursor.
 */
function startAfter(bounds: Bounds, { after, descending }: PageRequest): PagePosition | null {
  const side = descending ? 'to' : 'from';
  const bound = bounds[side]?.getTime();
  if (after === null || bound === undefined) return after;
  // As the database writes it: 2030-01-01 00:00:00.123456+00.
  const place = Date.parse(`${after.value.replace(' ', 'T')}:00`);
  if (descending ? place >= bound : place < bound) return null;
  bounds[side] = undefined;
  return after;
}
