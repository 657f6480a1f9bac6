/**
 * A process killed with -9 at a named point of deploy, provisioning, top-up or credit: after the restart the work
 * completes, once, and `skerryd verify` finds every invariant whole.
 */
import assert from 'node:assert/strict';
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CRASH_POINTS, type CrashPoint } from '../../src/kernel/crash.ts';
import { killLeftovers, type Serving, skerryd, startServing } from '../support/process.ts';
import { IN_FULL } from '../support/runs.ts';
import { PASSWORD, SessionClient } from '../support/session-client.ts';
import { apiToken, V1Client } from '../support/v1-client.ts';
import { environment, killedWithin, sandbox } from './crash-world.ts';

const BALANCE = 90;
const KEY = { 'idempotency-key': 'crash-test' };
const DEPLOY = {
  product: 'vps',
  plan: 's1',
  region: 'par',
  os: 'debian',
  billing: 1,
  root_password: 'a root password',
};

const LEAVE = { action: 'delete_account', current_password: PASSWORD };
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';

interface Scene {
  readonly url: string;
  readonly customer: SessionClient;
}

/** What leads to the point, and what must be true after the restart. Requests may die with the process. */
interface Scenario {
  readonly points: (point: CrashPoint) => boolean;
  lead(scene: Scene): Promise<void>;
  finish(scene: Scene): Promise<void>;
}

