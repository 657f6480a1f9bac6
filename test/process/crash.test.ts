/**
 * A process that is killed with SIGKILL at any place of a deploy, provisioning, top-up, or credit. After the
 * restart the work completes once, and `skerryd verify` finds every invariant intact.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FULL_ONLY } from '../support/runs.ts';
import { PASSWORD } from '../support/session-client.ts';
import type { V1Client } from '../support/v1-client.ts';
import {
  BALANCE,
  balance,
  DEPLOY,
  KEY,
  pay,
  runningServer,
  type ScenarioContext,
  useCustomerWorld,
} from './crash-customer.ts';
import { callSandbox } from './crash-world.ts';
import { type KillScenario, scenariosOfRun, testKillPlaces } from './kill-places.ts';

const DELETE_ACCOUNT = { action: 'delete_account', current_password: PASSWORD };
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';

const SCENARIOS: readonly KillScenario<ScenarioContext>[] = [
  {
    name: 'an order that is installed',
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
    name: 'an order from a snapshot with a volume',
    run: async (context) => void (await orderFromSnapshot(context)),
    finish: async (context) => {
      const { api } = context;
      const id = await orderFromSnapshot(context);
      assert.equal((await api.get(`/servers/${id}`)).body.status, 'stopped');
      assert.equal((await api.get('/servers')).body.data.length, 2, 'the order was placed once');
      const volumes = (await api.get('/volumes')).body.data;
      assert.deepEqual(
        volumes.map((volume: { attached_to: string; device: string }) => [volume.attached_to, volume.device]),
        [[id, '/dev/vdb']],
      );
      assert.equal((await api.post(`/servers/${id}/start`, {}, { key: 'start' })).status, 202);
      await callSandbox(context.url, 'settle');
      assert.equal((await api.get(`/servers/${id}`)).body.status, 'running');
    },
  },
  {
    name: 'a reboot',
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
    run: rebuild,
    finish: async (context) => {
      await rebuild(context);
      const { api, path } = await runningServer(context);
      assert.equal((await api.get(path)).body.ssh_keys.length, 1);
    },
  },
  {
    name: 'a deletion',
    run: async (context) => {
      const { api, path } = await runningServer(context);
      await api.delete(path);
      await callSandbox(context.url, 'clock', { advance_s: 120 });
    },
    finish: async (context) => {
      const { api, path } = await runningServer(context).catch(() => ({ api: null, path: '' }));
      await api?.delete(path);
      await callSandbox(context.url, 'clock', { advance_s: 120 });
      const left = await context.api.get('/servers');
      assert.deepEqual(left.body.data, []);
    },
  },
  {
    name: 'a volume and a snapshot',
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
      const { api } = context;
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
  const world = useCustomerWorld();
  for (const scenario of scenariosOfRun(SCENARIOS)) {
    it(`completes ${scenario.name} once`, (t) => testKillPlaces(t, world, scenario));
  }
});

/** Orders a stopped server from a snapshot of the first one, with a volume, once. Returns its id. */
async function orderFromSnapshot(context: ScenarioContext): Promise<string> {
  const { api, customer, url } = context;
  await customer.post('/deploy-api.php', DEPLOY, { headers: KEY });
  await callSandbox(url, 'settle');
  const [source] = (await api.get('/servers?sort=created_at')).body.data;
  const key = await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY }, { key: 'ssh-key' });
  const wanted = { name: 'data', size_gb: 10, region: 'par' };
  const volume = await api.post('/volumes', wanted, { key: 'volume' });
  const snapshot = await api.post(`/servers/${source.id}/snapshots`, {}, { key: 'snapshot' });
  await callSandbox(url, 'settle');
  const order = { name: 'web-2', plan: 's1', region: 'par', image: snapshot.body.id, start: false };
  const body = { ...order, ssh_keys: [key.body.id], volumes: [volume.body.id] };
  const created = await api.post('/servers', body, { key: 'order' });
  assert.equal(created.status, 201, created.text);
  await callSandbox(url, 'settle');
  return created.body.id;
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
