/**
 * The overhead of the CLI: `skerry server list` as a process, compared with `curl` of the same call,
 * alternating.
 */
import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { type Figure, median } from './figure.ts';
import { type Peer, startPeer } from './load.ts';
import { createRestFixture } from './rest.ts';

const CLI = fileURLToPath(new URL('../packages/cli/bin/skerry.js', import.meta.url));
const ROUNDS = 25;
/** Warm-up rounds fill caches, including the compile cache. */
const WARMUP_ROUNDS = 5;

export async function benchCli(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'cli') });
  const dataDir = join(folder, 'cli-data');
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' });
  const opened = await openService(config, database.connection, { mayMigrate: true });
  await opened.close();
  const db = openDatabase(database.connection, { poolSize: 4 });
  let peer: Peer | undefined;
  try {
    const { token } = await createRestFixture(db);
    peer = await startPeer('./rest-server.ts', [JSON.stringify(database.connection), 'false', dataDir]);
    const home = join(folder, 'cli-home');
    await mkdir(home);
    const { skerry, curl } = await measureInterleaved(peer.url, token, home);
    process.stderr.write(
      `skerry server list ${skerry.toFixed(0)} ms, curl of the same call ${curl.toFixed(0)} ms\n`,
    );
    return [
      {
        name: 'skerry server list − curl of the same call',
        value: skerry - curl,
        unit: 'ms',
        limit: 300,
        goal: 200,
        bound: 'max',
      },
    ];
  } finally {
    await peer?.stop();
    await db.close();
    await database.stop();
  }
}

/** Returns the median run times of the whole processes. */
async function measureInterleaved(
  url: string,
  token: string,
  home: string,
): Promise<Record<'skerry' | 'curl', number>> {
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: home, SKERRY_API_URL: url, SKERRY_TOKEN: token };
  const header = `authorization: Bearer ${token}`;
  const ours = [process.execPath, CLI, 'server', 'list'];
  // The CLI requests this page size.
  const theirs = ['curl', '--silent', '--fail', '--header', header, `${url}/v1/servers?page_size=100`];
  const times = { skerry: [] as number[], curl: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    const [skerry, curl] = [await timeProcess(ours, env), await timeProcess(theirs, env)];
    if (round < WARMUP_ROUNDS) continue;
    times.skerry.push(skerry);
    times.curl.push(curl);
  }
  return { skerry: median(times.skerry), curl: median(times.curl) };
}

async function timeProcess(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject);
  child.once('close', resolve);
  const code = await promise;
  if (code !== 0) throw new Error(`${program} exited with code ${code}`);
  return performance.now() - startedAt;
}
