/**
 * Sends webhooks when its parent asks, and replies with the CPU microseconds per delivery. `bare` is a loop
 * around undici that signs one body; `ours` is the service's path from the queue to the record.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { HttpsSender } from '../src/drivers/webhooks/https.ts';
import { createLogger } from '../src/kernel/logger.ts';
import { KeyRing } from '../src/kernel/secrets.ts';
import { openDatabase } from '../src/store/db.ts';
import { deliverJob } from '../src/workers/deliver.ts';
import { JobRunner } from '../src/workers/job-runner.ts';
import {
  createBenchService,
  fanOutAll,
  insertCustomers,
  insertEvents,
  SAMPLE_SERVER,
} from './deliver-fixture.ts';
import { databaseCpuMicros } from './load.ts';

const CUSTOMERS = 128;
const EVENTS_PER_CUSTOMER = 64;
const CONCURRENCY = 4 * CUSTOMERS;

const [variant, url = '', caFile = '', connection = '{}'] = process.argv.slice(2);
const ca = readFileSync(caFile, 'utf8');
const round = variant === 'bare' ? benchBare() : await benchService();

process.on('message', () => {
  round().then((cost) => process.send?.(cost));
});
process.once('SIGTERM', () => process.exit(0));
process.send?.('ready');

function cpuMicros(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}

function benchBare(): () => Promise<object> {
  const dispatcher = new Agent({ connect: { ca }, allowH2: false });
  const body = JSON.stringify({
    id: 'evt_aaaqk3m7qzb5x2l6v4t7n8wyja',
    object: 'event',
    type: 'server.running',
    created_at: '2026-08-31T12:01:10Z',
    data: { server: SAMPLE_SERVER },
  });
  const postOnce = async () => {
    const t = Math.floor(Date.now() / 1_000);
    const v1 = createHmac('sha256', 'whsec_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')
      .update(`${t}.${body}`)
      .digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-service-delivery-id': randomUUID(),
      'x-service-signature': `t=${t},v1=${v1}`,
    };
    const response = await request(url, { dispatcher, method: 'POST', headers, body });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(String(response.statusCode));
  };
  return async () => {
    let left = CUSTOMERS * EVENTS_PER_CUSTOMER;
    const before = process.cpuUsage();
    const caller = async () => {
      while (left-- > 0) await postOnce();
    };
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: CONCURRENCY }, caller));
    return {
      own: cpuMicros(before) / (CUSTOMERS * EVENTS_PER_CUSTOMER),
      database: 0,
      ms: performance.now() - startedAt,
    };
  };
}

async function benchService(): Promise<() => Promise<object>> {
  const db = openDatabase(JSON.parse(connection), { poolSize: 8 });
  const keys = new KeyRing(KeyRing.generate());
  const customers = await insertCustomers(db, { customers: CUSTOMERS, each: 1, url, keys });
  const sender = new HttpsSender({ timeoutMs: 10_000, allowLoopback: true, ca });
  const job = deliverJob(createBenchService(db, keys), sender);
  const runner = new JobRunner({ jobs: [job], pollMs: 500, log: createLogger('silent') });
  return async () => {
    await insertEvents(db, customers, EVENTS_PER_CUSTOMER);
    await fanOutAll(db);
    await db.run('vacuum analyze events, deliveries, webhook_queues');
    const database = await databaseCpuMicros(db);
    const before = process.cpuUsage();
    const startedAt = performance.now();
    if (!(await runner.runUntilIdle(120_000))) throw new Error('the webhooks do not become idle');
    const ms = performance.now() - startedAt;
    const own = cpuMicros(before) / (CUSTOMERS * EVENTS_PER_CUSTOMER);
    const left = await db.row<{ n: bigint }>(
      `select count(*) as n from deliveries where status <> 'delivered'`,
    );
    if (left?.n !== 0n) throw new Error(`${left?.n} were not delivered`);
    return {
      own,
      database: ((await databaseCpuMicros(db)) - database) / (CUSTOMERS * EVENTS_PER_CUSTOMER),
      ms,
    };
  };
}
