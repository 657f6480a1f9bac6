/** The pages of a laid list that are looked at: every question, sort and direction; first, in the middle, near the end. */
import type { PagePosition, PageRequest } from '../../../src/spec/lists.ts';
import type { OpenDatabase } from '../../../src/store/db.ts';
import { type Statement, statementOf } from '../plans.ts';
import { questions } from './all.ts';
import type { LongList } from './list.ts';

export interface LaidPage {
  readonly what: string;
  readonly statement: Statement;
}

const PLACES = ['first', 'middle', 'near the end'] as const;
/** So many rows are left near the end, or a quarter of the list. */
const LEFT_MAX = 200;

/** In the same order for every length `n`. */
export async function laidPages(
  list: LongList,
  db: OpenDatabase,
  n: number,
  size: number,
): Promise<LaidPage[]> {
  const pages: LaidPage[] = [];
  for (const filter of questions(list, n)) {
    for (const sort of list.sorts) {
      const ask = (rest: Pick<PageRequest, 'descending' | 'after' | 'size'>) =>
        statementOf((sql) => list.read(sql, { filter, sort, ...rest }));
      const [late, middle, early] = await positions(
        db,
        await ask({ descending: true, after: null, size: 2 * n }),
      );
      for (const descending of [true, false]) {
        const after = { first: null, middle, 'near the end': descending ? early : late };
        for (const place of PLACES) {
          const what = `${list.route} ${JSON.stringify(filter)} ${descending ? '-' : ''}${sort}, ${place}`;
          pages.push({ what, statement: await ask({ descending, after: after[place], size }) });
        }
      }
    }
  }
  return pages;
}

/** Of all rows, newest first: one near the beginning, the middle one, one near the end. Null for all where there is none. */
async function positions(
  db: OpenDatabase,
  all: Statement,
): Promise<[PagePosition | null, PagePosition | null, PagePosition | null]> {
  const left = `greatest(1, least(${LEFT_MAX}, m / 4))`;
  const found = await db.rows<PagePosition & { n: bigint; m: bigint }>(
    `select page_value as value, page_id as id, n, m
       from (select page_value, page_id, row_number() over () as n, count(*) over () as m from (${all.text}) as page) as rows
      where n in (${left}, greatest(1, m / 2), greatest(1, m - ${left}))
      order by n`,
    all.values,
  );
  return [found[0] ?? null, found[Math.min(1, found.length - 1)] ?? null, found.at(-1) ?? null];
}
