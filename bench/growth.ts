/**
 * A large database: the plans of every list and background job, and what a week of use leaves in its tables.
 * The size is that of `BENCH_SERVERS` and `BENCH_ROWS`; without them it is small. For 1,000,000 servers and
 * 10,000,000 rows each of the ledger and of events, it takes 20 GB and most of an hour.
 */
import { join } from 'node:path';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import type { OpenDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { findGrowingPlans } from '../test/support/growth-plans.ts';
import { fillLargeDatabase } from '../test/support/large-database.ts';
import type { Figure } from './figure.ts';
import { simulateWeek } from './growth-week.ts';

const SERVERS = Number(process.env.BENCH_SERVERS ?? 10_000);
const ROWS = Number(process.env.BENCH_ROWS ?? 100_000);
/** A batch of a job is at most this long. */
const SORTED_ROWS_MAX = 10_000;
/** Of the versions of rows in a table, those that are dead. */
const DEAD_SHARE_MAX = 0.2;
/** Smaller tables are vacuumed at once. */
const SHOWN_BYTES = 8 * 2 ** 20;

export async function benchGrowth(folder: string): Promise<Figure[]> {
  const dataDir = join(folder, 'growth');
  const database = await startEmbedded({ dataDir });
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'error' });
  try {
    const opened = await openService(config, database.connection, { mayMigrate: true });
    try {
      const { db, service, clock } = opened;
      await speedUp(db);
      await fillLargeDatabase(db, clock.now(), { servers: SERVERS, rows: ROWS });
      const bounds = { tableRows: ROWS / 5, sortedRows: SORTED_ROWS_MAX };
      const { faults, statements } = await findGrowingPlans(service, bounds);
      for (const fault of faults) process.stderr.write(`${fault}\n`);
      if (statements < 100) throw new Error('statements were not watched');
      return [
        {
          name: `growth: plans that grow, with ${SERVERS} servers and ${ROWS} events`,
          ...{ value: faults.length, unit: 'plans', limit: 0, goal: 0, bound: 'max' },
        },
        ...(await measureWeek(db, clock.now())),
      ];
    } finally {
      await opened.close();
    }
  } finally {
    await database.stop();
  }
}

/** A week passes in minutes, so autovacuum must be as much faster. The database is temporary. */
async function speedUp(db: OpenDatabase): Promise<void> {
  const settings = [
    ...['fsync = off', 'full_page_writes = off', `max_wal_size = '4GB'`],
    ...['autovacuum_naptime = 1', 'autovacuum_vacuum_cost_delay = 0'],
  ];
  for (const setting of settings) await db.run(`alter system set ${setting}`);
  await db.run('select pg_reload_conf()');
}

async function measureWeek(db: OpenDatabase, now: Date): Promise<Figure[]> {
  const before = new Map((await readTables(db)).map((table) => [table.name, table]));
  await simulateWeek(db, now, SERVERS);
  const after = await readTables(db);
  const print = (cells: readonly (string | number)[]) =>
    process.stderr.write(`${cells.map((cell) => String(cell).padStart(12)).join(' ')}\n`);
  print(['MB before', 'MB after', 'live', 'dead', 'updates', 'HOT %', 'vacuums', 'table']);
  for (const table of after) {
    if (table.bytes < SHOWN_BYTES) continue;
    const earlier = before.get(table.name);
    print([
      ...[
        toMb(earlier?.bytes ?? 0),
        toMb(table.bytes),
        table.live,
        table.dead,
        table.updates - (earlier?.updates ?? 0),
      ],
      ...[percent(table.hot, table.updates), table.vacuums - (earlier?.vacuums ?? 0), ` ${table.name}`],
    ]);
  }
  const shares = after.filter(({ bytes }) => bytes >= SHOWN_BYTES);
  const worst = Math.max(0, ...shares.map(({ live, dead }) => dead / Math.max(1, live + dead)));
  const name = 'growth: dead rows of a table after a week';
  return [
    { name, value: worst, unit: 'of all', limit: DEAD_SHARE_MAX, goal: DEAD_SHARE_MAX / 2, bound: 'max' },
  ];
}

interface TableState {
  readonly name: string;
  readonly bytes: number;
  readonly live: number;
  readonly dead: number;
  readonly updates: number;
  readonly hot: number;
  readonly vacuums: number;
}

async function readTables(db: OpenDatabase): Promise<TableState[]> {
  return await db.rows<TableState>(
    `select relname as name, pg_total_relation_size(relid)::float8 as bytes, n_live_tup::float8 as live,
            n_dead_tup::float8 as dead, n_tup_upd::float8 as updates, n_tup_hot_upd::float8 as hot,
            autovacuum_count::float8 as vacuums
       from pg_stat_user_tables order by 2 desc`,
  );
}

const toMb = (bytes: number) => Math.round(bytes / 2 ** 20);
const percent = (part: number, all: number) => (all === 0 ? '-' : Math.round((100 * part) / all));
