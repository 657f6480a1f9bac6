/**
 * The longest lock that retention causes: the slowest of many batches in tables of a million rows with their
 * indexes, half of them expired. One in ten deliveries must stay. The last batch starts from the beginning
 * before any vacuum, so it steps over all rows that were just removed.
 */
import { join } from 'node:path';
import { RETENTION, type RetentionName, type RetentionRule } from '../src/domain/upkeep/retention.ts';
import { firstIdAt } from '../src/kernel/ids.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { migrate } from '../src/store/migrate.ts';
import { purgeBatch } from '../src/store/service/retention.ts';
import type { Figure } from './figure.ts';

const ROWS = 1_000_000;
const BATCHES = 200;
const NOW = new Date('2030-06-01T00:00:00Z');
const MAX_BATCH_MS = 50;

/** Column expressions over the row's number `i` and its time `at`. */
const COLUMN_SQL: Partial<Record<RetentionName, Readonly<Record<string, string>>>> = {
  audit: {
    ...{ id: 'new_id(at)', customer_id: 'customer', action: `'server.stop'`, resource: `'srv_' || i % 1000` },
    ...{ request_id: `'req_' || i`, ip_country: `'XX'`, result: `'ok'`, created_at: 'at' },
  },
  deliveries: {
    ...{ id: 'new_id(at)', delivery_id: 'new_id(at)', webhook_id: 'customer', customer_id: 'customer' },
    ...{ event_id: 'new_id(at)', event_type: `'server.stopped'`, attempt: '1', created_at: 'at' },
    ...{ status: `case when i % 10 = 0 then 'pending' else 'delivered' end` },
    ...{ due_at: 'case when i % 10 = 0 then at end' },
  },
  events: {
    ...{ id: 'new_id(at)', customer_id: 'customer', type: `'server.stopped'`, seq: 'i', created_at: 'at' },
    ...{ data: `jsonb_build_object('server', jsonb_build_object('id', i, 'text', repeat('x', 600)))` },
  },
};

export async function benchRetain(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'retain') });
  const db = openDatabase(database.connection, { poolSize: 2, statementTimeoutMs: 0 });
  try {
    await migrate(db);
    const figures: Figure[] = [];
    for (const [name, columns] of Object.entries(COLUMN_SQL)) {
      const rule = RETENTION[name as RetentionName];
      await insertRows(db, rule, columns);
      const longestMs = await timePurge(db, rule);
      await db.run(`truncate ${rule.purge.table} cascade`);
      figures.push({
        name: `retention: longest batch of ${rule.batch} of 1 M ${name}`,
        ...{ value: longestMs, unit: 'ms', limit: MAX_BATCH_MS, goal: MAX_BATCH_MS / 2, bound: 'max' },
      });
    }
    return figures;
  } finally {
    await db.close();
    await database.stop();
  }
}

/** Inserts rows of which half are past their retention period. */
async function insertRows(
  db: OpenDatabase,
  { purge, keepMs }: RetentionRule,
  columns: object,
): Promise<void> {
  await db.run(
    `insert into ${purge.table} (${Object.keys(columns).join(', ')})
     select ${Object.values(columns).join(', ')}
       from (select i, $1::timestamptz + make_interval(secs => $2::float8 * i / ${ROWS}) as at,
                    ('c' || lpad(to_hex(i % 1000), 31, '0'))::uuid as customer
               from generate_series(1, ${ROWS}) as i) as r`,
    [new Date(NOW.getTime() - 2 * keepMs), (2 * keepMs) / 1_000],
  );
  await db.run(`vacuum analyze ${purge.table}`);
  await db.run('checkpoint');
}

async function timePurge(db: OpenDatabase, { purge, keepMs, batch }: RetentionRule): Promise<number> {
  const until = firstIdAt(new Date(NOW.getTime() - keepMs));
  let [longestMs, removed] = [0, 0];
  const step = async (from: string | null): Promise<string | null> => {
    const startedAt = performance.now();
    const { gone, reached } = await purgeBatch(db, purge, { from, until, now: NOW, limit: batch });
    longestMs = Math.max(longestMs, performance.now() - startedAt);
    removed += gone;
    return reached;
  };
  let position: string | null = null;
  for (let n = 0; n < BATCHES; n++) position = await step(position);
  await step(null);
  if (removed < (BATCHES * batch) / 2) throw new Error('the expired rows were not removed');
  return longestMs;
}
