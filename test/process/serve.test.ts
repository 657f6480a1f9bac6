/**
 * The process from an operator's view: it starts, reports that it is ready, stops on a signal, and rejects
 * bad input.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withTimeout } from '../cli/support/with-timeout.ts';
import { createScratchDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, runSkerryd, startSkerryd } from '../support/skerryd-process.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/skerryd', import.meta.url));
const ONE_LINE = /^[^\n]+\n$/;

describe('skerryd serve', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-serve-'));
    // When root runs the tests, the database runs as another user, who must be able to enter this folder.
    await chmod(folder, 0o755);
  });
  after(async () => {
    killLeftovers();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });
  const quiet = (name: string) => ({ SKERRY_DATA_DIR: join(folder, name), SKERRY_LOG_LEVEL: 'warn' });

  it('prints its ready line, answers its probes, and exits 0 on SIGTERM', async () => {
    const serving = await startSkerryd(quiet('plain'));
    for (const probe of ['/healthz', '/readyz']) {
      assert.equal((await fetch(serving.url + probe)).status, 200);
    }
    const startedAt = Date.now();
    const end = await serving.stop('SIGTERM');
    assert.equal(end.code, 0, end.stderr);
    assert.ok(Date.now() - startedAt < 10_000);
    assert.equal(end.stderr, '');
  });

  it('exits 0 on SIGTERM while a request is in progress and connections are idle', FULL_ONLY, async () => {
    const adminPort = await freePort();
    const serving = await startSkerryd({ ...quiet('plain'), SKERRY_ADMIN_PORT: String(adminPort) });
    // A browser opens a connection for later use.
    const unused = connect(adminPort, '127.0.0.1').on('error', () => undefined);
    await once(unused, 'connect');
    const idle = await fetch(`${serving.url}/healthz`);
    await idle.text();
    const client = SessionClient.forUrl(serving.url);
    await client.fetchCsrf();
    const pending = client.signUp();
    const [response, end] = await Promise.all([pending.catch(() => undefined), serving.stop('SIGTERM')]);
    assert.equal(end.code, 0, end.stderr);
    assert.ok(response === undefined || response.body.ok === true, 'the request completed or was rejected');
  });

  it('keeps a thousand connections that arrive while it is busy', FULL_ONLY, async () => {
    const serving = await startSkerryd(quiet('plain'));
    process.kill(serving.pid, 'SIGSTOP');
    const sockets = Array.from({ length: 1_000 }, () =>
      connect(Number(new URL(serving.url).port), '127.0.0.1'),
    );
    try {
      const connected = Promise.all(sockets.map((socket) => once(socket, 'connect')));
      await withTimeout(connected, 'a thousand connections');
    } finally {
      for (const socket of sockets) socket.on('error', () => undefined).destroy();
      process.kill(serving.pid, 'SIGCONT');
    }
    assert.equal((await serving.stop()).code, 0);
  });

  it('refuses a second start on the same folder with a one-line error', FULL_ONLY, async () => {
    const first = await startSkerryd(quiet('plain'));
    const second = await runSkerryd(['serve'], { ...quiet('plain'), SKERRY_PORT: '0' });
    assert.equal(second.code, 1);
    assert.match(second.stderr, ONE_LINE);
    assert.match(second.stderr, /in use|already/);
    assert.equal((await first.stop()).code, 0);
  });

  it('refuses a port that is in use with a one-line error that names it', FULL_ONLY, async () => {
    const first = await startSkerryd(quiet('plain'));
    const port = new URL(first.url).port;
    const second = await runSkerryd(['serve'], { ...quiet('other'), SKERRY_PORT: port });
    assert.equal(second.code, 1);
    assert.match(second.stderr, ONE_LINE);
    assert.match(second.stderr, new RegExp(`SKERRY_PORT.*${port}|${port}.*SKERRY_PORT`));
    assert.equal((await first.stop()).code, 0);
  });

  it('keeps acknowledged data after SIGKILL and serves it after the next start', FULL_ONLY, async () => {
    const first = await startSkerryd(quiet('killed'));
    const client = SessionClient.forUrl(first.url);
    await client.signUp();
    const me = await client.get('/me.php');
    assert.equal((await first.stop('SIGKILL')).signal, 'SIGKILL');
    const second = await startSkerryd(quiet('killed'));
    const again = SessionClient.forUrl(second.url);
    again.cookie = client.cookie;
    assert.deepEqual((await again.get('/me.php')).body, me.body);
    assert.equal((await second.stop()).code, 0);
  });

  it('recovers after its database crashes, without losing acknowledged data', FULL_ONLY, async () => {
    const serving = await startSkerryd(quiet('crashed'));
    const client = SessionClient.forUrl(serving.url);
    await client.signUp();
    const pidFile = join(folder, 'crashed', 'pg', 'cluster', 'postmaster.pid');
    const postmaster = async () => Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
    const killedPid = await postmaster();
    process.kill(killedPid, 'SIGKILL');
    const during = await client.get('/me.php');
    assert.ok([200, 503].includes(during.status), `${during.status} ${during.text}`);
    const deadline = Date.now() + 20_000;
    // A connection to the old server may respond for a moment. The new server starts when the old one has
    // exited.
    const isNew = async () => ![0, killedPid].includes(await postmaster());
    const isReady = async () => (await isNew()) && (await client.get('/readyz')).status === 200;
    while (!(await isReady()) && Date.now() < deadline);
    assert.equal((await client.get('/me.php')).body.logged_in, true);
    const form = { action: 'create', amount: 50, coin: 'LTC' };
    const { body } = await client.post('/topup-api.php', form);
    const invoice = await client.get(`/topup-status.php?ref=${body.order_ref}`);
    const { deposit_address: address, deposit_amount: amount } = invoice.body;
    for (const [name, input] of Object.entries({
      payments: { coin: 'LTC', address, amount },
      blocks: { coin: 'LTC', count: 6 },
      settle: {},
    })) {
      const send = () =>
        fetch(`${serving.url}/sandbox/${name}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(input),
        });
      let response = await send();
      // A worker may still hold a connection to the old server.
      while (response.status === 503 && Date.now() < deadline) response = await send();
      assert.equal(response.status, 200, await response.text());
    }
    assert.equal((await client.get('/me.php')).body.balance, 50);
    assert.equal((await serving.stop()).code, 0);
  });

  it('shares the work among its processes and replaces a dead one', FULL_ONLY, async () => {
    const serving = await startSkerryd(quiet('many'), ['--processes', '2']);
    const client = SessionClient.forUrl(serving.url);
    await client.signUp();
    const children = () =>
      spawnSync('pgrep', ['-P', String(serving.pid), '-f', 'main.ts'])
        .stdout.toString()
        .trim()
        .split('\n');
    const [first, second] = children();
    process.kill(Number(first), 'SIGKILL');
    const deadline = Date.now() + 15_000;
    const replaced = () => children().length === 2 && !children().includes(String(first));
    while (!replaced() && Date.now() < deadline) {
      // Connections to the dead process break, but every new connection is served.
      const me = await client.get('/me.php', { connection: 'close' }).catch(() => undefined);
      assert.ok(me === undefined || me.body.logged_in === true);
    }
    assert.ok(replaced(), 'a new child runs');
    assert.ok(children().includes(String(second)), 'the other child is unchanged');
    const end = await serving.stop();
    assert.equal(end.code, 0, end.stderr);
  });

  it('moves the clock in all of its processes', FULL_ONLY, async () => {
    const serving = await startSkerryd(quiet('many'), ['--processes', '3']);
    const client = SessionClient.forUrl(serving.url);
    await client.signUp();
    const advance = await fetch(`${serving.url}/sandbox/clock`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"advance_s":90000}',
    });
    assert.equal(advance.status, 200, await advance.text());
    // Each request uses a new connection, so every process handles some.
    for (let n = 0; n < 30; n++) {
      const me = await client.get('/me.php', { connection: 'close' });
      assert.equal(me.body.logged_in, false, 'the session expired a day ago');
    }
    assert.equal((await serving.stop()).code, 0);
  });

  it(
    'refuses to start if its processes would use more connections than the database allows',
    FULL_ONLY,
    async () => {
      const end = await runSkerryd(['serve', '--processes', '30'], { ...quiet('many'), SKERRY_PORT: '0' });
      assert.equal(end.code, 1);
      assert.match(end.stderr, ONE_LINE);
      assert.match(end.stderr, /SKERRY_DB_POOL/);
    },
  );

  it('stops at once while a sandbox call waits for work', FULL_ONLY, async () => {
    const serving = await startSkerryd({
      ...quiet('waits'),
      SKERRY_SIM_INSTALL_S: '600',
      SKERRY_SIM_BLOCK_S: '0',
    });
    const client = SessionClient.forUrl(serving.url);
    await client.signUp();
    const { body } = await client.post('/topup-api.php', { action: 'create', amount: 50, coin: 'LTC' });
    const invoice = await client.get(`/topup-status.php?ref=${body.order_ref}`);
    const { deposit_address: address, deposit_amount: amount } = invoice.body;
    const call = (name: string, input: object) =>
      fetch(`${serving.url}/sandbox/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(input),
      });
    await call('payments', { coin: 'LTC', address, amount });
    await call('blocks', { coin: 'LTC', count: 6 });
    await call('settle', {});
    await client.post('/deploy-api.php', {
      product: 'vps',
      plan: 's1',
      region: 'par',
      os: 'debian',
      billing: 1,
      root_password: 'a root password',
    });
    const waiting = call('settle', {});
    const startedAt = Date.now();
    const [response, end] = await Promise.all([waiting.catch(() => undefined), serving.stop()]);
    assert.equal(end.code, 0, end.stderr);
    assert.ok(Date.now() - startedAt < 5_000);
    assert.ok(response === undefined || response.status === 503);
  });

  it('creates no data folder when another command runs without a database', FULL_ONLY, async () => {
    const end = await runSkerryd(['verify'], quiet('mistyped'));
    assert.equal(end.code, 1);
    assert.match(end.stderr, /SKERRY_DATA_DIR/);
    assert.match(end.stderr, ONE_LINE);
    await assert.rejects(stat(join(folder, 'mistyped', 'secret.key')));
  });

  it('runs on the database of DATABASE_URL, which it leaves running', FULL_ONLY, async () => {
    const scratch = await createScratchDatabase({ empty: true });
    const { host, port, user, database, password } = scratch.connection;
    const login = password ? `${user}:${encodeURIComponent(password)}` : user;
    const location = host.startsWith('/')
      ? `localhost:${port}/${database}?host=${encodeURIComponent(host)}`
      : `${host}:${port}/${database}`;
    const serving = await startSkerryd({ ...quiet('url'), DATABASE_URL: `postgres://${login}@${location}` });
    const client = SessionClient.forUrl(serving.url);
    assert.equal((await client.signUp()).body.ok, true);
    assert.equal((await serving.stop()).code, 0);
    await scratch.drop();
  });

  it('stores its key in a file that only its user can read', FULL_ONLY, async () => {
    await (await startSkerryd(quiet('keyed'))).stop();
    const file = join(folder, 'keyed', 'secret.key');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.match(await readFile(file, 'utf8'), /^k1:/);
  });
});

describe('the launcher', () => {
  it('uses the project’s Node regardless of other installed versions', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skerry-node-'));
    await writeFile(join(folder, 'node'), '#!/bin/sh\necho v20.0.0\nexit 1\n');
    await chmod(join(folder, 'node'), 0o755);
    const end = spawnSync(LAUNCHER, ['--help'], { env: { ...process.env, PATH: `${folder}:/usr/bin:/bin` } });
    assert.equal(end.status, 0, end.stderr.toString());
    await rm(folder, { recursive: true, force: true });
  });

  it('prints instructions when only an older Node is installed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skerry-node-'));
    await cp(LAUNCHER, join(folder, 'bin', 'skerryd'));
    await chmod(join(folder, 'bin', 'skerryd'), 0o755);
    await writeFile(join(folder, 'node'), '#!/bin/sh\n[ "$1" = --version ] && echo v20.0.0\nexit 1\n');
    await chmod(join(folder, 'node'), 0o755);
    const end = spawnSync(join(folder, 'bin', 'skerryd'), [], { env: { PATH: `${folder}:/usr/bin:/bin` } });
    assert.equal(end.status, 1);
    assert.match(end.stderr.toString(), ONE_LINE);
    assert.match(end.stderr.toString(), /24\.7.*v20\.0\.0.*npm ci/);
    await rm(folder, { recursive: true, force: true });
  });
});
