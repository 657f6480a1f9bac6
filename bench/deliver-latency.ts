/** Request latency during fan-out to a thousand subscriptions, compared with an idle service. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { setSwitch } from '../src/domain/rules/switches.ts';
import { KeyRing } from '../src/kernel/secrets.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { insertCustomers, insertEvents } from './deliver-fixture.ts';
import type { Figure } from './figure.ts';
import { startPeer } from './load.ts';
import { createRestFixture, requestSpecs } from './rest.ts';

const SUBSCRIPTIONS = 1_000;
/** One event this often keeps fan-out busy for about a third of the time. */
const EVENT_EVERY_MS = 100;
const ROUNDS = 8;
const REQUESTS = 150;

export async function benchFanOutLatency(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'latency') });
  const { connection } = database;
  const dataDir = join(folder, 'latency-data');
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' });
  const opened = await openService(config, connection, { mayMigrate: true });
  // Disable sending: the bench measures only the effect of queuing.
  await setSwitch(opened.service, 'webhooks', false);
  await opened.close();
  const db = openDatabase(connection, { poolSize: 2 });
  const fixture = await createRestFixture(db);
  const keys = new KeyRing(KeyRing.generate());
  const options = { customers: 1, each: SUBSCRIPTIONS, url: 'https://127.0.0.1:1/', keys };
  const customers = await insertCustomers(db, options);
  const server = await startPeer('./deliver-server.ts', [JSON.stringify(connection), dataDir]);
  try {
    const { get } = requestSpecs(fixture);
    return toFigures(await measure(db, customers, () => timeRequest(server.url + get.path, get.headers)));
  } finally {
    await server.stop();
    await db.close();
    await database.stop();
  }
}

interface Times {
  readonly quiet: number[];
  readonly busy: number[];
}

async function measure(
  db: OpenDatabase,
  customers: string[],
  request: () => Promise<number>,
): Promise<Times> {
  const times: Times = { quiet: [], busy: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    const quiet = await timeRequests(request);
    const writing = setInterval(() => void insertEvents(db, customers, 1), EVENT_EVERY_MS);
    const busy = await timeRequests(request);
    clearInterval(writing);
    while (await db.row('select from events where seq is null limit 1')) await pause(10);
    // The first round is a warm-up.
    if (round === 0) continue;
    times.quiet.push(...quiet);
    times.busy.push(...busy);
  }
  return times;
}

async function timeRequests(request: () => Promise<number>): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < REQUESTS; n++) {
    times.push(await request());
    await pause(2);
  }
  return times;
}

async function timeRequest(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url, { headers });
  await response.text();
  if (response.status !== 200) throw new Error(String(response.status));
  return performance.now() - startedAt;
}

function toFigures({ quiet, busy }: Times): Figure[] {
  const quantile = (times: readonly number[], fraction: number) =>
    [...times].sort((a, b) => a - b)[Math.floor(times.length * fraction)] ?? Number.NaN;
  if (process.env.BENCH_VERBOSE) {
    const [idle, fanOut] = [quiet, busy].map((times) =>
      [0.5, 0.95].map((fraction) => quantile(times, fraction).toFixed(2)).join(' and '),
    );
    process.stderr.write(`median and 95th percentile: idle ${idle} ms, during fan-out ${fanOut} ms\n`);
  }
  return [
    {
      name: `GET during fan-out to ${SUBSCRIPTIONS} ÷ GET while idle, median`,
      value: quantile(busy, 0.5) / quantile(quiet, 0.5),
      unit: '×',
      limit: 1.25,
      goal: 1.1,
      bound: 'max',
    },
  ];
}
