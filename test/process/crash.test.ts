/**
 * A process that is killed with SIGKILL at any place of a deploy, provisioning, top-up, or credit. After the
 * restart the work completes once, and `skerryd verify` finds every invariant intact.
 */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../support/runs.ts';
import { PASSWORD, SessionClient } from '../support/session-client.ts';
import { killLeftovers, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { callSandbox, serviceEnvironment } from './crash-world.ts';
import { type KillScenario, testKillPlaces } from './kill-places.ts';

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

const DELETE_ACCOUNT = { action: 'delete_account', current_password: PASSWORD };
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';

interface ScenarioContext {
  readonly url: string;
  readonly customer: SessionClient;
}

const SCENARIOS: readonly KillScenario<ScenarioContext>[] = [
  {
    name: 'an order that is installed',
    effects: [
      'compute.ensure',
      'compute.observe',
      'servers',
      'machines',
      'transfers',
      'operations',
      'events',
      'idempotency',
    ],
    run: async ({ url, customer }) => {
      await customer.post('/deploy-api.php', DEPLOY, { headers: KEY });
      await callSandbox(url, 'settle');
    },
    finish: async ({ url, customer }) => {
      const again = await customer.post('/deploy-api.php', DEPLOY, { headers: KEY });
      assert.equal(again.body.ok, true, again.text);
      await callSandbox(url, 'settle');
      const page = await customer.get(String(again.body.redirect));
      assert.match(page.text, /running/);
      assert.ok((await balance(customer)) < BALANCE, 'the server was charged');
      assert.ok((await balance(customer)) > BALANCE - 10, 'the server was charged only once');
    },
  },
  {
    name: 'an order that no host can run',
    effects: ['compute.ensure', 'compute.remove', 'hosts', 'machines', 'transfers', 'operations', 'tasks'],
    run: async ({ url, customer }) => {
      // More failures than hosts: the order moves from one host to the next and is then refunded.
      await callSandbox(url, 'faults', { driver: 'compute', operation: 'ensure', times: 1_000 });
      await customer.post('/deploy-api.php', DEPLOY, { headers: KEY });
      await callSandbox(url, 'settle');
      await callSandbox(url, 'clock', { advance_s: 120 });
    },
    finish: async ({ url, customer }) => {
      await callSandbox(url, 'settle');
      await callSandbox(url, 'clock', { advance_s: 120 });
      assert.equal(await balance(customer), BALANCE, 'the order was refunded in full, once');
    },
  },
  {
    name: 'a reboot',
    effects: ['compute.power', 'compute.observe', 'operations', 'events'],
    run: async (context) => {
      const { api, path } = await runningServer(context);
      await api.post(`${path}/reboot`);
      await callSandbox(context.url, 'settle');
    },
    finish: async (context) => {
      const { api, path } = await runningServer(context);
      assert.equal((await api.post(`${path}/stop`)).status, 202);
      await callSandbox(context.url, 'settle');
      assert.equal((await api.get(path)).body.status, 'stopped');
    },
  },
  {
    name: 'a rebuild',
    effects: ['compute.rebuild', 'compute.observe', 'operations', 'servers', 'events'],
    run: rebuild,
    finish: async (context) => {
      await rebuild(context);
      const { api, path } = await runningServer(context);
      assert.equal((await api.get(path)).body.ssh_keys.length, 1);
    },
  },
  {
    name: 'a deletion',
    effects: ['compute.remove', 'operations', 'servers', 'tasks', 'events'],
    run: async (context) => {
      const { api, path } = await runningServer(context);
      await api.delete(path);
      await callSandbox(context.url, 'clock', { advance_s: 120 });
    },
    finish: async (context) => {
      const { api, path } = await runningServer(context).catch(() => ({ api: null, path: '' }));
      await api?.delete(path);
      await callSandbox(context.url, 'clock', { advance_s: 120 });
      const left = await (await createApiClient(context)).get('/servers');
      assert.deepEqual(left.body.data, []);
    },
  },
  {
    name: 'a volume and a snapshot',
    effects: [
      'compute.attach',
      'compute.detach',
      'compute.grow',
      'compute.removeVolume',
      'compute.snapshot',
      'compute.removeSnapshot',
      'volumes',
      'snapshots',
      'tasks',
    ],
    run: async (context) => {
      const { api, path } = await runningServer(context);
      const volume = await api.post('/volumes', { name: 'data', size_gb: 10, region: 'par' });
      await api.post(`/volumes/${volume.body.id}/attach`, { server: path.slice('/servers/'.length) });
      await api.post(`${path}/snapshots`);
      await callSandbox(context.url, 'settle');
      await deleteVolumesAndSnapshots(context, api);
    },
    finish: async (context) => {
      await callSandbox(context.url, 'settle');
      const api = await createApiClient(context);
      for (const snapshot of (await api.get('/snapshots')).body.data) assert.equal(snapshot.status, 'ready');
      await deleteVolumesAndSnapshots(context, api);
      const left = [await api.get('/volumes'), await api.get('/snapshots')];
      assert.deepEqual(
        left.map(({ body }) => body.data),
        [[], []],
      );
    },
  },
  {
    name: 'a top-up',
    effects: ['BTC.allocate', 'topups', 'idempotency'],
    run: async ({ customer }) => {
      await customer.post('/topup-api.php', { action: 'create', amount: 50, coin: 'BTC' }, { headers: KEY });
    },
    finish: async (context) => {
      const form = { action: 'create', amount: 50, coin: 'BTC' };
      const again = await context.customer.post('/topup-api.php', form, { headers: KEY });
      assert.equal(again.body.ok, true, again.text);
      const twice = await context.customer.post('/topup-api.php', form, { headers: KEY });
      assert.equal(twice.body.order_ref, again.body.order_ref);
      await pay(context, String(again.body.order_ref), 'BTC');
      assert.equal(await balance(context.customer), BALANCE + 50);
    },
  },
  {
    name: 'a payment that leaves its block',
    effects: ['BTC.poll', 'mailer.send', 'deposits', 'topups', 'transfers', 'coins'],
    run: async (context) => {
      const created = await context.customer.post(
        '/topup-api.php',
        { action: 'create', amount: 50, coin: 'BTC' },
        { headers: KEY },
      );
      await pay(context, String(created.body.order_ref), 'BTC');
      await callSandbox(context.url, 'reorgs', { coin: 'BTC', depth: 12 });
      await callSandbox(context.url, 'settle');
    },
    finish: async ({ url, customer }) => {
      const form = { action: 'create', amount: 50, coin: 'BTC' };
      const { body } = await customer.post('/topup-api.php', form, { headers: KEY });
      await callSandbox(url, 'settle');
      const status = await customer.get(`/topup-status.php?ref=${body.order_ref}`);
      // If the process died before the payment, pay now.
      if (status.body.status === 'waiting') await pay({ url, customer }, String(body.order_ref), 'BTC');
      await callSandbox(url, 'blocks', { coin: 'BTC', count: 12 });
      await callSandbox(url, 'settle');
      assert.equal(await balance(customer), BALANCE + 50);
    },
  },
  {
    name: 'an account deletion',
    effects: ['mailer.send', 'customers', 'tasks', 'mails'],
    run: async ({ url, customer }) => {
      await customer.post('/account-api.php', DELETE_ACCOUNT);
      await callSandbox(url, 'clock', { advance_s: 300 });
    },
    finish: async ({ url, customer }) => {
      // If the process died before the commit, the deletion has not started.
      const again = await customer.post('/account-api.php', DELETE_ACCOUNT);
      assert.ok(again.body.ok === true || again.body.error === 'auth_required', again.text);
      await callSandbox(url, 'clock', { advance_s: 300 });
      assert.equal((await customer.get('/me.php')).body.logged_in, false);
      const { body } = await customer.get('/sandbox/mails');
      const last = (body.mails as { subject: string }[]).filter(({ subject }) => /deleted/.test(subject));
      assert.equal(last.length, 1, 'the final mail was sent once');
    },
  },
];

describe('a process killed with SIGKILL', FULL_ONLY, () => {
  let folder = '';
  const customer = { cookie: '', csrf: '' };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-crash-'));
    // When root runs the tests, the database runs as another user, who must be able to enter this folder.
    await chmod(folder, 0o755);
    const serving = await startSkerryd(serviceEnvironment(join(folder, 'base')));
    const client = SessionClient.forUrl(serving.url);
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

  const settings = (name: string) => serviceEnvironment(join(folder, name));
  for (const scenario of SCENARIOS) {
    it(`completes ${scenario.name} once`, async (t) => {
      const context = (serving: SkerrydProcess) => createContext(serving, customer);
      await testKillPlaces(t, { folder, settings, createContext: context }, scenario);
    });
  }
});

function createContext(serving: SkerrydProcess, session: { cookie: string; csrf: string }): ScenarioContext {
  const customer = SessionClient.forUrl(serving.url);
  customer.cookie = session.cookie;
  customer.csrf = session.csrf;
  return { url: serving.url, customer };
}

async function pay({ url, customer }: ScenarioContext, ref: string, coin: string): Promise<void> {
  const { body } = await customer.get(`/topup-status.php?ref=${ref}`);
  await callSandbox(url, 'payments', { coin, address: body.deposit_address, amount: body.deposit_amount });
  await callSandbox(url, 'blocks', { coin, count: 12 });
  await callSandbox(url, 'settle');
}

async function createApiClient({ url, customer }: ScenarioContext): Promise<V1Client> {
  return V1Client.forUrl(url, await createApiToken(customer));
}

/** Returns the only server of these scenarios: ordered once, and running. */
async function runningServer(context: ScenarioContext): Promise<{ api: V1Client; path: string }> {
  await context.customer.post('/deploy-api.php', DEPLOY, { headers: KEY });
  await callSandbox(context.url, 'settle');
  const api = await createApiClient(context);
  const [server] = (await api.get('/servers')).body.data;
  assert.equal(server?.status, 'running');
  return { api, path: `/servers/${server.id}` };
}

/** Rebuilds the server with an SSH key, once. */
async function rebuild(context: ScenarioContext): Promise<void> {
  const { api, path } = await runningServer(context);
  const key = await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY }, { key: 'ssh-key' });
  await api.post(`${path}/rebuild`, { ssh_keys: [key.body.id] }, { key: 'rebuild' });
  await callSandbox(context.url, 'settle');
}

/** Detaches all volumes, and deletes all volumes and snapshots. */
async function deleteVolumesAndSnapshots(context: ScenarioContext, api: V1Client): Promise<void> {
  for (const { id, attached_to } of (await api.get('/volumes')).body.data) {
    if (attached_to) assert.equal((await api.post(`/volumes/${id}/detach`)).status, 200);
    assert.equal((await api.delete(`/volumes/${id}`)).status, 204);
  }
  for (const { id } of (await api.get('/snapshots')).body.data) {
    assert.equal((await api.delete(`/snapshots/${id}`)).status, 204);
  }
  await callSandbox(context.url, 'settle');
}

async function balance(customer: SessionClient): Promise<number> {
  return Number((await customer.get('/me.php')).body.balance);
}
