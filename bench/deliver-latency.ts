/** How long a request waits while events are fanned out to a thousand subscriptions, against when nothing is. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { setSwitch } from '../src/domain/switches/switch.ts';
import { KeyRing } from '../src/kernel/secrets.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { insertCustomers, insertEvents } from './deliver-fixture.ts';
import type { Figure } from './figure.ts';
import { startPeer } from './load.ts';
import { createRestFixture, requestSpecs } from './rest.ts';

const SUBSCRIPTIONS = 1_000;
/** So often an event is written: the fan-out works about a third of the time. */
const EVENT_EVERY_MS = 100;
const ROUNDS = 8;
const REQUESTS = 150;

export async function benchFanOutLatency(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'latency') });
  const { connection } = database;
  const dataDir = join(folder, 'latency-data');
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' });
  const opened = await openService(config, connection, { mayMigrate: true });
  // Nothing is sent: only what is queued is asked about.
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
    // The first round warms.
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
  const at = (times: readonly number[], part: number) =>
    [...times].sort((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN;
  if (process.env.BENCH_VERBOSE) {
    const shown = [quiet, busy].map((times) =>
      [0.5, 0.95].map((part) => at(times, part).toFixed(2)).join(' and '),
    );
    process.stderr.write(`median and 95th: quiet ${shown[0]} ms, fanning out ${shown[1]} ms\n`);
  }
  return [
    {
      name: `GET while fanning out to ${SUBSCRIPTIONS} ÷ in quiet, median`,
      value: at(busy, 0.5) / at(quiet, 0.5),
      unit: '×',
      heldTo: 1.25,
      goal: 1.1,
      bound: 'max',
    },
  ];
}
