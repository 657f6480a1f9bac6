/**
 * A REST read at three times the rate that the service can answer: the share of that rate it still answers,
 * and how long an admitted request takes. The clients share the machine with the service. With few cores,
 * their work and the refusals take a part of the capacity.
 */
import { join } from 'node:path';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { OVERLOAD } from '../src/spec/overload.ts';
import { openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import type { Figure } from './figure.ts';
import { startPeer } from './load.ts';
import { closedLoop, openLoop } from './open-loop.ts';
import { createRestFixture, requestSpecs } from './rest.ts';

/** As many as are always admitted, so that none is refused. */
const CALLERS = OVERLOAD.admittedMin;
const WARM_UP_S = 2;
const MEASURE_S = 5;
const TIMES = 3;

export async function benchOverload(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'overload') });
  const dataDir = join(folder, 'overload-data');
  const { connection } = database;
  // Creates the service row and the key file, as a first start does.
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' });
  await (await openService(config, connection, { mayMigrate: true })).close();
  const db = openDatabase(connection, { poolSize: 4 });
  try {
    const { get } = requestSpecs(await createRestFixture(db));
    const peer = await startPeer('./rest-server.ts', [JSON.stringify(connection), 'false', dataDir]);
    try {
      await closedLoop(peer.url, get, { callers: CALLERS, seconds: WARM_UP_S });
      const peak = await closedLoop(peer.url, get, { callers: CALLERS, seconds: MEASURE_S });
      const perS = peak.servedPerS * TIMES;
      const over = await openLoop(peer.url, get, { perS, seconds: MEASURE_S });
      if (process.env.BENCH_VERBOSE) process.stderr.write(`${JSON.stringify({ peak, over })}\n`);
      return [
        {
          name: `served at ${TIMES} times the capacity ÷ capacity`,
          ...{ value: over.servedPerS / peak.servedPerS, unit: '×', limit: 0.75, goal: 0.9, bound: 'min' },
        },
        {
          name: `99th percentile at ${TIMES} times the capacity`,
          ...{ value: over.p99Ms, unit: 'ms', limit: 1_000, goal: 500, bound: 'max' },
        },
      ];
    } finally {
      await peer.stop();
    }
  } finally {
    await db.close();
    await database.stop();
  }
}
