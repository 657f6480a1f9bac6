/**
 * One page of a list by keyset on (sort field, id): its cost does not grow with the length of the list, as long as an
 * index has the filter's columns and then the same two. Text is put together from fragments of the code, never from what
 * a caller typed; there are few of them, so each text is prepared once.
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
  readonly sorts: Readonly<
    Record<string, { readonly column: string; readonly type: 'timestamptz' | 'text' | 'uuid' }>
  >;
  /** A condition with one `?` for each filter; a value that can match nothing (a malformed id) is undefined. */
  readonly filters?: Readonly<Record<string, PageFilter>>;
}

export interface PageFilter {
  readonly where: string;
  /** What `?` is; the text as it came when left out. */
  readonly value?: (text: string) => unknown;
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
  const built = build(source, request);
  if (built === null) return { rows: [], next: null };
  const found = await tx.rows<Row & Positioned>(built.text, built.values);
  const rows = found.slice(0, request.size);
  const last = rows.at(-1);
  const more = found.length > request.size && last !== undefined;
  return { rows, next: more ? { value: last.page_value, id: last.page_id } : null };
}

/** null: a filter can match nothing. */
function build(source: PageSource, request: PageRequest): { text: string; values: unknown[] } | null {
  const sort = source.sorts[request.sort];
  if (!sort) throw new Error(`no sort ${request.sort}`);
  const { column: id, type: idType } = source.id;
  const conditions = [source.where];
  const values: unknown[] = [...source.values];
  for (const [name, text] of Object.entries(request.filter)) {
    const filter = source.filters?.[name];
    if (!filter) throw new Error(`no filter ${name}`);
    const value = filter.value ? filter.value(text) : text;
    if (value === undefined) return null;
    conditions.push(filter.where);
    values.push(value);
  }
  if (request.after) {
    const beyond = request.descending ? '<' : '>';
    conditions.push(`(${sort.column}, ${id}) ${beyond} (?::${sort.type}, ?::${idType})`);
    values.push(request.after.value, request.after.id);
  }
  const way = request.descending ? 'desc' : 'asc';
  values.push(request.size + 1);
  const text = `select ${source.columns}, ${sort.column}::text as page_value, ${id}::text as page_id
    from ${source.from} where ${conditions.join(' and ')}
    order by ${sort.column} ${way}, ${id} ${way} limit ?`;
  let n = 0;
  return { text: text.replaceAll('?', () => `$${++n}`), values };
}
