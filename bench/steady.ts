/**
 * Ten minutes at 70 % of the service's capacity, reads and writes: how long requests take, and whether the
 * service's memory stays flat. Prints the histogram of the latencies. The service has a core of its own.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHistogram } from 'node:perf_hooks';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { formatId } from '../src/kernel/ids.ts';
import { OVERLOAD } from '../src/spec/overload.ts';
import { openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { leaveFirstCore } from './cores.ts';
import { CannotMeasure, type Figure, median } from './figure.ts';
import { type Peer, type RequestSpec, startPeer } from './load.ts';
import { closedLoop, isGeneratorInTime, LoadClient, type LoadResult, openLoop } from './open-loop.ts';
import { createRestFixture, requestSpecs } from './rest.ts';

const LOAD = 0.7;
const SECONDS = 600;
/** Memory is read at the end of each. */
const SLICE_S = 10;
/** The first slices fill caches and let the engine compile: their memory does not count. */
const WARM_UP_SLICES = 12;
/** The memory of so many slices at the start is compared with as many at the end. */
const COMPARED_SLICES = 12;
const CALIBRATE_S = 5;
/** The share of slices in which the generator may be late: then the latencies are its own. */
const LATE_SLICES_MAX = 0.05;
const CONNECTIONS = 200;
/** The share of each request in the load. */
const SHARES = { get: 0.7, list: 0.2, patch: 0.1 } as const;
type Name = keyof typeof SHARES;
/** Milliseconds: the rows of the histogram. */
const STEPS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, Number.POSITIVE_INFINITY];
const BAR_WIDTH = 50;

export async function benchSteady(folder: string): Promise<Figure[]> {
  const cores = leaveFirstCore();
  const database = await startEmbedded({ dataDir: join(folder, 'steady') });
  const dataDir = join(folder, 'steady-data');
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' });
  // Creates the service row and the key file, as a first start does.
  await (await openService(config, database.connection, { mayMigrate: true })).close();
  const db = openDatabase(database.connection, { poolSize: 4 });
  try {
    const fixture = await createRestFixture(db);
    const { get, list } = requestSpecs(fixture);
    const patch: RequestSpec = {
      method: 'PATCH',
      path: `/v1/servers/${formatId('server', fixture.serverId)}`,
      headers: { ...get.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'bench' }),
      status: 200,
    };
    const peer = await startPeer('./rest-server.ts', [JSON.stringify(database.connection), 'false', dataDir]);
    try {
      cores.isolate(peer.pid);
      return await measure(peer, { get, list, patch });
    } finally {
      await peer.stop();
    }
  } finally {
    cores.restore();
    await db.close();
    await database.stop();
  }
}

async function measure(peer: Peer, specs: Record<Name, RequestSpec>): Promise<Figure[]> {
  const rates = await findRates(peer.url, specs);
  const latencies = new Latencies();
  const record = (ms: number) => latencies.record(ms);
  const clients = new Map<Name, LoadClient>();
  for (const name of namesOf(specs)) clients.set(name, new LoadClient(peer.url, specs[name], record));
  const memory: number[] = [];
  let lateSlices = 0;
  const total = { sent: 0, served: 0, refused: 0, failed: 0 };
  try {
    for (const client of clients.values()) await client.open(CONNECTIONS / clients.size);
    latencies.reset();
    for (let slice = 0; slice < SECONDS / SLICE_S; slice++) {
      const loads = [...clients].map(([name, client]) =>
        openLoop(client, { perS: rates[name], seconds: SLICE_S }),
      );
      const results = await Promise.all(loads);
      if (!results.every(isGeneratorInTime)) lateSlices++;
      for (const result of results) addTo(total, result);
      memory.push(residentMb(peer.pid));
    }
  } finally {
    for (const client of clients.values()) client.close();
  }
  if (lateSlices > LATE_SLICES_MAX * memory.length)
    throw new CannotMeasure(`the load generator was late in ${lateSlices} of ${memory.length} slices`);
  process.stderr.write(`${[`${total.sent} requests`, ...latencies.lines()].join('\n')}\n`);
  const warm = memory.slice(WARM_UP_SLICES, WARM_UP_SLICES + COMPARED_SLICES);
  const growth = median(memory.slice(-COMPARED_SLICES)) / median(warm);
  const unanswered = (total.refused + total.failed) / total.sent;
  const at = `at ${LOAD * 100} % load`;
  const max = { bound: 'max' } as const;
  return [
    {
      name: `${at}, median latency`,
      value: latencies.percentile(50),
      unit: 'ms',
      limit: 20,
      goal: 5,
      ...max,
    },
    {
      name: `${at}, 99th percentile`,
      value: latencies.percentile(99),
      unit: 'ms',
      limit: 200,
      goal: 50,
      ...max,
    },
    { name: `${at}, requests without an answer`, value: unanswered, unit: '', limit: 0, goal: 0, ...max },
    { name: `${at}, memory at the end ÷ start`, value: growth, unit: '×', limit: 1.1, goal: 1.05, ...max },
  ];
}

/** The rate of each request, so that together they use `LOAD` of the service's time. */
async function findRates(url: string, specs: Record<Name, RequestSpec>): Promise<Record<Name, number>> {
  let secondsPerRequest = 0;
  for (const name of namesOf(specs)) {
    const client = new LoadClient(url, specs[name]);
    try {
      await client.open(OVERLOAD.admittedMin);
      // The first run is a warm-up.
      await closedLoop(client, { callers: OVERLOAD.admittedMin, seconds: CALIBRATE_S });
      const peak = await closedLoop(client, { callers: OVERLOAD.admittedMin, seconds: CALIBRATE_S });
      secondsPerRequest += SHARES[name] / peak.servedPerS;
    } finally {
      client.close();
    }
  }
  const perS = LOAD / secondsPerRequest;
  return { get: perS * SHARES.get, list: perS * SHARES.list, patch: perS * SHARES.patch };
}

function namesOf(specs: Record<Name, RequestSpec>): Name[] {
  return Object.keys(specs) as Name[];
}

function addTo(total: Record<'sent' | 'served' | 'refused' | 'failed', number>, result: LoadResult): void {
  for (const key of ['sent', 'served', 'refused', 'failed'] as const) total[key] += result[key];
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024;
}

/** Counts latencies by step, and knows their percentiles. */
class Latencies {
  readonly #histogram = createHistogram();
  readonly #counts = STEPS_MS.map(() => 0);
  #count = 0;

  record(ms: number): void {
    this.#histogram.record(Math.max(1, Math.round(ms * 1_000)));
    const step = STEPS_MS.findIndex((upTo) => ms <= upTo);
    this.#counts[step] = (this.#counts[step] ?? 0) + 1;
    this.#count++;
  }

  reset(): void {
    this.#histogram.reset();
    this.#counts.fill(0);
    this.#count = 0;
  }

  /** In milliseconds. */
  percentile(percent: number): number {
    return this.#histogram.percentile(percent) / 1_000;
  }

  /** One line for each step: the share of requests that took so long. */
  lines(): string[] {
    return this.#counts.map((count, step) => {
      const upTo = STEPS_MS[step] ?? Number.POSITIVE_INFINITY;
      const label = upTo === Number.POSITIVE_INFINITY ? 'longer' : `up to ${upTo} ms`;
      const share = count / this.#count;
      const bar = '█'.repeat(Math.round(share * BAR_WIDTH));
      return `${label.padStart(13)} ${(share * 100).toFixed(3).padStart(8)} % ${bar}`;
    });
  }
}
