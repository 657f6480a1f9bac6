/**
 * The cost of a panel page: the server list compared with the same list over REST, and the CPU of a list of
 * 100 rows.
 */
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { insertDeploy } from '../src/store/servers/deploy.ts';
import { SessionClient } from '../test/support/session-client.ts';
import { buildDeployRow, createDeployFixture } from './deploy-fixture.ts';
import { type Figure, median } from './figure.ts';
import { cpuPerRequest, type Peer, type RequestSpec, startPeer } from './load.ts';

const SERVERS = 100;
const FIRST_BYTE_ROUNDS = 400;
const LOAD_REQUESTS = 600;

export async function benchPanel(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'panel') });
  const dataDir = join(folder, 'panel-data');
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' });
  const opened = await openService(config, database.connection, { mayMigrate: true });
  await opened.close();
  const db = openDatabase(database.connection, { poolSize: 4 });
  let peer: Peer | undefined;
  try {
    peer = await startPeer('./rest-server.ts', [JSON.stringify(database.connection), 'false', dataDir]);
    const { page, list, long } = await createPanelFixture(db, peer);
    return [
      {
        name: 'time to first byte: server list in the panel ÷ GET /v1/servers',
        value: await firstByteRatio(peer, page, list),
        unit: '×',
        limit: 2,
        goal: 1.5,
        bound: 'max',
      },
      {
        name: 'CPU of the server list, 100 rows',
        value: (await cpuPerRequest(peer, long, LOAD_REQUESTS)) / 1000,
        unit: 'ms',
        limit: 5,
        goal: 3,
        bound: 'max',
      },
    ];
  } finally {
    await peer?.stop();
    await db.close();
    await database.stop();
  }
}

/** A customer with 100 servers, a session, and a token. */
async function createPanelFixture(
  db: OpenDatabase,
  peer: Peer,
): Promise<Record<'page' | 'list' | 'long', RequestSpec>> {
  const fixture = await createDeployFixture(db, { addresses: SERVERS + 10 });
  const client = SessionClient.forUrl(peer.url);
  await client.signUp();
  const created = await client.post('/account-api.php', {
    action: 'create_token',
    ...{ name: 'bench', scope: 'billing', current_password: 'a long enough password' },
  });
  const customer = await db.row<{ id: string }>('select id from customers where email = $1', [client.email]);
  for (let n = 0; n < SERVERS; n++) await insertDeploy(db, buildDeployRow(fixture, customer?.id ?? '', 0));
  await db.run(`update servers set status = 'running', first_run_at = now()`);
  await db.run('vacuum analyze');
  const headers = { cookie: `PHPSESSID=${client.cookie}` };
  return {
    page: { path: '/servers', headers, status: 200 },
    long: { path: '/servers?size=100', headers, status: 200 },
    list: { path: '/v1/servers', headers: { authorization: `Bearer ${created.body.token}` }, status: 200 },
  };
}

/** Returns the ratio of the medians, with one alternating request at a time. */
async function firstByteRatio(peer: Peer, page: RequestSpec, list: RequestSpec): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times = { page: [] as number[], list: [] as number[] };
  for (let round = 0; round < FIRST_BYTE_ROUNDS; round++) {
    const [pageMs, listMs] = [await firstByteMs(peer, page, agent), await firstByteMs(peer, list, agent)];
    // The first tenth is a warm-up.
    if (round < FIRST_BYTE_ROUNDS / 10) continue;
    times.page.push(pageMs);
    times.list.push(listMs);
  }
  agent.destroy();
  if (process.env.BENCH_VERBOSE) {
    process.stderr.write(`${median(times.page).toFixed(2)} / ${median(times.list).toFixed(2)} ms\n`);
  }
  return median(times.page) / median(times.list);
}

function firstByteMs(peer: Peer, { path, headers = {}, status }: RequestSpec, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const sent = request(new URL(path, peer.url), { headers: { ...headers }, agent }, (response) => {
      if (response.statusCode !== status) reject(new Error(`${path}: ${response.statusCode}`));
      response.once('data', () => resolve(performance.now() - startedAt));
      response.on('error', reject);
    });
    sent.on('error', reject).end();
  });
}
