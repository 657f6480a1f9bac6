/**
 * REST reads at three times the rate that the service can answer: the share of that rate it still answers,
 * and how long an admitted request takes. The service has a core of its own in both runs; the clients and the
 * database have the others. So the figure is what refusals cost the service, not what clients cost the
 * machine. Two refusals come with each response. Each costs at least the system calls of a small response, so
 * the cheapest read has the lowest figure. A cheap and a usual one are measured.
 */
import { join } from 'node:path';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { OVERLOAD } from '../src/spec/overload.ts';
import { openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { type Cores, leaveFirstCore } from './cores.ts';
import { CannotMeasure, type Figure, median } from './figure.ts';
import { cpuMicros, type Peer, type RequestSpec, startPeer } from './load.ts';
import {
  CONNECTIONS,
  closedLoop,
  isGeneratorInTime,
  LoadClient,
  type LoadResult,
  openLoop,
} from './open-loop.ts';
import { callFirstClass, firstClassFigures } from './overload-first.ts';
import { createRestFixture, requestSpecs } from './rest.ts';

/** As many as are always admitted, so that none is refused. */
const CALLERS = OVERLOAD.admittedMin;
const WARM_UP_S = 2;
const MEASURE_S = 2;
const TIMES = 3;
/** Peak and overload alternate, so that other work on the machine meets both. */
const ROUNDS = 5;

export async function benchOverload(folder: string): Promise<Figure[]> {
  const cores = leaveFirstCore();
  try {
    return await measure(folder, cores);
  } finally {
    cores.restore();
  }
}

async function measure(folder: string, cores: Cores): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'overload') });
  const dataDir = join(folder, 'overload-data');
  const { connection } = database;
  // Creates the service row and the key file, as a first start does.
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' });
  await (await openService(config, connection, { mayMigrate: true })).close();
  const db = openDatabase(connection, { poolSize: 4 });
  try {
    const { get, list } = requestSpecs(await createRestFixture(db));
    const peer = await startPeer('./rest-server.ts', [JSON.stringify(connection), 'false', dataDir]);
    try {
      cores.isolate(peer.pid);
      const one = await overload(peer, get);
      const many = await overload(peer, list);
      return [
        ...goodputFigures('GET a server', one),
        ...goodputFigures('GET 25 servers', many),
        {
          name: `99th percentile at ${TIMES} times the capacity`,
          value: Math.max(...[one, many].map(({ p99sMs }) => median(p99sMs))),
          ...{ unit: 'ms', limit: 500, goal: 500, bound: 'max' },
        },
        ...firstClassFigures(await callDuringOverload(peer.url, get, one.peakPerS)),
      ];
    } finally {
      await peer.stop();
    }
  } finally {
    await db.close();
    await database.stop();
  }
}

interface Overload {
  readonly ratios: number[];
  /** Of the service's CPU time for each response, refusals included. */
  readonly cpuRatios: number[];
  readonly p99sMs: number[];
  peakPerS: number;
}

async function overload({ url, pid }: Peer, spec: RequestSpec): Promise<Overload> {
  const [callers, clients] = [new LoadClient(url, spec), new LoadClient(url, spec)];
  const found: Overload = { ratios: [], cpuRatios: [], p99sMs: [], peakPerS: 0 };
  try {
    await callers.open(CALLERS);
    await clients.open(CONNECTIONS);
    const warm = await closedLoop(callers, { callers: CALLERS, seconds: WARM_UP_S });
    await openLoop(clients, { perS: warm.servedPerS * TIMES, seconds: WARM_UP_S });
    for (let round = 0; round < ROUNDS; round++) {
      const peak = await withCpu(pid, () => closedLoop(callers, { callers: CALLERS, seconds: MEASURE_S }));
      const perS = peak.servedPerS * TIMES;
      const over = await withCpu(pid, () => openLoop(clients, { perS, seconds: MEASURE_S }));
      report({ peak, over });
      if (!isGeneratorInTime(over)) continue;
      found.ratios.push(over.servedPerS / peak.servedPerS);
      found.cpuRatios.push(peak.cpuPerServed / over.cpuPerServed);
      found.p99sMs.push(over.p99Ms);
      found.peakPerS = peak.servedPerS;
    }
  } finally {
    callers.close();
    clients.close();
  }
  if (found.ratios.length <= ROUNDS / 2)
    throw new CannotMeasure('the load generator was late in most rounds');
  return found;
}

async function withCpu(pid: number, load: () => Promise<LoadResult>) {
  const before = cpuMicros(pid);
  const result = await load();
  return { ...result, cpuPerServed: (cpuMicros(pid) - before) / result.served };
}

/**
 * The first figure is too good if something else than the service limits the peak, such as a machine that is
 * not idle. The second one compares the service's CPU time per response. It holds for a service that has
 * all its core busy.
 */
function goodputFigures(name: string, { ratios, cpuRatios }: Overload): Figure[] {
  const common = { unit: '×', limit: 0.75, goal: 0.9, bound: 'min' } as const;
  return [
    { name: `${name} at ${TIMES} times the capacity ÷ capacity`, value: median(ratios), ...common },
    { name: `${name} at capacity ÷ at ${TIMES} times, CPU`, value: median(cpuRatios), ...common },
  ];
}

/** Signs in and looks at a payment while reads are refused. */
async function callDuringOverload(url: string, spec: RequestSpec, peakPerS: number) {
  const clients = new LoadClient(url, spec);
  try {
    await clients.open(CONNECTIONS);
    return await callFirstClass(url, async (seconds) => {
      const load = await openLoop(clients, { perS: peakPerS * TIMES, seconds });
      report({ load });
      if (load.refused === 0) throw new CannotMeasure('no read was refused');
    });
  } finally {
    clients.close();
  }
}

function report(results: Record<string, LoadResult>): void {
  if (process.env.BENCH_VERBOSE) process.stderr.write(`${JSON.stringify(results)}\n`);
}
