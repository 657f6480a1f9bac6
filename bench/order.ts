/**
 * Orders over REST: what an Idempotency-Key adds to their cost, and how long a new server takes until it runs
 * on a simulator that installs at once.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { credit } from '../src/domain/ledger/transfer.ts';
import { formatId } from '../src/kernel/ids.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { type EmbeddedDatabase, startEmbedded } from '../src/store/embedded/index.ts';
import { databaseUrl } from '../test/process/live-world.ts';
import { SessionClient } from '../test/support/session-client.ts';
import { killLeftovers, startSkerryd } from '../test/support/skerryd-process.ts';
import { createApiToken } from '../test/support/v1-client.ts';
import { type Figure, median } from './figure.ts';
import { cpuPerRequest, databaseCpuMicros, type Peer, type RequestSpec, startPeer } from './load.ts';
import { addKey, makeRoom, orderRequest, SPREAD_SERVERS } from './order-fixture.ts';
import { createRestFixture, requestSpecs } from './rest.ts';

const ROUNDS = 21;
const PER_ROUND = 300;
const CALLERS = 8;
const WARM_UP_ORDERS = 10;
const ORDERS = 35;
const BALANCE_CENTS = 1_000_000n;
const RUNNING_TIMEOUT_MS = 10_000;

export async function benchOrder(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'order') });
  try {
    return [await compareKeys(folder, database), await timeToRunning(join(folder, 'running'))];
  } finally {
    await database.stop();
  }
}

/** Alternates orders with and without a key, and compares the CPU time of the service and its database. */
async function compareKeys(folder: string, { connection }: EmbeddedDatabase): Promise<Figure> {
  const dataDir = join(folder, 'order-data');
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' });
  await (await openService(config, connection, { mayMigrate: true })).close();
  const db = openDatabase(connection, { poolSize: 2 });
  const { get } = requestSpecs(await createRestFixture(db));
  await makeRoom(db, 2 * (ROUNDS + 1) * (PER_ROUND + CALLERS * 20));
  await db.run('vacuum analyze');
  const peer = await startPeer('./rest-server.ts', [JSON.stringify(connection), 'false', dataDir]);
  try {
    const [image] = await db.rows<{ id: string }>('select id from images');
    const key = await addKey(peer, get.headers);
    const without = orderRequest(get, formatId('image', image?.id ?? ''), key);
    const ratios: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const costs: Record<'with' | 'without', number> = { with: 0, without: 0 };
      const order = round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const);
      for (const kind of order) costs[kind] = await cost(peer, db, { ...without, newKeys: kind === 'with' });
      // The first round is a warm-up.
      if (round > 0) ratios.push(costs.with / costs.without);
    }
    const name = 'POST /servers with a key ÷ without, CPU';
    return { name, value: median(ratios), unit: '×', limit: 1.3, goal: 1.2, bound: 'max' };
  } finally {
    await peer.stop();
    await db.close();
  }
}

/** Returns CPU microseconds per order. */
async function cost(peer: Peer, db: OpenDatabase, spec: RequestSpec): Promise<number> {
  const before = await databaseCpuMicros(db);
  const own = await cpuPerRequest(peer, spec, PER_ROUND, CALLERS);
  const used = (await databaseCpuMicros(db)) - before;
  await db.run(SPREAD_SERVERS);
  // The database's time includes that of the warm-up.
  return own + used / (PER_ROUND + CALLERS * 20);
}

async function timeToRunning(folder: string): Promise<Figure> {
  const database = await startEmbedded({ dataDir: folder });
  const db = openDatabase(database.connection, { poolSize: 2 });
  const env = {
    DATABASE_URL: databaseUrl(database),
    SKERRY_DATA_DIR: join(folder, 'data'),
    SKERRY_LOG_LEVEL: 'error',
    SKERRY_SIM_INSTALL_S: '0',
    SKERRY_SIM_BLOCK_S: '0',
    SKERRY_RATE_CAPACITY: '100000',
    SKERRY_RATE_REFILL_PER_S: '100000',
    SKERRY_PROVISION_RATE_CAPACITY: '1000',
    SKERRY_PROVISION_RATE_REFILL_PER_S: '1000',
  };
  try {
    const serving = await startSkerryd(env);
    const session = SessionClient.forUrl(serving.url);
    await session.signUp();
    const headers = { authorization: `Bearer ${await createApiToken(session)}` };
    await giveBalance(db, session.email);
    const key = await addKey(serving, headers);
    const { data } = await getJson<{ data: readonly { id: string }[] }>(serving.url, '/v1/images', headers);
    const request = { name: 'bench', plan: 's1', region: 'par', image: data[0]?.id, ssh_keys: [key] };
    const times: number[] = [];
    for (let n = 0; n < WARM_UP_ORDERS + ORDERS; n++) {
      const startedAt = performance.now();
      await orderUntilRunning(serving.url, headers, request);
      if (n >= WARM_UP_ORDERS) times.push(performance.now() - startedAt);
    }
    await serving.stop();
    const name = 'order to running, no install time, median';
    return { name, value: median(times), unit: 'ms', limit: 200, goal: 100, bound: 'max' };
  } finally {
    killLeftovers();
    await db.close();
    await database.stop();
  }
}

async function giveBalance(db: OpenDatabase, email: string): Promise<void> {
  const row = await db.row<{ id: string }>('select id from customers where email = $1', [email]);
  const gift = { customerId: row?.id ?? '', amountCents: BALANCE_CENTS, fact: `bench:${randomUUID()}` };
  const entry = { ...gift, description: 'bench', account: 'adjustments', type: 'adjustment' } as const;
  await credit(db, entry, new Date());
}

async function orderUntilRunning(url: string, headers: Headers, order: object): Promise<void> {
  const response = await fetch(new URL('/v1/servers', url), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify(order),
  });
  const { id } = (await response.json()) as { id: string };
  if (response.status !== 201) throw new Error(`POST /servers: ${response.status}`);
  const deadline = performance.now() + RUNNING_TIMEOUT_MS;
  while ((await getJson<{ status: string }>(url, `/v1/servers/${id}`, headers)).status !== 'running') {
    if (performance.now() > deadline) throw new Error('the server does not run');
    await sleep(2);
  }
}

type Headers = Readonly<Record<string, string>>;

async function getJson<Body>(url: string, path: string, headers: Headers): Promise<Body> {
  const response = await fetch(new URL(path, url), { headers });
  if (!response.ok) throw new Error(`GET ${path}: ${response.status}`);
  return (await response.json()) as Body;
}
