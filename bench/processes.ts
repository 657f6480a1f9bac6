/**
 * Two processes on one port compared with one, for the same requests, alternating: how many more requests
 * they answer, and their CPU time for each. The database and the clients run on the same cores, so with few
 * cores two processes cannot answer twice as many. Then all cores must be busy.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { freePort } from '../test/support/free-port.ts';
import { type Figure, median } from './figure.ts';
import { cpuMicros, type Peer, type RequestSpec, sendMany, startPeer } from './load.ts';
import { createRestFixture, requestSpecs } from './rest.ts';

/** Until the code of all three processes is compiled. */
const WARMUP_ROUNDS = 3;
const ROUNDS = 5;
const PER_ROUND = 8_000;
/** Enough connections that the kernel gives each process its share. */
const CALLERS = 64;
const TIMES_FASTER = 1.7;
/** The kernel and other programs have the rest. */
const BUSY_SHARE = 0.95;

interface Round {
  readonly perS: number;
  readonly cpuMicros: number;
  readonly busy: number;
}

export async function benchProcesses(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'processes') });
  const dataDir = join(folder, 'processes-data');
  const { connection } = database;
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' });
  await (await openService(config, connection, { mayMigrate: true })).close();
  const db = openDatabase(connection, { poolSize: 4 });
  const peers: Peer[] = [];
  try {
    const { get } = requestSpecs(await createRestFixture(db));
    const start = async (port: number) => {
      peers.push(
        await startPeer('./rest-server.ts', [JSON.stringify(connection), 'true', dataDir, String(port)]),
      );
    };
    const [alonePort, sharedPort] = [await freePort(), await freePort()];
    for (const port of [alonePort, sharedPort, sharedPort]) await start(port);
    const [one, ...two] = peers;
    if (one === undefined) throw new Error('no process has started');
    return await compare([one], two, get);
  } finally {
    for (const peer of peers) await peer.stop();
    await db.close();
    await database.stop();
  }
}

async function compare(one: readonly Peer[], two: readonly Peer[], spec: RequestSpec): Promise<Figure[]> {
  const rounds: (readonly [one: Round, two: Round])[] = [];
  for (let round = 0; round < WARMUP_ROUNDS + ROUNDS; round++) {
    const pair = [await measure(one, spec), await measure(two, spec)] as const;
    if (process.env.BENCH_VERBOSE) process.stderr.write(`${JSON.stringify(pair)}\n`);
    if (round >= WARMUP_ROUNDS) rounds.push(pair);
  }
  const faster = median(rounds.map(([a, b]) => b.perS / a.perS));
  const busy = median(rounds.map(([, b]) => b.busy));
  const cpu = median(rounds.map(([a, b]) => b.cpuMicros / a.cpuMicros));
  const shared = { unit: '×', goal: 1 } as const;
  return [
    {
      name: `two processes: ${TIMES_FASTER} × the requests, or ${BUSY_SHARE} of all cores busy`,
      value: Math.max(faster / TIMES_FASTER, busy / BUSY_SHARE),
      ...{ ...shared, limit: 1, bound: 'min' },
    },
    { name: 'CPU per request, two processes ÷ one', value: cpu, ...shared, limit: 1.15, bound: 'max' },
  ];
}

async function measure(peers: readonly Peer[], spec: RequestSpec): Promise<Round> {
  const [peer] = peers;
  if (peer === undefined) throw new Error('no process');
  const used = () => peers.reduce((sum, { pid }) => sum + cpuMicros(pid), 0);
  const [cpuBefore, coresBefore, startedMs] = [used(), readCores(), performance.now()];
  await sendMany(peer, spec, PER_ROUND, CALLERS);
  const [seconds, cores] = [(performance.now() - startedMs) / 1_000, readCores()];
  return {
    perS: PER_ROUND / seconds,
    cpuMicros: (used() - cpuBefore) / PER_ROUND,
    busy: (cores.busy - coresBefore.busy) / (cores.all - coresBefore.all),
  };
}

/** Ticks of all cores since the start of the machine. */
function readCores(): { readonly all: number; readonly busy: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const ticks = line.split(/\s+/).slice(1, 9).map(Number);
  const all = ticks.reduce((sum, each) => sum + each, 0);
  const [, , , idle = 0, waiting = 0] = ticks;
  return { all, busy: all - idle - waiting };
}
