import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import { ROUTES } from '../../src/http/v1/routes.ts';
import type { Sql } from '../../src/kernel/sql.ts';
import type { PagePosition, PageRequest } from '../../src/spec/lists.ts';
import { pageAuditEvents } from '../../src/store/audit.ts';
import type { OpenDatabase } from '../../src/store/db.ts';
import { pageVisibleImages } from '../../src/store/images/visible.ts';
import { openScratchDatabase, type ScratchDatabase } from '../support/database.ts';
import { filterCombinations, LONG_LISTS } from '../support/long-lists/all.ts';
import { type LongList, scanningList } from '../support/long-lists/list.ts';
import { listPages } from '../support/long-lists/pages.ts';
import { CUSTOMER_ID, FIRST_AT, insertFixtures, insertReferenceRows } from '../support/long-lists/rows.ts';
import { captureStatement, PLAN_MODES, prepareStatement } from '../support/query-plans.ts';
import { sampleOneIn } from '../support/runs.ts';

/** The fraction of rows that match the filters; the newest rows do not. */
const OLD = 0.9;

/** Bounded by the catalog, which the operator writes, and by the table of quotas. */
const SHORT_LISTS = ['plans.list', 'regions.list', 'limits.list'];

test('every list of the API is tested here, with all its filters and sorts', () => {
  const rules = ROUTES.flatMap(({ id, list }) => (list && !SHORT_LISTS.includes(id) ? [{ id, list }] : []));
  const describeList = (id: string, filters: readonly string[], sorts: readonly string[]) =>
    `${id}: ${[...filters].sort()} by ${[...sorts].sort()}`;
  assert.deepEqual(
    LONG_LISTS.map(({ route, filters, scanning, sorts }) =>
      describeList(route, Object.keys({ ...filters, ...scanning?.filters }), sorts),
    ).sort(),
    rules.map(({ id, list }) => describeList(id, Object.keys(list.filters), list.sorts)).sort(),
  );
});

describe('a page of a long list', () => {
  const ROWS = 10_000;
  const SIZE = 5;
  let scratch: ScratchDatabase;
  before(async () => {
    scratch = await openScratchDatabase();
    await insertReferenceRows(scratch.db, ROWS);
  });
  after(() => scratch.close());

  for (const list of sampleOneIn(LONG_LISTS, 3)) {
    it(`a page of ${list.route} scans few rows, with a custom and with a generic plan`, async () => {
      await assertFewRowsScanned(list);
      const scanning = scanningList(list);
      if (!scanning) return;
      for (const { table } of list.fixtures) await scratch.db.run(`delete from ${table}`);
      await assertFewRowsScanned(scanning);
    });
  }

  async function assertFewRowsScanned(list: LongList): Promise<void> {
    const { perCustomer } = list;
    await insertFixtures(scratch.db, list.fixtures, { n: ROWS, perCustomer, oldFraction: OLD });
    const pages = await listPages(list, scratch.db, ROWS, SIZE);
    await scratch.db.transaction(async (tx) => {
      for (const { label, statement } of pages) {
        for (const mode of PLAN_MODES) {
          const prepared = await prepareStatement(tx, statement, mode);
          const { rowsScanned, blocks, indexes } = await prepared.explain();
          const details = `${label}, ${mode}: ${rowsScanned} rows, ${blocks} blocks, ${indexes}`;
          if (perCustomer === 'all') {
            assert.ok(rowsScanned <= 2 * (SIZE + 1) && blocks <= BLOCKS_MAX, details);
          } else {
            assert.ok(rowsScanned <= 2 * Math.max(perCustomer, OFFICIAL_IMAGES), details);
          }
          await prepared.deallocate();
        }
      }
    });
  }

  it('a page of images.list skips deleted images', async () => {
    const { db } = scratch;
    await db.run(
      `insert into images (id, type, family, version, arch, size_gb, size_bytes, cloud_init, released_at,
                           customer_id, deleted_at)
       select gen_random_uuid(), 'custom', 'custom', i, '{amd64}', 1, 1, false, now(), $1, now()
         from generate_series(1, $2::int) as i`,
      [CUSTOMER_ID, ROWS],
    );
    await db.run('vacuum analyze images');
    const page: PageRequest = { filter: {}, sort: 'id', descending: false, after: null, size: SIZE };
    const viewer = { customerId: CUSTOMER_ID, deprecationCutoff: '2029-01-01', importedOnly: false };
    const read = (sql: Sql) => pageVisibleImages(sql, viewer, page);
    await db.transaction(async (tx) => {
      for (const mode of PLAN_MODES) {
        const prepared = await prepareStatement(tx, await captureStatement(read), mode);
        const { rowsScanned, indexes } = await prepared.explain();
        assert.ok(rowsScanned <= 2 * OFFICIAL_IMAGES, `${mode}: ${rowsScanned} rows, ${indexes}`);
      }
    });
  });

  /** A page's own rows and their joins, plus the descent to the first one. */
  const BLOCKS_MAX = 5 * (SIZE + 1) + 15;
  const OFFICIAL_IMAGES = 40;
});

