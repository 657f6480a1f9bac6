/**
 * Claiming due work, compared with other queues in the same database with the same batch size; and the cost
 * of fan-out as subscriptions grow. Measures time on one connection, because the database is the subject.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { toAttemptResult } from '../src/domain/webhooks/attempt.ts';
import { recordBatches } from '../src/domain/webhooks/record.ts';
import { KeyRing } from '../src/kernel/secrets.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { migrate } from '../src/store/migrate.ts';
import { claimQueues, readDueDeliveries } from '../src/store/webhooks/queues.ts';
import { fanOutAll, insertCustomers, insertEvents } from './deliver-fixture.ts';
import { type Figure, median } from './figure.ts';
import { openGraphileWorker, openPgBoss, type QueueOptions } from './other-queues.ts';

const ROWS = 50_000;
const ROUNDS = 100;
const URL = 'https://127.0.0.1:1/';

interface ClaimCase {
  readonly name: string;
  /** Due rows of each subscription. A lease covers a subscription, so 1 is the most expensive case. */
  readonly each: number;
  /** Rows that a claim takes. */
  readonly batch: number;
  readonly limit: number;
  readonly goal: number;
}

const CASES: readonly ClaimCase[] = [
  { name: '500 rows of 10 subscriptions', each: 50, batch: 500, limit: 4, goal: 5 },
  { name: '500 rows of 500 subscriptions', each: 1, batch: 500, limit: 2, goal: 3 },
  { name: 'one row', each: 1, batch: 1, limit: 2, goal: 3 },
];

export async function benchClaim(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'claim') });
  const db = openDatabase(database.connection, { poolSize: 2 });
  try {
    await migrate(db);
    const figures: Figure[] = [];
    for (const claim of CASES) figures.push(...(await compareClaims(db, database.connection, claim)));
    figures.push(await fanOutGrowth(db));
    return figures;
  } finally {
    await db.close();
    await database.stop();
  }
}

/**
 * Returns the speed of claiming and reading relative to other queues, batch by batch. Completing work is not
 * measured.
 */
async function compareClaims(
  db: OpenDatabase,
  connection: QueueOptions['connection'],
  { name, each, batch, limit, goal }: ClaimCase,
): Promise<Figure[]> {
  const others = [
    { name: 'pg-boss', queue: await openPgBoss({ connection, rows: ROWS, batch }), times: [] as number[] },
    {
      name: 'graphile-worker',
      queue: await openGraphileWorker({ connection, rows: ROWS, batch }),
      times: [] as number[],
    },
  ];
  await fillQueues(db, ROWS / each, each);
  const ours: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const { queue, times } of others) times.push(await queue.claim());
    ours.push(await timeClaim(db, each, batch));
  }
  for (const { queue } of others) await queue.close();
  return others.map((other) => {
    if (process.env.BENCH_VERBOSE) {
      const [theirs, own] = [median(other.times).toFixed(2), median(ours).toFixed(2)];
      process.stderr.write(`${name}: ${other.name} ${theirs} ms, ours ${own} ms\n`);
    }
    const value = median(other.times) / median(ours);
    return { name: `claiming ${name} ÷ ${other.name}`, value, unit: '×', limit, goal, bound: 'min' };
  });
}

async function timeClaim(db: OpenDatabase, each: number, batch: number): Promise<number> {
  const now = new Date();
  const leaseId = randomUUID();
  const startedAt = performance.now();
  const queues = await claimQueues(db, { leaseId, leaseS: 60, now, quickMax: batch / each, slowMax: 0 });
  const requests = queues.map(({ webhook_id }) => ({ webhook_id, limit: each }));
  const read = await readDueDeliveries(db, requests, now);
  const elapsedMs = performance.now() - startedAt;
  const due = [...read.values()].flat();
  if (due.length !== batch) throw new Error(`the claim returned ${due.length} deliveries`);
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
