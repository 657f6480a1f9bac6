/** Lists come from a streaming replica, never too old, and a customer sees what they did. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OpenDatabase, openDatabase } from '../../src/store/db.ts';
import { freePort } from '../support/free-port.ts';
import { NO_PAIR, type ReplicaPair, startReplicaPair } from '../support/replica-pair.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, runSkerryd, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { createApiToken } from '../support/v1-client.ts';
import { RATES } from './rolling-load.ts';

const LAG_MS = 5_000;
const WRITES = 12;
const SKIP = { skip: FULL_ONLY.skip || NO_PAIR, timeout: 180_000 };

describe('with a replica', SKIP, () => {
  let folder = '';
  let pair: ReplicaPair;
  let serving: SkerrydProcess;
  let env: Record<string, string> = {};
  let primary: OpenDatabase;
  let token = '';
  let consoleUrl = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-replica-'));
    await chmod(folder, 0o755);
    pair = await startReplicaPair(['shared_preload_libraries=pg_stat_statements']);
    const consolePort = await freePort();
    consoleUrl = `http://127.0.0.1:${consolePort}`;
    env = {
      SKERRY_ADMIN_PORT: String(consolePort),
      ...RATES,
      DATABASE_URL: pair.primaryUrl,
      SKERRY_DB_REPLICA_URL: pair.replicaUrl,
      SKERRY_DB_REPLICA_LAG_MS: String(LAG_MS),
      SKERRY_DATA_DIR: folder,
      SKERRY_LOG_LEVEL: 'silent',
      SKERRY_SIM_BLOCK_S: '0',
    };
    serving = await startSkerryd(env, ['--processes', '2']);
    primary = openDatabase({ connectionString: pair.primaryUrl }, { poolSize: 1 });
    const session = SessionClient.forUrl(serving.url);
    await session.signUp();
    token = await createApiToken(session);
  });
  after(async () => {
    await primary?.close();
    await serving?.stop();
    killLeftovers();
    await pair?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });

  /** On a connection of its own, which the kernel gives to either process. */
  async function call(method: string, path: string, body?: object, bearer = token, url = serving.url) {
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    const sent = request(new URL(path, url), { method, agent: false, headers });
    const responded = once(sent, 'response');
    sent.end(body && JSON.stringify(body));
    const [response] = await responded;
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    assert.ok([200, 201].includes(response.statusCode), `${method} ${path}: ${response.statusCode} ${text}`);
    return JSON.parse(text);
  }
  const listNames = async (): Promise<string[]> =>
    (await call('GET', '/v1/account/tokens')).data.map(({ name }: { name: string }) => name);
  /** Without a row in the audit log, as no change of a customer is made. */
  const rename = (name: string) => primary.run('update api_tokens set name = $1', [name]);

  it('a customer sees each change at once, through any process', async () => {
    await pair.onReplica('select pg_wal_replay_pause()');
    for (let n = 0; n < WRITES; n++) {
      await call('POST', '/v1/account/tokens', { name: `own-${n}`, scope: 'read' });
      assert.ok((await listNames()).includes(`own-${n}`), `own-${n}`);
      assert.ok((await listNames()).includes(`own-${n}`), `own-${n}, again`);
    }
    await pair.onReplica('select pg_wal_replay_resume()');
  });

  it('a member of staff sees each change at once, through any process', async () => {
    await runSkerryd(['staff', 'invite', 'ann@example.org', '--name', 'Ann', '--role', 'owner'], env);
    await primary.run(`update staff set joined_at = created_at, password_hash = 'x'`);
    const made = await runSkerryd(['staff', 'tokens', 'create', 'ann@example.org', '--name', 'test'], env);
    assert.equal(made.code, 0, made.stderr);
    const bearer = made.stdout.trim();
    await sleep(LAG_MS);
    await pair.onReplica('select pg_wal_replay_pause()');
    const until = new Date(Date.now() + 86_400_000).toISOString();
    for (let n = 0; n < WRITES; n++) {
      const body = { title: `Own ${n}`, text: 'A text.', until };
      await call('POST', '/admin/v1/announcements', body, bearer, consoleUrl);
      const shown = await call('GET', '/admin/v1/announcements', undefined, bearer, consoleUrl);
      const titles = shown.data.map(({ title }: { title: string }) => title);
      assert.ok(titles.includes(`Own ${n}`), `${titles} without ${n}`);
    }
    await pair.onReplica('select pg_wal_replay_resume()');
  });

  it('lists come from the replica until it is too far behind', async () => {
    await rename('before');
    await untilAll('before');
    await pair.onReplica('select pg_wal_replay_pause()');
    const renamedAtMs = performance.now();
    await rename('after');
    const first = await listNames();
    assert.ok(
      first.every((name) => name === 'before'),
      `${first}: not from the replica`,
    );
    await untilAll('after');
    const tookMs = performance.now() - renamedAtMs;
    assert.ok(tookMs > LAG_MS / 2 && tookMs < LAG_MS + 1_500, `${Math.round(tookMs)} ms`);
    const { stdout } = await runSkerryd(['status'], env);
    assert.match(stdout, /^OK +replica +answers lists|^WARN +replica +too far behind/m);
    await pair.onReplica('select pg_wal_replay_resume()');
  });

  async function untilAll(wanted: string): Promise<void> {
    for (const deadline = Date.now() + 20_000; ; await sleep(20)) {
      const names = [...(await listNames()), ...(await listNames()), ...(await listNames())];
      if (names.every((name) => name === wanted)) return;
      assert.ok(Date.now() < deadline, names.join());
    }
  }

  it('an operator sees which statements take the most time', async () => {
    const without = await runSkerryd(['database', 'statements'], env);
    assert.equal(without.code, 1);
    assert.match(without.stderr, /^skerryd: [^\n]*create extension pg_stat_statements\n$/);
    await primary.run('create extension pg_stat_statements');
    await call('POST', '/v1/account/tokens', { name: 'zq-name', scope: 'read' });
    const { stdout } = await runSkerryd(['database', 'statements', '--limit', '500', '-o', 'json'], env);
    const rows = JSON.parse(stdout) as { statement: string }[];
    assert.ok(rows.some(({ statement }) => statement.includes('insert into api_tokens')));
    assert.doesNotMatch(stdout, /zq-name/);
    const doctor = await runSkerryd(['doctor'], env);
    assert.match(doctor.stdout, /^OK +database +pg_stat_statements is there/m);
    assert.match(doctor.stdout, /^NOTE +database +slow statements are not logged/m);
    assert.match(doctor.stdout, /^OK +replica +answers lists/m);
  });

  it('the primary answers when the replica is away, and status reports it', async () => {
    await pair.stopReplica();
    await rename('alone');
    await untilAll('alone');
    const { code, stdout } = await runSkerryd(['status'], env);
    assert.equal(code, 1);
    assert.match(stdout, /^WARN +replica +does not answer/m);
  });
});
