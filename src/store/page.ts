/**
 * Reads one page of a list by keyset on (sort field, id). Its cost does not grow with the length of the list,
 * provided an index has the filters' columns followed by those two. SQL is assembled from constant fragments,
 * never from user input; there are few combinations, so each text is prepared once.
 *
 * The planner must not choose the index. If nearly all rows match a filter, it may prefer the index without
 * the filter's column; if the other rows come first, it scans all of them. So the indexes of an unbounded
 * list differ in their null ordering, which has no other effect because the columns have no nulls. For each
 * number of filters, only one index can return the requested order.
 */
import type { Sql } from '../kernel/sql.ts';
import { requiredLabels } from '../spec/label-filters.ts';
import type { PagePosition, PageRequest } from '../spec/lists.ts';

export interface PageSource {
  /** The columns to select. */
  readonly columns: string;
  readonly from: string;
  /** Conditions that always apply; `$name` is a property of `values`. */
  readonly where: string;
  readonly values: object;
  /** `id`, a uuid, if omitted. */
  readonly id?: { readonly column: string; readonly type: 'uuid' | 'text' };
  readonly sorts: Readonly<Record<string, PageSort>>;
  readonly filters?: Readonly<Record<string, PageFilter | PageBound>>;
  /** The earliest time shown, for a list that is sorted by `created_at` only. */
  readonly since?: Date;
}

export interface PageSort {
  readonly column: string;
  readonly type: 'timestamptz' | 'text' | 'uuid';
}

export const BY_CREATION = { created_at: { column: 'created_at', type: 'timestamptz' } } as const;
export const BY_CREATION_OR_NAME = { ...BY_CREATION, name: { column: 'name', type: 'text' } } as const;

/** A condition on its value, `$name`. A filter named like a sort is an equality on its column. */
export interface PageFilter {
  readonly where: string;
  /** The list is unbounded, with an index for each combination of such filters: see NULLS. */
  readonly indexed?: true;
  /**
   * Parses the value; the raw text if omitted. Undefined means no match is possible (a malformed id).
   */
  readonly value?: (text: string) => unknown;
}

/**
 * The rows that have all labels of the filter. No index has labels, so a quota must bound the list. The
 * operator `@>` does the same, but for labels that are rare in the table, the planner would read and sort all
 * rows of the customer. It expects a function to be true for every third row, so it follows the list's order
 * to the end of the page.
 */
export function byLabels(column: string): PageFilter {
  return {
    where: `jsonb_contains(${column}, $label)`,
    value: (text) => {
      const labels = requiredLabels(text);
      return labels && JSON.stringify(labels);
    },
  };
}

/** A time bound of a list sorted by `created_at` only: `from` is inclusive, `to` is exclusive. */
export interface PageBound {
  readonly bound: 'from' | 'to';
  readonly value: (text: string) => Date | undefined;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The position of the last row if more follow; null on the last page. */
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

/** Counts the rows of `from`, a table with its condition, up to the limit. */
export async function countUpTo(
  tx: Sql,
  from: string,
  values: { readonly limit: number } & Readonly<Record<string, unknown>>,
): Promise<number> {
  const row = await tx.row<{ count: number }>(
    `select count(*)::int as count from (select from ${from} limit $limit) as counted`,
    values,
  );
  return row?.count ?? 0;
}

/** Returns null when a filter cannot match anything. */
function buildPageQuery(source: PageSource, request: PageRequest): { text: string; values: object } | null {
  const { column: id, type: idType } = source.id ?? { column: 'id', type: 'uuid' };
  const sort = sortOf(source, request);
  const conditions = [source.where];
  const values: Record<string, unknown> = { ...source.values, limit: request.size + 1 };
  let indexed = 0;
  const bounds: Bounds = { from: source.since, to: undefined };
  for (const [name, text] of Object.entries(request.filter)) {
    const filter = source.filters?.[name];
    if (!filter) throw new Error(`unknown filter ${name}`);
    const value = filter.value ? filter.value(text) : text;
    if (value === undefined) return null;
    if ('bound' in filter) {
      narrowBounds(bounds, filter.bound, value as Date);
    } else {
      conditions.push(filter.where);
      values[name] = value;
      if (filter.indexed) indexed++;
    }
  }
  const after = chooseStart(bounds, request);
  for (const [side, sign] of [
    ['from', '>='],
    ['to', '<'],
  ] as const) {
    if (!bounds[side]) continue;
    conditions.push(`${sort.column} ${sign} $${side}`);
    values[side] = bounds[side];
  }
  if (after) {
    const beyond = request.descending ? '<' : '>';
    conditions.push(`(${sort.column}, ${id}) ${beyond} ($after::${sort.type}, $afterId::${idType})`);
    Object.assign(values, { after: after.value, afterId: after.id });
  }
  const text = `select ${source.columns}, ${sort.column}::text as page_value, ${id}::text as page_id
    from ${source.from} where ${conditions.join(' and ')}
    order by ${orderBy([sort.column, id], indexed, request.descending)} limit $limit`;
  return { text, values };
}

/**
 * Rows of one name are sorted by age. With `name = …`, the database would not start at `(name, id) > …` but
 * read from the first row of that name; without a cursor, it might scan the whole table in id order.
 */
function sortOf({ sorts }: PageSource, { sort, filter }: PageRequest): PageSort {
  const wanted = sorts[sort];
  if (!wanted) throw new Error(`unknown sort ${sort}`);
  return Object.hasOwn(filter, sort) ? (sorts.created_at ?? wanted) : wanted;
}

/** The null ordering, newest first, of the sort column and the id, by the number of indexed filters. */
const NULLS = [
  ['first', 'first'],
  ['last', 'last'],
  ['first', 'last'],
  ['last', 'first'],
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
 * A page starts at the cursor or at a bound, whichever is further along. The query gets only that one:
 * with both, the database would start at the bound and read everything up to the cursor. Removes the bound
 * from `bounds` if the cursor is further along.
 */
function chooseStart(bounds: Bounds, { after, descending }: PageRequest): PagePosition | null {
  const side = descending ? 'to' : 'from';
  const bound = bounds[side]?.getTime();
  if (after === null || bound === undefined) return after;
  // In the database's format: 2030-01-01 00:00:00.123456+00.
  const place = Date.parse(`${after.value.replace(' ', 'T')}:00`);
  if (descending ? place >= bound : place < bound) return null;
  bounds[side] = undefined;
  return after;
}
