/** The panel's event streams: from a commit to a thousand of them in one process, and their idle cost. */
import { setTimeout as pause } from 'node:timers/promises';
import type { OpenDatabase } from '../src/store/db.ts';
import { notifyWorkers } from '../src/store/service/service.ts';
import { insertEvents } from './deliver-fixture.ts';
import { type Figure, percentile } from './figure.ts';
import { startLive } from './live-fixture.ts';
import { cpuMicros, type Peer } from './load.ts';

const STREAMS = 1_000;
const ROUNDS = 10;
const IDLE_MS = 30_000;
const ROUND_MAX_MS = 10_000;

export async function benchLive(folder: string): Promise<Figure[]> {
  const live = await startLive(folder, STREAMS);
  const arrivals = new Arrivals();
  try {
    const streams = await live.open(live.cookies);
    for (const stream of streams) stream.on('data', (text: Buffer) => arrivals.read(text.toString()));
    const latencies = await measureLatency(live.db, live.customers, arrivals);
    return toFigures(latencies, await measureIdleShare(live.peer));
  } finally {
    await live.stop();
  }
}

/** When the messages of a round arrived. */
class Arrivals {
  times: number[] = [];

  read(text: string): void {
    for (const _ of text.matchAll(/^event: change$/gm)) this.times.push(performance.now());
  }
}

async function measureLatency(
  db: OpenDatabase,
  customers: readonly string[],
  arrivals: Arrivals,
): Promise<number[]> {
  const latencies: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    arrivals.times = [];
    await insertEvents(db, customers, 1);
    const committedAt = performance.now();
    // As every commit of the service does.
    await notifyWorkers(db);
    while (arrivals.times.length < STREAMS) {
      if (performance.now() - committedAt > ROUND_MAX_MS)
        throw new Error(`${arrivals.times.length} of ${STREAMS} messages arrived`);
      await pause(5);
    }
    // The first round is a warm-up.
    if (round > 0) latencies.push(...arrivals.times.map((at) => at - committedAt));
  }
  return latencies;
}

/** Returns the share of a core, in percent. */
export async function measureIdleShare({ pid }: Peer): Promise<number> {
  const [before, startedAt] = [cpuMicros(pid), performance.now()];
  await pause(IDLE_MS);
  return (cpuMicros(pid) - before) / 10 / (performance.now() - startedAt);
}

function toFigures(latencies: readonly number[], idleShare: number): Figure[] {
  return [
    {
      name: `event from its commit to ${STREAMS} open pages, 95th percentile`,
      value: percentile(latencies, 0.95),
      unit: 'ms',
      limit: 1_000,
      goal: 500,
      bound: 'max',
    },
    {
      name: `CPU of the process while ${STREAMS} open pages are idle`,
      value: idleShare,
      unit: '%',
      limit: 5,
      goal: 3,
      bound: 'max',
    },
  ];
}
