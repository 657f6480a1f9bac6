/**
 * The hot path compared with that before version 1.7 of the API: `node bench/previous.ts`, or of another
 * commit: `node bench/previous.ts 135f062d`. Both services run from their own code, each on its own database,
 * and answer the same requests in turns. The cost of a request is the CPU time of the service and of its
 * database. Needs the history of Git.
 */
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { formatId } from '../src/kernel/ids.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { type EmbeddedDatabase, startEmbedded } from '../src/store/embedded/index.ts';
import { median } from './figure.ts';
import { cpuPerRequest, databaseCpuMicros, type Peer, type RequestSpec, startPeer } from './load.ts';
import { addKey, makeRoom, orderRequest, SPREAD_SERVERS } from './order-fixture.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The last commit before version 1.7. */
const PREVIOUS = process.argv[2] ?? '29ed867abab095adb848862e52e82ca12e6ef021';
const ROUNDS = 9;
const CALLERS = 8;
const ADDRESSES = 60_000;
const MOST_EXPENSIVE = 1.03;

const REQUESTS = {
  'GET a server': 3_000,
  'GET 25 servers': 1_500,
  'POST /servers': 600,
  'POST with a key': 600,
} as const;
type RequestName = keyof typeof REQUESTS;

interface Side {
  readonly peer: Peer;
  readonly db: OpenDatabase;
  readonly specs: Record<RequestName, RequestSpec>;
  stop(): Promise<void>;
}

type Fixture = { readonly token: string; readonly customerId: string; readonly serverId: string };

/** Starts the service of a checkout, on rows that its own code wrote. */
async function openSide(root: string, folder: string): Promise<Side> {
  const load = async (path: string) => await import(pathToFileURL(join(root, path)).href);
  const database: EmbeddedDatabase = await startEmbedded({ dataDir: join(folder, 'database') });
  const dataDir = join(folder, 'data');
  const { openService } = await load('src/compose/service.ts');
  const { loadConfig } = await load('src/config.ts');
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' });
  await (await openService(config, database.connection, { mayMigrate: true })).close();
  const db = openDatabase(database.connection, { poolSize: 2 });
  const { createRestFixture, requestSpecs } = await load('bench/rest.ts');
  const fixture: Fixture = await createRestFixture(db);
  await makeRoom(db, ADDRESSES);
  await db.run('vacuum analyze');
  const peer = await startPeer('./previous-server.ts', [root, JSON.stringify(database.connection), dataDir]);
  const { get, list } = requestSpecs(fixture);
  const [image] = await db.rows<{ id: string }>('select id from images');
  const deploy = orderRequest(get, formatId('image', image?.id ?? ''), await addKey(peer, get.headers));
  const stop = async () => {
    await peer.stop();
    await db.close();
    await database.stop();
  };
  const specs = {
    ...{ 'GET a server': get, 'GET 25 servers': list },
    ...{ 'POST /servers': deploy, 'POST with a key': { ...deploy, newKeys: true } },
  } as const;
  return { peer, db, specs, stop };
}

/** Returns the CPU microseconds per request of the service and of its database. */
async function cost({ peer, db, specs }: Side, name: RequestName): Promise<number> {
  const before = await databaseCpuMicros(db);
  const own = await cpuPerRequest(peer, specs[name], REQUESTS[name], CALLERS);
  // The warm-up also used the database.
  const count = REQUESTS[name] + CALLERS * 20;
  return own + ((await databaseCpuMicros(db)) - before) / count;
}

async function compare(previous: Side, current: Side, name: RequestName): Promise<boolean> {
  const costs: [number, number][] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const order = round % 2 === 0 ? [previous, current] : [current, previous];
    const found = new Map<Side, number>();
    for (const side of order) {
      await side.db.run(SPREAD_SERVERS);
      // As autovacuum does: without it, plans made for 25 servers read thousands of rows.
      await side.db.run('vacuum analyze');
      found.set(side, await cost(side, name));
    }
    // The first round is a warm-up.
    if (round > 0) costs.push([found.get(previous) ?? Number.NaN, found.get(current) ?? Number.NaN]);
  }
  const value = median(costs.map(([before, now]) => now / before));
  const [before, now] = [0, 1].map((n) => median(costs.map((pair) => pair[n] ?? Number.NaN)));
  const verdict = value <= MOST_EXPENSIVE ? 'within limit' : 'MISSED';
  process.stdout.write(
    `${name.padEnd(16)} ${before?.toFixed(0)} µs before, ${now?.toFixed(0)} µs now: ` +
      `${value.toFixed(3)} × (≤ ${MOST_EXPENSIVE}) ${verdict}\n`,
  );
  return value <= MOST_EXPENSIVE;
}

const folder = await mkdtemp(join(tmpdir(), 'skerry-previous-'));
// When root runs the benches, the database runs as another user, who must be able to enter this folder.
await chmod(folder, 0o755);
const sides: Side[] = [];
try {
  const root = join(folder, 'checkout');
  execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', ROOT, root], { stdio: 'inherit' });
  execFileSync('git', ['checkout', '--quiet', PREVIOUS], { cwd: root, stdio: 'inherit' });
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const previous = await openSide(root, join(folder, 'previous'));
  sides.push(previous);
  const current = await openSide(ROOT, join(folder, 'current'));
  sides.push(current);
  for (const name of Object.keys(REQUESTS) as RequestName[])
    if (!(await compare(previous, current, name))) process.exitCode = 1;
} finally {
  for (const side of sides) await side.stop();
  await rm(folder, { recursive: true, force: true });
}