describe('page after page', () => {
  const ROWS = 100;
  const SIZE = 7;
  let db: OpenDatabase;
  let scratch: ScratchDatabase;
  before(async () => {
    scratch = await openScratchDatabase();
    db = scratch.db;
    await insertReferenceRows(db, ROWS);
    for (const { fixtures, perCustomer } of LONG_LISTS) {
      await insertFixtures(db, fixtures, { n: ROWS, perCustomer, oldFraction: OLD });
    }
  });
  after(() => scratch.close());

  for (const list of sampleOneIn(LONG_LISTS, 3)) {
    it(`the pages of ${list.route} show every row once, in order, for every filter and sort`, async () => {
      const scanning = scanningList(list);
      for (const filter of [list, scanning ?? []].flat().flatMap((each) => filterCombinations(each, ROWS))) {
        for (const sort of list.sorts) {
          for (const descending of [true, false]) {
            const request: PageRequest = { filter, sort, descending, after: null, size: SIZE };
            const all = (await list.read(db, { ...request, size: 10 * ROWS })).rows;
            const description = `${JSON.stringify(filter)} ${sort} ${descending}`;
            assert.deepEqual(await readAllPages(list, request), all, description);
            assertSorted(all, request, description);
          }
        }
      }
    });
  }

  async function readAllPages(list: LongList, request: PageRequest): Promise<object[]> {
    const rows: object[] = [];
    let position: PagePosition | null = null;
    do {
      const page = await list.read(db, { ...request, after: position });
      rows.push(...page.rows);
      position = page.next;
    } while (position);
    return rows;
  }

  function assertSorted(
    rows: readonly object[],
    { sort, descending }: PageRequest,
    description: string,
  ): void {
    const keys = rows.map((row) => sortKey((row as Record<string, unknown>)[sort]));
    keys.forEach((key, i) => {
      const previous = keys[i - 1];
      if (previous === undefined) return;
      assert.ok(descending ? previous >= key : previous <= key, `${description}: ${previous}, ${key}`);
    });
  }

  function sortKey(value: unknown): string | number {
    return value instanceof Date ? value.getTime() : String(value ?? '');
  }

  it('a page omits audit events that expired since the previous page', async () => {
    const page: PageRequest = { filter: {}, sort: 'created_at', descending: false, after: null, size: SIZE };
    const { next } = await pageAuditEvents(db, CUSTOMER_ID, FIRST_AT, page);
    const since = new Date(FIRST_AT.getTime() + 40_000);
    for (const size of [SIZE, 1]) {
      const later = await pageAuditEvents(db, CUSTOMER_ID, since, { ...page, after: next, size });
      assert.equal(later.rows.at(0)?.created_at.getTime(), since.getTime());
    }
  });
});
