/**
 * The list pages to check: every filter, sort, and direction, at the start, in the middle, and near the end.
 */
import type { PagePosition, PageRequest } from '../../../src/spec/lists.ts';
import type { OpenDatabase } from '../../../src/store/db.ts';
import { captureStatement, type Statement } from '../query-plans.ts';
import { filterCombinations } from './all.ts';
import type { LongList } from './list.ts';

export interface ListPage {
  readonly label: string;
  readonly statement: Statement;
}

const POSITIONS = ['first', 'middle', 'near the end'] as const;
/** The number of rows after the position near the end, or a quarter of the list if that is less. */
const TAIL_ROWS_MAX = 200;

/** Returns the pages in the same order for every length `n`. */
export async function listPages(
  list: LongList,
  db: OpenDatabase,
  n: number,
  size: number,
): Promise<ListPage[]> {
  const pages: ListPage[] = [];
  for (const filter of filterCombinations(list, n)) {
    for (const sort of list.sorts) {
      const statementFor = (rest: Pick<PageRequest, 'descending' | 'after' | 'size'>) =>
        captureStatement((sql) => list.read(sql, { filter, sort, ...rest }));
      const [nearStart, middle, nearEnd] = await pagePositions(
        db,
        await statementFor({ descending: true, after: null, size: 2 * n }),
      );
      for (const descending of [true, false]) {
        const after = { first: null, middle, 'near the end': descending ? nearEnd : nearStart };
        for (const place of POSITIONS) {
          const label = `${list.route} ${JSON.stringify(filter)} ${descending ? '-' : ''}${sort}, ${place}`;
          pages.push({ label, statement: await statementFor({ descending, after: after[place], size }) });
        }
      }
    }
  }
  return pages;
}

/**
 * Returns positions in all rows, newest first: near the start, in the middle, near the end. Null if there are
 * no rows.
 */
async function pagePositions(
  db: OpenDatabase,
  all: Statement,
): Promise<[PagePosition | null, PagePosition | null, PagePosition | null]> {
  const left = `greatest(1, least(${TAIL_ROWS_MAX}, m / 4))`;
  const found = await db.rows<PagePosition & { n: bigint; m: bigint }>(
    `select page_value as value, page_id as id, n, m
       from (select page_value, page_id, row_number() over () as n, count(*) over () as m
               from (${all.text}) as page) as rows
      where n in (${left}, greatest(1, m / 2), greatest(1, m - ${left}))
      order by n`,
    all.values,
  );
  return [found[0] ?? null, found[Math.min(1, found.length - 1)] ?? null, found.at(-1) ?? null];
}