const SCENARIOS: readonly Scenario[] = [
  {
    points: (point) => /^deploy\.|^provision\.(claimed|begun|ensured|install|observed|running)/.test(point),
    lead: async ({ customer }) => {
      await customer.post('/deploy-api.php', DEPLOY, { headers: KEY });
    },
    finish: async ({ url, customer }) => {
      const again = await customer.post('/deploy-api.php', DEPLOY, { headers: KEY });
      assert.equal(again.body.ok, true, again.text);
      await sandbox(url, 'settle');
      const page = await customer.get(String(again.body.redirect));
      assert.match(page.text, /running/);
      assert.ok((await balance(customer)) < BALANCE, 'charged');
      assert.ok((await balance(customer)) > BALANCE - 10, 'charged once');
    },
  },
  {
    points: (point) => /^provision\.(host|refund)|^destroy\.re/.test(point),
    lead: async ({ url, customer }) => {
      // More failures than there are hosts: moved from one to the next, then given back.
      await sandbox(url, 'faults', { driver: 'compute', operation: 'ensure', times: 1_000 });
      await customer.post('/deploy-api.php', DEPLOY, { headers: KEY });
    },
    finish: async ({ url, customer }) => {
      await sandbox(url, 'settle');
      await sandbox(url, 'clock', { advance_s: 120 });
      assert.equal(await balance(customer), BALANCE, 'refunded in full, once');
    },
  },
  {
    points: (point) => point.startsWith('operation.'),
    lead: async (scene) => {
      const { api, path } = await runningServer(scene);
      await api.post(`${path}/reboot`);
      await sandbox(scene.url, 'settle');
    },
    finish: async (scene) => {
      const { api, path } = await runningServer(scene);
      assert.equal((await api.post(`${path}/stop`)).status, 202);
      await sandbox(scene.url, 'settle');
      assert.equal((await api.get(path)).body.status, 'stopped');
    },
  },
  {
    points: (point) => point.startsWith('reinstall.'),
    lead: async (scene) => {
      const { api, path } = await runningServer(scene);
      const key = await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY });
      await api.post(`${path}/rebuild`, { ssh_keys: [key.body.id] });
      await sandbox(scene.url, 'settle');
    },
    finish: async (scene) => {
      const { api, path } = await runningServer(scene);
      assert.equal((await api.get(path)).body.ssh_keys.length, 1);
    },
  },
  {
    points: (point) => point.startsWith('destroy.begun'),
    lead: async (scene) => {
      const { api, path } = await runningServer(scene);
      await api.delete(path);
    },
    finish: async (scene) => {
      const { api, path } = await runningServer(scene).catch(() => ({ api: null, path: '' }));
      await api?.delete(path);
      await sandbox(scene.url, 'clock', { advance_s: 120 });
      const left = await (await apiOf(scene)).get('/servers');
      assert.deepEqual(left.body.data, []);
    },
  },
  {
    points: (point) => /^(task|volume|snapshot)\./.test(point),
    lead: async (scene) => {
      const { api, path } = await runningServer(scene);
      const volume = await api.post('/volumes', { name: 'data', size_gb: 10, region: 'par' });
      await api.post(`/volumes/${volume.body.id}/attach`, { server: path.slice('/servers/'.length) });
      await api.post(`${path}/snapshots`);
      await sandbox(scene.url, 'settle');
      await giveUpData(scene, api);
    },
    finish: async (scene) => {
      await sandbox(scene.url, 'settle');
      const api = await apiOf(scene);
      for (const snapshot of (await api.get('/snapshots')).body.data) assert.equal(snapshot.status, 'ready');
      await giveUpData(scene, api);
      const left = [await api.get('/volumes'), await api.get('/snapshots')];
      assert.deepEqual(
        left.map(({ body }) => body.data),
        [[], []],
      );
    },
  },
  {
    points: (point) => point.startsWith('topup.'),
    lead: async ({ customer }) => {
      await customer.post('/topup-api.php', { action: 'create', amount: 50, coin: 'BTC' }, { headers: KEY });
    },
    finish: async (scene) => {
      const form = { action: 'create', amount: 50, coin: 'BTC' };
      const again = await scene.customer.post('/topup-api.php', form, { headers: KEY });
      assert.equal(again.body.ok, true, again.text);
      const twice = await scene.customer.post('/topup-api.php', form, { headers: KEY });
      assert.equal(twice.body.order_ref, again.body.order_ref);
      await pay(scene, String(again.body.order_ref), 'BTC');
      assert.equal(await balance(scene.customer), BALANCE + 50);
    },
  },
  {
    points: (point) => /^credit\./.test(point),
    lead: async (scene) => {
      const created = await scene.customer.post(
        '/topup-api.php',
        { action: 'create', amount: 50, coin: 'BTC' },
        { headers: KEY },
      );
      await pay(scene, String(created.body.order_ref), 'BTC');
      await sandbox(scene.url, 'reorgs', { coin: 'BTC', depth: 12 });
      await sandbox(scene.url, 'settle');
    },
    finish: async ({ url, customer }) => {
      const form = { action: 'create', amount: 50, coin: 'BTC' };
      const { body } = await customer.post('/topup-api.php', form, { headers: KEY });
      await sandbox(url, 'settle');
      const status = await customer.get(`/topup-status.php?ref=${body.order_ref}`);
      // Where the process died before the payment, it is made now.
      if (status.body.status === 'waiting') await pay({ url, customer }, String(body.order_ref), 'BTC');
      await sandbox(url, 'blocks', { coin: 'BTC', count: 12 });
      await sandbox(url, 'settle');
      assert.equal(await balance(customer), BALANCE + 50);
    },
  },
  {
    points: (point) => point.startsWith('account.'),
    lead: async ({ customer }) => {
      await customer.post('/account-api.php', LEAVE);
    },
    finish: async ({ url, customer }) => {
      // Where it died before the commit, nothing has begun.
      const again = await customer.post('/account-api.php', LEAVE);
      assert.ok(again.body.ok === true || again.body.error === 'auth_required', again.text);
      await sandbox(url, 'clock', { advance_s: 300 });
      assert.equal((await customer.get('/me.php')).body.logged_in, false);
      const { body } = await customer.get('/sandbox/mails');
      const last = (body.mails as { subject: string }[]).filter(({ subject }) => /deleted/.test(subject));
      assert.equal(last.length, 1, 'the last mail, once');
    },
  },
];

