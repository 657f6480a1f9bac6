/**
 * What a page of a list costs where the list has a million rows against one of a thousand: two databases side by side,
 * the statement of each page prepared in both, planned for its values and for any, interleaved; what counts is the time
 * that the database says it took, planning included. Every list, filter, sort and direction; the first page, one in the
 * middle, one near the end; what is asked for is in one row, or in the older half. A list's figure is that of its worst page.
 */
import { join } from 'node:path';
import pg from 'pg';
import type { Sql } from '../src/kernel/sql.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { migrate } from '../src/store/migrate.ts';
import { LONG_LISTS } from '../test/support/long-lists/all.ts';
import type { LongList } from '../test/support/long-lists/list.ts';
import { laidPages } from '../test/support/long-lists/pages.ts';
import { fill, layGround } from '../test/support/long-lists/rows.ts';
import { PLAN_MODES, type PlanMode, preparedOn, type Statement } from '../test/support/plans.ts';
import { type Figure, median } from './figure.ts';

const SHORT = 1_000;
const LONG = 1_000_000;
const OLD = 0.5;
const PAGE = 25;
const HELD_TO = 2.5;
const GOAL = 1.5;
const RUNS = 7;
/** Of pages that look slow after those: a neighbour on the machine is slow now and then, too. */
const MORE_RUNS = 101;

/** One of the two databases. */
interface Side {
  readonly n: number;
  readonly db: OpenDatabase;
  readonly client: pg.Client;
  readonly sql: Sql;
}

/** The same page of both lists. */
interface Pair {
  readonly what: string;
  readonly short: Statement;
  readonly long: Statement;
}

export async function benchLists(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'lists') });
  const sides: Side[] = [];
  try {
    await hurry(database.connection);
    const short = await openSide(database.connection, SHORT);
    sides.push(short);
    const long = await openSide(database.connection, LONG);
    sides.push(long);
    const figures: Figure[] = [];
    for (const list of LONG_LISTS) figures.push(await figureOf(list, short, long));
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

/** Laying rows is not what is measured, and the database is thrown away. */
async function hurry(connection: Connection): Promise<void> {
  await asAdmin(connection, [
    'alter system set fsync = off',
    'alter system set full_page_writes = off',
    'alter system set autovacuum = off',
    `alter system set max_wal_size = '2GB'`,
    `alter system set maintenance_work_mem = '256MB'`,
    'select pg_reload_conf()',
  ]);
}

async function asAdmin(connection: Connection, statements: readonly string[]): Promise<void> {
  const admin = new pg.Client(connection);
  await admin.connect();
  for (const statement of statements) await admin.query(statement);
  await admin.end();
}

async function openSide(connection: Connection, n: number): Promise<Side> {
  const database = `lists_${n}`;
  await asAdmin(connection, [
    `create database ${database}`,
    // Rows are laid without looking for those that they refer to: there are too many.
    `alter database ${database} set session_replication_role = replica`,
  ]);
  const db = openDatabase({ ...connection, database }, { poolSize: 2, statementTimeoutMs: 0 });
  await migrate(db);
  await layGround(db, n);
  const client = new pg.Client(db.settings);
  await client.connect();
  return { n, db, client, sql: db.on(client) };
}

async function figureOf(list: LongList, short: Side, long: Side): Promise<Figure> {
  const begun = performance.now();
  for (const side of [short, long]) await lay(side, list);
  const laid = performance.now();
  let value = 0;
  for (const pair of await pairsOf(list, short, long)) {
    for (const mode of PLAN_MODES) value = Math.max(value, await ratioOf(pair, mode, short, long));
  }
  for (const { table } of list.fillings) await long.db.run(`truncate ${table} cascade`);
  tell(`${list.route}: laid in ${seconds(begun, laid)}, measured in ${seconds(laid, performance.now())}`);
  const name = `${list.route.replace('.list', '').replaceAll('_', ' ')}, a page of 1 M rows ÷ 1 k rows`;
  return { name, value, unit: '×', heldTo: HELD_TO, goal: GOAL, bound: 'max' };
}

/** Indexes are made once the rows are there. */
async function lay({ db, n }: Side, list: LongList): Promise<void> {
  const tables = list.fillings.map(({ table }) => table);
  const indexes = await db.rows<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
      where schemaname = 'public' and tablename = any ($1)
        and indexname not in (select conname from pg_constraint)`,
    [tables],
  );
  for (const { name } of indexes) await db.run(`drop index ${name}`);
  await fill(db, list.fillings, { n, held: list.held, old: OLD });
  for (const { definition } of indexes) await db.run(definition);
  for (const table of tables) await db.run(`analyze ${table}`);
}

async function pairsOf(list: LongList, short: Side, long: Side): Promise<Pair[]> {
  const pages = await laidPages(list, short.db, short.n, PAGE);
  const others = await laidPages(list, long.db, long.n, PAGE);
  return pages.flatMap(({ what, statement }, i) => {
    const other = others[i];
    return other ? [{ what, short: statement, long: other.statement }] : [];
  });
}

async function ratioOf(pair: Pair, mode: PlanMode, short: Side, long: Side): Promise<number> {
  const a = await preparedOn(short.sql, pair.short, mode);
  const b = await preparedOn(long.sql, pair.long, mode);
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
  for (let again = 0; again < 2 && times.ratio > GOAL && times.ratio < 10 * HELD_TO; again++) {
    const better = await measure(MORE_RUNS);
    if (better.ratio < times.ratio || again === 0) times = better;
  }
  if (times.ratio > GOAL) {
    const { blocks, indexes } = await b.explain();
    const ms = `${times.short.toFixed(3)} → ${times.long.toFixed(3)} ms`;
    tell(`${times.ratio.toFixed(2)} × (${ms}, ${blocks} blocks, ${indexes}): ${pair.what}, ${mode}`);
  }
  await a.forget();
  await b.forget();
  return times.ratio;
}

function tell(line: string): void {
  if (process.env.BENCH_VERBOSE) process.stderr.write(`${line}\n`);
}

function seconds(from: number, to: number): string {
  return `${((to - from) / 1_000).toFixed(1)} s`;
}
