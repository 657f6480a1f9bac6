/** The service behind PgBouncer in transaction mode: migrations, main flows, workers, and event streams. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../src/store/db.ts';
import { createScratchDatabase } from '../support/database.ts';
import { NO_PGBOUNCER, type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, runSkerryd, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { topUp } from '../support/world.ts';
import { databaseUrl, type ScratchConnection } from './live-world.ts';
import { RATES, underLoad } from './rolling-load.ts';

/** Fewer than the processes open, so that transactions change sessions all the time. */
const SERVER_CONNECTIONS = 3;
const SERVERS = 6;
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
const WAIT_MS = 60_000;

describe('behind PgBouncer in transaction mode', {
  skip: FULL_ONLY.skip || NO_PGBOUNCER,
  timeout: 180_000,
}, () => {
  let folder = '';
  let scratch: ScratchConnection;
  let pooler: PgBouncer;
  let serving: SkerrydProcess;
  let env: Record<string, string> = {};
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-pooler-'));
    await chmod(folder, 0o755);
    scratch = await createScratchDatabase({ empty: true });
    pooler = await startPgBouncer(scratch.connection, SERVER_CONNECTIONS);
    env = {
      ...RATES,
      DATABASE_URL: pooler.url,
      SKERRY_DB_POOLER: 'true',
      SKERRY_DB_DIRECT_URL: databaseUrl(scratch),
      SKERRY_DATA_DIR: folder,
      SKERRY_LOG_LEVEL: 'warn',
      SKERRY_SIM_BLOCK_S: '0',
      SKERRY_SIM_INSTALL_S: '0',
    };
    const migrated = await runSkerryd(['migrate'], env);
    assert.equal(migrated.code, 0, migrated.stderr);
    serving = await startSkerryd(env, ['--processes', '2']);
  });
  after(async () => {
    await serving?.stop();
    killLeftovers();
    await pooler?.close();
    await scratch?.drop();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });

  const sandbox = async (name: string, body: object = {}) => {
    const headers = { 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${serving.url}/sandbox/${name}`, sent);
    return (await response.json()) as Record<string, unknown>;
  };
  const settle = async () => void (await sandbox('settle'));

  it('sells servers, and streams events without a gap', async () => {
    const session = SessionClient.forUrl(serving.url);
    await session.signUp();
    await topUp({ sandbox, settle }, session, 100);
    const api = V1Client.forUrl(serving.url, await createApiToken(session));
    const load = await underLoad(serving.url, async () => {
      const order = await prepareOrder(api);
      const made = await Promise.all(Array.from({ length: SERVERS }, () => deployWithKey(api, order)));
      for (const id of made) await untilRunning(api, id);
    });
    assert.deepEqual(load.failures, []);
    const listed = await api.get('/servers');
    assert.equal((listed.body.data as unknown[]).length, SERVERS);
    const verified = await runSkerryd(['verify'], env);
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
  });

  async function prepareOrder(api: V1Client): Promise<object> {
    const key = await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY });
    // Some of the first images may be deprecated.
    const image = (await api.get('/images?family=alpine')).body.data[0].id;
    return { name: 'web', plan: 's1', region: 'par', image, ssh_keys: [key.body.id] };
  }

  /** Deploys, and repeats the request. Returns the server's id. */
  async function deployWithKey(api: V1Client, order: object): Promise<string> {
    const key = randomUUID();
    const first = await api.post('/servers', order, { key });
    const again = await api.post('/servers', order, { key });
    assert.equal(first.status, 201, first.text);
    assert.equal(again.text, first.text);
    return first.body.id as string;
  }

  async function untilRunning(api: V1Client, id: string): Promise<void> {
    for (const deadline = Date.now() + WAIT_MS; ; ) {
      const { body } = await api.get(`/servers/${id}`);
      if (body.status === 'running') return;
      assert.ok(Date.now() < deadline, `${id} is ${body.status}`);
      await sleep(50);
    }
  }

  it('is ready, and leaves nothing in the sessions that it shares', async () => {
    assert.equal((await fetch(`${serving.url}/readyz`)).status, 200);
    const db = openDatabase(
      { connectionString: pooler.url, directUrl: databaseUrl(scratch) },
      { poolSize: 1 },
    );
    try {
      const zone = await db.row<{ zone: string }>(`select current_setting('timezone') as zone`);
      assert.equal(zone?.zone, 'UTC');
      const prepared = await db.row<{ n: bigint }>('select count(*) as n from pg_prepared_statements');
      assert.equal(prepared?.n, 0n);
      const direct = await countSessions(`query like 'listen %'`);
      assert.ok(direct >= 2, `${direct} listeners`);
      const locks = await db.row<{ n: bigint }>(
        `select count(*) as n from pg_locks where locktype = 'advisory' and pid in
           (select pid from pg_stat_activity
             where state = 'idle' and query not like 'listen %' and datname = current_database())`,
      );
      assert.equal(locks?.n, 0n);
    } finally {
      await db.close();
    }
  });

  async function countSessions(condition: string): Promise<number> {
    const db = openDatabase(scratch.connection, { poolSize: 1 });
    try {
      const sql = `select count(*)::int as n from pg_stat_activity
        where datname = current_database() and ${condition}`;
      return (await db.row<{ n: number }>(sql))?.n ?? 0;
    } finally {
      await db.close();
    }
  }
});
