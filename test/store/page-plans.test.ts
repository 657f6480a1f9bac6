import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import { ROUTES } from '../../src/http/v1/routes.ts';
import type { Sql } from '../../src/kernel/sql.ts';
import type { PagePosition, PageRequest } from '../../src/spec/lists.ts';
import { pageAuditEvents } from '../../src/store/audit.ts';
import type { OpenDatabase } from '../../src/store/db.ts';
import { pageVisibleImages } from '../../src/store/visible-images.ts';
import { openScratchDatabase, type ScratchDatabase } from '../support/database.ts';
import { filterCombinations, LONG_LISTS } from '../support/long-lists/all.ts';
import type { LongList } from '../support/long-lists/list.ts';
import { listPages } from '../support/long-lists/pages.ts';
import { CUSTOMER_ID, FIRST_AT, insertFixtures, insertReferenceRows } from '../support/long-lists/rows.ts';
import { captureStatement, PLAN_MODES, prepareStatement } from '../support/query-plans.ts';
import { sampleOneIn } from '../support/runs.ts';

/** Nearly all rows are as asked for, and the newest are not. */
const OLD = 0.9;

/** Bounded by the catalogue, which the operator writes. */
const SHORT_LISTS = ['plans.list', 'regions.list'];

test('every list of the surface is here, with every filter and sort', () => {
  const rules = ROUTES.flatMap(({ id, list }) => (list && !SHORT_LISTS.includes(id) ? [{ id, list }] : []));
  const words = (id: string, filters: readonly string[], sorts: readonly string[]) =>
    `${id}: ${[...filters].sort()} by ${[...sorts].sort()}`;
  assert.deepEqual(
    LONG_LISTS.map(({ route, filters, sorts }) => words(route, Object.keys(filters), sorts)).sort(),
    rules.map(({ id, list }) => words(id, Object.keys(list.filters), list.sorts)).sort(),
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
    it(`of ${list.route} looks at few rows, planned for its values or for any`, async () => {
      await insertFixtures(scratch.db, list.fixtures, {
        n: ROWS,
        perCustomer: list.perCustomer,
        oldFraction: OLD,
      });
      const pages = await listPages(list, scratch.db, ROWS, SIZE);
      await scratch.db.transaction(async (tx) => {
        for (const { label, statement } of pages) {
          for (const mode of PLAN_MODES) {
            const prepared = await prepareStatement(tx, statement, mode);
            const { rowsScanned, blocks, indexes } = await prepared.explain();
            const how = `${label}, ${mode}: ${rowsScanned} rows, ${blocks} blocks, ${indexes}`;
            if (list.perCustomer === 'all')
              assert.ok(rowsScanned <= 2 * (SIZE + 1) && blocks <= BLOCKS_MAX, how);
            else assert.ok(rowsScanned <= 2 * Math.max(list.perCustomer, OFFICIAL_IMAGES), how);
            await prepared.deallocate();
          }
        }
      });
    });
  }

  it('of images.list passes by those that were deleted', async () => {
    const { db } = scratch;
    await db.run(
      `insert into images (id, type, family, version, arch, size_gb, size_bytes, cloud_init, released_at, customer_id,
                           deleted_at)
       select gen_random_uuid(), 'custom', 'custom', i, '{amd64}', 1, 1, false, now(), $1, now()
         from generate_series(1, $2::int) as i`,
      [CUSTOMER_ID, ROWS],
    );
    await db.run('vacuum analyze images');
    const page: PageRequest = { filter: {}, sort: 'id', descending: false, after: null, size: SIZE };
    const read = (sql: Sql) =>
      pageVisibleImages(
        sql,
        { customerId: CUSTOMER_ID, deprecationCutoff: '2029-01-01', importedOnly: false },
        page,
      );
    await db.transaction(async (tx) => {
      for (const mode of PLAN_MODES) {
        const { rowsScanned, indexes } = await (
          await prepareStatement(tx, await captureStatement(read), mode)
        ).explain();
        assert.ok(rowsScanned <= 2 * OFFICIAL_IMAGES, `${mode}: ${rowsScanned} rows, ${indexes}`);
      }
    });
  });

  /** A row's own and those that it leads to, and the way down to the first. */
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
    for (const list of LONG_LISTS)
      await insertFixtures(db, list.fixtures, { n: ROWS, perCustomer: list.perCustomer, oldFraction: OLD });
  });
  after(() => scratch.close());

  for (const list of sampleOneIn(LONG_LISTS, 3)) {
    it(`of ${list.route} shows every row once, in order, whatever is asked`, async () => {
      for (const filter of filterCombinations(list, ROWS)) {
        for (const sort of list.sorts) {
          for (const descending of [true, false]) {
            const request: PageRequest = { filter, sort, descending, after: null, size: SIZE };
            const whole = (await list.read(db, { ...request, size: 10 * ROWS })).rows;
            const what = `${JSON.stringify(filter)} ${sort} ${descending}`;
            assert.deepEqual(await walk(list, request), whole, what);
            assertSorted(whole, request, what);
          }
        }
      }
    });
  }

  async function walk(list: LongList, request: PageRequest): Promise<object[]> {
    const seen: object[] = [];
    let place: PagePosition | null = null;
    do {
      const page = await list.read(db, { ...request, after: place });
      seen.push(...page.rows);
      place = page.next;
    } while (place);
    return seen;
  }

  function assertSorted(rows: readonly object[], { sort, descending }: PageRequest, what: string): void {
    const keys = rows.map((row) => sortKey((row as Record<string, unknown>)[sort]));
    keys.forEach((key, i) => {
      const last = keys[i - 1];
      if (last !== undefined) assert.ok(descending ? last >= key : last <= key, `${what}: ${last}, ${key}`);
    });
  }

  function sortKey(value: unknown): string | number {
    return value instanceof Date ? value.getTime() : String(value ?? '');
  }

  it('leaves out what fell out of the audit log since the last page', async () => {
    const page: PageRequest = { filter: {}, sort: 'created_at', descending: false, after: null, size: SIZE };
    const { next } = await pageAuditEvents(db, CUSTOMER_ID, FIRST_AT, page);
    const since = new Date(FIRST_AT.getTime() + 40_000);
    for (const size of [SIZE, 1]) {
      const later = await pageAuditEvents(db, CUSTOMER_ID, since, { ...page, after: next, size });
      assert.equal(later.rows.at(0)?.created_at.getTime(), since.getTime());
    }
  });
});
