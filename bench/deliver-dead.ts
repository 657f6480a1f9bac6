/** How much one receiver that never answers delays the webhooks of all others, in alternating rounds. */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HttpsSender } from '../src/drivers/webhooks/https.ts';
import { createLogger } from '../src/kernel/logger.ts';
import { KeyRing } from '../src/kernel/secrets.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { migrate } from '../src/store/migrate.ts';
import { deliverJob } from '../src/workers/deliver.ts';
import { JobRunner } from '../src/workers/job-runner.ts';
import { writeCertificates } from './deliver.ts';
import { createBenchService, fanOutAll, insertCustomers, insertEvents } from './deliver-fixture.ts';
import { type Figure, median } from './figure.ts';
import { startPeer } from './load.ts';

const ROUNDS = 9;
const CUSTOMERS = 64;
const EVENTS_PER_CUSTOMER = 64;
const TIMEOUT_MS = 10_000;
const POLL_MS = 5;

interface Setting {
  readonly db: OpenDatabase;
  readonly keys: KeyRing;
  readonly ca: string;
  readonly others: readonly string[];
  readonly dead: readonly string[];
}

export async function benchDeadReceiver(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'dead-receiver') });
  const db = openDatabase(database.connection, { poolSize: 8 });
  const files = writeCertificates(folder);
  const receiver = await startPeer('./deliver-receiver.ts', [files.cert, files.key]);
  const silent = await startSilent();
  try {
    await migrate(db);
    const keys = new KeyRing(KeyRing.generate());
    const insert = async (customers: number, url: string) =>
      await insertCustomers(db, { customers, each: 1, url, keys });
    const others = await insert(CUSTOMERS, receiver.url);
    const dead = await insert(1, silent.url);
    const setting = { db, keys, ca: readFileSync(files.ca, 'utf8'), others, dead };
    const ratios: number[] = [];
    // The first round is a warm-up.
    for (let round = 0; round <= ROUNDS; round++) {
      const [alone, together] = [
        await runRound(setting, others),
        await runRound(setting, [...others, ...dead]),
      ];
      if (process.env.BENCH_VERBOSE)
        process.stderr.write(`${alone.toFixed(0)} / ${together.toFixed(0)} ms\n`);
      if (round > 0) ratios.push(together / alone);
    }
    const name = 'deliveries next to a receiver that never answers ÷ without it';
    return [{ name, value: median(ratios), unit: '×', limit: 1.05, goal: 1, bound: 'max' }];
  } finally {
    silent.close();
    await receiver.stop();
    await db.close();
    await database.stop();
  }
}

/** Returns the milliseconds until the others have all events. */
async function runRound({ db, keys, ca, others }: Setting, customers: readonly string[]): Promise<number> {
  await insertEvents(db, customers, EVENTS_PER_CUSTOMER);
  await fanOutAll(db);
  await db.run('vacuum analyze events, deliveries, webhook_queues');
  const sender = new HttpsSender({ timeoutMs: TIMEOUT_MS, allowLoopback: true, ca });
  const log = createLogger('silent');
  const runner = new JobRunner({
    jobs: [deliverJob(createBenchService(db, keys), sender)],
    pollMs: 500,
    log,
  });
  const startedMs = performance.now();
  runner.start();
  while (await hasPending(db, others)) await pause(POLL_MS);
  const ms = performance.now() - startedMs;
  const stopped = runner.stop();
  await sender.close();
  await stopped;
  await db.run('delete from deliveries');
  await db.run('delete from events');
  await db.run('update webhook_queues set due_at = null, slow = false, lease_id = null, leased_until = null');
  return ms;
}

async function hasPending(db: OpenDatabase, customers: readonly string[]): Promise<boolean> {
  const row = await db.row<{ found: boolean }>(
    `select exists (select from deliveries d join webhooks w on w.id = d.webhook_id
       where w.customer_id = any($1::uuid[]) and d.status = 'pending') as found`,
    [customers],
  );
  return row?.found ?? false;
}

/** Accepts connections, and says nothing. */
async function startSilent(): Promise<{ readonly url: string; close(): void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}/`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