describe('a process killed with -9', IN_FULL, () => {
  let folder = '';
  const customer = { cookie: '', csrf: '' };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-crash-'));
    // Root's database runs as another user, who must be able to pass through.
    await chmod(folder, 0o755);
    const serving = await startServing(environment(join(folder, 'base')));
    const client = SessionClient.over(serving.url);
    await client.signUp();
    const created = await client.post('/topup-api.php', { action: 'create', amount: BALANCE, coin: 'BTC' });
    await pay({ url: serving.url, customer: client }, String(created.body.order_ref), 'BTC');
    assert.equal(await balance(client), BALANCE);
    customer.cookie = client.cookie ?? '';
    customer.csrf = client.csrf ?? '';
    assert.equal((await serving.stop()).code, 0);
  });

  after(async () => {
    killLeftovers();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });

  // Uploads, the calendar, events, mail and reverse names have tests of their own.
  const elsewhere = /^(upload|renew|suspend|fanout|deliver|mail|account|rdns)\./;
  const points = CRASH_POINTS.filter((point) => !elsewhere.test(point));
  for (const point of points) {
    it(`at ${point}: the work completes once`, async () => {
      const scenario = SCENARIOS.find((each) => each.points(point));
      assert.ok(scenario, 'every point has a scenario');
      const dataDir = join(folder, point);
      await cp(join(folder, 'base'), dataDir, { recursive: true, preserveTimestamps: true });
      const armed = await startServing({ ...environment(dataDir), SKERRY_CRASH_AT: point });
      await scenario.lead(scene(armed, customer)).catch(() => undefined);
      assert.equal((await killedWithin(armed)).signal, 'SIGKILL', 'the point was reached');
      const serving = await startServing(environment(dataDir));
      try {
        await scenario.finish(scene(serving, customer));
        const verified = await skerryd(['verify'], environment(dataDir));
        assert.equal(verified.code, 0, verified.stdout + verified.stderr);
      } finally {
        assert.equal((await serving.stop()).code, 0);
        await rm(dataDir, { recursive: true, force: true });
      }
    });
  }
});

function scene(serving: Serving, kept: { cookie: string; csrf: string }): Scene {
  const customer = SessionClient.over(serving.url);
  customer.cookie = kept.cookie;
  customer.csrf = kept.csrf;
  return { url: serving.url, customer };
}

async function pay({ url, customer }: Scene, ref: string, coin: string): Promise<void> {
  const { body } = await customer.get(`/topup-status.php?ref=${ref}`);
  await sandbox(url, 'payments', { coin, address: body.deposit_address, amount: body.deposit_amount });
  await sandbox(url, 'blocks', { coin, count: 12 });
  await sandbox(url, 'settle');
}

async function apiOf({ url, customer }: Scene): Promise<V1Client> {
  return V1Client.over(url, await apiToken(customer));
}

/** The one server of these scenarios: ordered once, and running. */
async function runningServer(scene: Scene): Promise<{ api: V1Client; path: string }> {
  await scene.customer.post('/deploy-api.php', DEPLOY, { headers: KEY });
  await sandbox(scene.url, 'settle');
  const api = await apiOf(scene);
  const [server] = (await api.get('/servers')).body.data;
  assert.equal(server?.status, 'running');
  return { api, path: `/servers/${server.id}` };
}

/** Detaches and deletes what there is of volumes and snapshots. */
async function giveUpData(scene: Scene, api: V1Client): Promise<void> {
  for (const { id, attached_to } of (await api.get('/volumes')).body.data) {
    if (attached_to) assert.equal((await api.post(`/volumes/${id}/detach`)).status, 200);
    assert.equal((await api.delete(`/volumes/${id}`)).status, 204);
  }
  for (const { id } of (await api.get('/snapshots')).body.data) {
    assert.equal((await api.delete(`/snapshots/${id}`)).status, 204);
  }
  await sandbox(scene.url, 'settle');
}

async function balance(customer: SessionClient): Promise<number> {
  return Number((await customer.get('/me.php')).body.balance);
}
