/**
 * The cost of a REST request: the whole service (token, rate limit, rules, schema, log) compared with Fastify
 * and one prepared SELECT, on the same rows, in turns. A ratio of 1 would mean no overhead.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { base32, formatId, newId } from '../src/kernel/ids.ts';
import { digest } from '../src/kernel/secrets.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { insertDeploy } from '../src/store/servers/deploy.ts';
import { buildDeployRow, createDeployFixture } from './deploy-fixture.ts';
import { type Figure, median } from './figure.ts';
import { cpuPerRequest, type Peer, type RequestSpec, startPeer } from './load.ts';

const ROUNDS = 9;
const WARM_UP_ROUNDS = 4;
const PER_ROUND = 6_000;
const SERVERS = 25;

interface RestFixture {
  readonly token: string;
  readonly customerId: string;
  readonly serverId: string;
}

export async function benchRest(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'rest') });
  const dataDir = join(folder, 'rest-data');
  const connection = database.connection;
  // Creates the service row and the key file, as a first start does.
  const opened = await openService(
    loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' }),
    connection,
    {
      mayMigrate: true,
    },
  );
  await opened.close();
  const db = openDatabase(connection, { poolSize: 4 });
  const peers: Peer[] = [];
  try {
    const fixture = await createRestFixture(db);
    const text = JSON.stringify(connection);
    const bare = await startPeer('./bare-server.ts', [text]);
    peers.push(bare);
    const alone = await startPeer('./rest-server.ts', [text, 'false', dataDir]);
    peers.push(alone);
    const shared = await startPeer('./rest-server.ts', [text, 'true', dataDir]);
    peers.push(shared);
    return await measure({ bare, alone, shared }, fixture);
  } finally {
    for (const peer of peers) await peer.stop();
    await db.close();
    await database.stop();
  }
}

export async function createRestFixture(db: OpenDatabase): Promise<RestFixture> {
  const deployFixture = await createDeployFixture(db, { addresses: 200 });
  const [customerId = ''] = deployFixture.customers;
  let serverId = '';
  for (let n = 0; n < SERVERS; n++) {
    const row = buildDeployRow(deployFixture, customerId, 0);
    serverId = row.id;
    await insertDeploy(db, row);
  }
  await db.run(`update servers set status = 'running', first_run_at = now()`);
  const token = `skerry_live_${base32(randomBytes(32))}`;
  await db.run(
    `insert into api_tokens (id, customer_id, name, scope, digest, created_at)
     values ($1, $2, 'bench', 'billing', $3, now())`,
    [newId(new Date()), customerId, digest(token)],
  );
  await db.run('vacuum analyze');
  return { token, customerId, serverId };
}

/** Returns the requests to measure. */
export function requestSpecs(fixture: RestFixture) {
  const headers = { authorization: `Bearer ${fixture.token}` };
  const get: RequestSpec = {
    path: `/v1/servers/${formatId('server', fixture.serverId)}`,
    headers,
    status: 200,
  };
  const list: RequestSpec = { path: '/v1/servers?page_size=25', headers, status: 200 };
  const bareGet: RequestSpec = { path: `/servers/${fixture.serverId}`, status: 200 };
  const bareList: RequestSpec = { path: `/customers/${fixture.customerId}/servers`, status: 200 };
  const replay: RequestSpec = {
    method: 'POST',
    path: '/v1/firewall/groups',
    headers: { ...headers, 'idempotency-key': 'bench', 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', default_action: 'drop' }),
    status: 201,
  };
  return { get, list, bareGet, bareList, replay };
}

async function measure(
  peers: { bare: Peer; alone: Peer; shared: Peer },
  fixture: RestFixture,
): Promise<Figure[]> {
  const { bare, alone, shared } = peers;
  const { get, list, bareGet, bareList, replay } = requestSpecs(fixture);
  const one = await costsOf([bare, bareGet], [alone, get], [shared, get], [alone, replay]);
  const many = await costsOf([bare, bareList], [alone, list], [shared, list]);
  const figure = (name: string, [costs, ours]: [Costs, number], theirs: number, [limit, goal]: Aim) => ({
    ...{ name, value: ratio(costs, ours, theirs), unit: '×', limit, goal },
    bound: 'min' as const,
  });
  return [
    figure('GET a server ÷ bare', [one, 1], 0, [0.6, 0.8]),
    figure('GET a server, shared buckets ÷ own', [one, 2], 1, [0.9, 1]),
    figure('GET 25 servers ÷ bare', [many, 1], 0, [0.55, 0.8]),
    figure('GET 25 servers, shared buckets ÷ own', [many, 2], 1, [0.9, 1]),
    figure('idempotent replay ÷ bare GET', [one, 3], 0, [0.5, 0.7]),
  ];
}

type Aim = readonly [limit: number, goal: number];
/** The cost of each request in each round. */
type Costs = readonly (readonly number[])[];

/** The requests take turns, so that a slow moment of the machine hits all. The first rounds compile. */
async function costsOf(...requests: readonly [Peer, RequestSpec][]): Promise<Costs> {
  const rounds: number[][] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    const costs: number[] = [];
    for (const request of requests) costs.push(await cpuPerRequest(...request, PER_ROUND));
    if (process.env.BENCH_VERBOSE)
      process.stderr.write(`${costs.map((cost) => cost.toFixed(0)).join(' / ')} µs\n`);
    if (round >= WARM_UP_ROUNDS) rounds.push(costs);
  }
  return rounds;
}

/** Returns the median over all rounds of their cost divided by ours. */
function ratio(rounds: Costs, ours: number, theirs: number): number {
  return median(rounds.map((costs) => (costs[theirs] ?? Number.NaN) / (costs[ours] ?? Number.NaN)));
}
