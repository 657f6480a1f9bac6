/**
 * Claiming due work, compared with pg-boss in the same database with the same batch size; and the cost of
 * fan-out as subscriptions grow. Measures time on one connection, because the database is the subject.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { PgBoss } from 'pg-boss';
import { toAttemptResult } from '../src/domain/webhooks/attempt.ts';
import { recordBatches } from '../src/domain/webhooks/record.ts';
import { KeyRing } from '../src/kernel/secrets.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { migrate } from '../src/store/migrate.ts';
import { claimQueues, readDueDeliveries } from '../src/store/webhooks/queues.ts';
import { fanOutAll, insertCustomers, insertEvents } from './deliver-fixture.ts';
import { type Figure, median } from './figure.ts';

const ROWS = 50_000;
const BATCH = 500;
const URL = 'https://127.0.0.1:1/';

type Connection = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
};

export async function benchClaim(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'claim') });
  const db = openDatabase(database.connection, { poolSize: 2 });
  try {
    await migrate(db);
    const figures: Figure[] = [];
    // A lease covers a subscription, so one due row per subscription is the most expensive case.
    for (const { each, limit, goal } of [
      { each: 50, limit: 2, goal: 4 },
      { each: 1, limit: 0.8, goal: 2 },
    ]) {
      const name = `claiming ${ROWS} due rows, ${each} per subscription ÷ pg-boss`;
      const value = await compareWithPgBoss(db, database.connection, each);
      figures.push({ name, value, unit: '×', limit, goal, bound: 'min' });
    }
    figures.push(await fanOutGrowth(db));
    return figures;
  } finally {
    await db.close();
    await database.stop();
  }
}

/**
 * Returns the speed of claiming and reading relative to pg-boss, batch by batch. Completing work is not
 * measured.
 */
async function compareWithPgBoss(db: OpenDatabase, connection: Connection, each: number): Promise<number> {
  const boss = new PgBoss({ ...connection, max: 2, supervise: false, schedule: false });
  await boss.start();
  const queue = `deliveries-${each}`;
  await boss.createQueue(queue);
  for (let n = 0; n < ROWS; n += 5_000) {
    const jobs = Array.from({ length: 5_000 }, () => ({ data: jobPayload() }));
    await boss.insert(queue, jobs);
  }
  await fillQueues(db, ROWS / each, each);
  const [theirs, ours]: [number[], number[]] = [[], []];
  for (let n = 0; n < ROWS / BATCH; n++) {
    theirs.push(await timePgBossClaim(boss, queue));
    ours.push(await timeClaim(db, each));
  }
  await boss.stop({ graceful: false });
  if (process.env.BENCH_VERBOSE) {
    process.stderr.write(
      `${BATCH} rows: pg-boss ${median(theirs).toFixed(2)} ms, ours ${median(ours).toFixed(2)} ms\n`,
    );
  }
  return median(theirs) / median(ours);
}

/** Returns the fields of a delivery row. */
function jobPayload(): object {
  const [delivery, webhook, event] = [randomUUID(), randomUUID(), randomUUID()];
  return { delivery, webhook, event, type: 'server.running', attempt: 1 };
}

async function timePgBossClaim(boss: PgBoss, queue: string): Promise<number> {
  const startedAt = performance.now();
  const jobs = await boss.fetch(queue, { batchSize: BATCH });
  const elapsedMs = performance.now() - startedAt;
  if (jobs.length !== BATCH) throw new Error(`pg-boss returned ${jobs.length} jobs`);
  await boss.complete(
    queue,
    jobs.map(({ id }) => id),
  );
  return elapsedMs;
}

async function timeClaim(db: OpenDatabase, each: number): Promise<number> {
  const now = new Date();
  const leaseId = randomUUID();
  const startedAt = performance.now();
  const queues = await claimQueues(db, { leaseId, leaseS: 60, now, quickMax: BATCH / each, slowMax: 0 });
  const requests = queues.map(({ webhook_id }) => ({ webhook_id, limit: each }));
  const read = await readDueDeliveries(db, requests, now);
  const elapsedMs = performance.now() - startedAt;
  const due = [...read.values()].flat();
  if (due.length !== BATCH) throw new Error(`the claim returned ${due.length} deliveries`);
  const attempt = { attemptedAt: now, endedAt: now, durationMs: 1 };
  const results = due.map((delivery) => toAttemptResult(delivery, { status: 200 }, attempt));
  const reports = queues.map(({ webhook_id: webhookId }, n) => {
    return { webhookId, leaseId, results: n === 0 ? results : [], finished: true, slow: false };
  });
  await recordBatches({ db, clock: { now: () => now } }, reports);
  return elapsedMs;
}

async function fillQueues(db: OpenDatabase, subscriptions: number, each: number): Promise<void> {
  await truncateTables(db);
  const keys = new KeyRing(KeyRing.generate());
  const customers = await insertCustomers(db, { customers: subscriptions, each: 1, url: URL, keys });
  await insertEvents(db, customers, each);
  await fanOutAll(db);
  await db.run('vacuum analyze');
}

async function truncateTables(db: OpenDatabase): Promise<void> {
  await db.run('truncate customers, events, deliveries, event_counters cascade');
}

/** Returns the cost per delivery with 1,000 subscriptions relative to 250. */
async function fanOutGrowth(db: OpenDatabase): Promise<Figure> {
  const [few, many]: [number[], number[]] = [[], []];
  for (let round = 0; round < 9; round++) {
    few.push(await fanOutCost(db, 250));
    many.push(await fanOutCost(db, 1_000));
  }
  if (process.env.BENCH_VERBOSE) {
    const [first, second] = [median(few).toFixed(1), median(many).toFixed(1)];
    process.stderr.write(`fan-out: ${first} and ${second} µs per delivery\n`);
  }
  return {
    name: 'fan-out to 1,000 subscriptions ÷ to 250, per delivery',
    value: median(many) / median(few),
    unit: '×',
    limit: 1.15,
    goal: 1.05,
    bound: 'max',
  };
}

/** Returns microseconds per queued delivery. */
async function fanOutCost(db: OpenDatabase, subscriptions: number): Promise<number> {
  const events = 5;
  await truncateTables(db);
  const keys = new KeyRing(KeyRing.generate());
  const customers = await insertCustomers(db, { customers: 1, each: subscriptions, url: URL, keys });
  await insertEvents(db, customers, events);
  await db.run('vacuum analyze events, webhooks, webhook_queues');
  const startedAt = performance.now();
  await fanOutAll(db);
  return ((performance.now() - startedAt) * 1_000) / (events * subscriptions);
}
