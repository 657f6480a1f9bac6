import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
const REASON = { reason: 'ticket 12' };

describe('servers in the console', () => {
  let world: StaffWorld;
  let owner: Person;
  let support: Person;
  let customer: SessionClient;
  let api: V1Client;
  let id = '';

  const path = () => `/servers/${id}`;
  const status = async () => (await world.api(owner.token, 'GET', path())).body;
  const audited = async () => {
    const { body } = await api.get(`/audit/events?filter[resource]=${id}`);
    assert.ok(body.data, JSON.stringify(body));
    const rows = body.data as Record<'action' | 'result' | 'actor_token' | 'actor_session', string | null>[];
    return rows.map((row) => ({
      ...row,
      action: row.action ?? '',
      actor: row.actor_token ?? row.actor_session,
    }));
  };

  before(async () => {
    world = await startStaffWorld();
    owner = await world.person('owner');
    support = await world.person('support');
    customer = await world.customer(80);
    api = V1Client.forUrl(world.url, await createApiToken(customer));
    const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };
    await customer.post('/deploy-api.php', { ...order, root_password: 'correct horse battery' });
    await world.settle();
    const [server] = (await api.get('/servers')).body.data;
    id = server.id;
  });
  after(() => world.close());

  it('finds a server by anything that names it', async () => {
    const server = await status();
    await api.patch(`/servers/${id}`, { labels: { env: 'prod' } });
    const { id: customerId } = (
      (await world.api(owner.token, 'GET', `/customers?search=${customer.email}`)).body.data as {
        id: string;
      }[]
    )[0] ?? { id: '' };
    const name = String(server.name);
    const texts = [id, name, name.slice(0, 4), customer.email, customerId, server.ipv4, server.host];
    for (const text of [...texts, 's1', 'par', 'env=prod']) {
      const search = encodeURIComponent(String(text));
      const { body } = await world.api(owner.token, 'GET', `/servers?search=${search}`);
      assert.deepEqual(
        (body.data as { id: string }[]).map((row) => row.id),
        [id],
        String(text),
      );
    }
    for (const text of ['203.0.113.9', 'env=test', 'nobody@example.org', '%', 'zzz']) {
      const { body } = await world.api(owner.token, 'GET', `/servers?search=${encodeURIComponent(text)}`);
      assert.deepEqual(body.data, [], text);
    }
    const { body } = await world.api(owner.token, 'GET', '/servers?plan=s1&label=env=prod&host=par-1');
    assert.ok(Array.isArray(body.data), JSON.stringify(body));
  });

  it('finds a server by its address without an address in a URL', async () => {
    const found = await fill(owner.browser, '/servers', 'search', { search: String((await status()).ipv4) });
    assert.equal(found.location, path());
    const none = await fill(owner.browser, '/servers', 'search', { search: '203.0.113.9' });
    assert.equal(none.location, '/servers?done=nothing_found');
  });

  it('powers a server off and on, which its customer sees without an actor', async () => {
    const off = await fill(support.browser, path(), 'servers.power', { action: 'poweroff', ...REASON });
    assert.match(off.location ?? '', /done=begun/, textOf(off.text));
    await world.settle();
    assert.equal((await status()).status, 'stopped');
    const refused = await world.api(support.token, 'POST', `${path()}/power`, { action: 'reset', ...REASON });
    assert.equal(refused.status, 409);
    const on = await world.api(support.token, 'POST', `${path()}/power`, { action: 'start', ...REASON });
    assert.equal(on.status, 200, JSON.stringify(on.body));
    await world.settle();
    assert.equal((await status()).status, 'running');
    const rows = (await audited()).filter(({ action }) => /^server\.(stop|start)$/.test(action));
    assert.deepEqual(
      rows.map(({ action, actor, result }) => [action, actor, result]),
      [
        ['server.start', null, 'ok'],
        ['server.stop', null, 'ok'],
      ],
    );
    const page = textOf((await owner.browser.get(path())).text);
    assert.match(page, /Latest work/);
  });

  it('shows the password of the rescue system once, and keeps it out of the staff log', async () => {
    const done = await fill(support.browser, path(), 'servers.rescue', REASON);
    const password = /Password: <code[^>]*>([^<]+)</.exec(done.text)?.[1] ?? assert.fail(done.text);
    await world.settle();
    assert.ok(!(await support.browser.get(path())).text.includes(password));
    const log = await world.api(owner.token, 'GET', `/staff_log?target=${id}`);
    assert.ok(!JSON.stringify(log.body).includes(password));
  });

  it('opens the console, and tells the customer in the audit log', async () => {
    const opened = await world.api(support.token, 'POST', `${path()}/console`, {
      read_only: true,
      ...REASON,
    });
    assert.equal(opened.status, 201, JSON.stringify(opened.body));
    assert.equal(opened.body.read_only, true);
    const row = (await audited()).find(({ action }) => action === 'server.open_console');
    assert.deepEqual([row?.actor, row?.result], [null, 'ok']);
  });

  it('resizes within the price that the person accepts, and charges the customer', async () => {
    const { plans } = (await status()) as { plans: { id: string; due_usd: number }[] } & object;
    const plan = plans.find((row) => row.id === 's2') ?? assert.fail(JSON.stringify(plans));
    const body = { plan: 's2', restart: true, resize_disk: true, ...REASON };
    const dear = await world.api(support.token, 'POST', `${path()}/resize`, { ...body, max_price_usd: 0 });
    assert.equal(dear.status, 409, JSON.stringify(dear.body));
    const before = await balance();
    const input = { plan: 's2', max_price_usd: '50', restart: 'on', resize_disk: 'on', ...REASON };
    const done = await fill(support.browser, path(), 'servers.resize', input);
    assert.match(done.location ?? '', /done=begun/, textOf(done.text));
    await world.settle();
    assert.equal((await status()).plan, 's2');
    assert.equal(Math.round((before - (await balance())) * 100), Math.round(plan.due_usd * 100));
  });

  it('refuses rebuild and deletion to support, and performs them for an owner', async () => {
    for (const act of ['rebuild', 'delete']) {
      assert.equal((await world.api(support.token, 'POST', `${path()}/${act}`, REASON)).status, 403, act);
    }
    const key = await api.post('/ssh-keys', { name: 'k', public_key: PUBLIC_KEY });
    const noKey = await world.api(owner.token, 'POST', `${path()}/rebuild`, REASON);
    assert.equal(noKey.status, 422, JSON.stringify(noKey.body));
    const body = { ssh_key: key.body.id, ...REASON };
    const rebuilt = await world.api(owner.token, 'POST', `${path()}/rebuild`, body);
    assert.equal(rebuilt.status, 200, JSON.stringify(rebuilt.body));
    await world.settle();
    assert.equal((await status()).status, 'running');
    const moved = await world.api(support.token, 'POST', `${path()}/move`, REASON);
    assert.equal(moved.status, 200, JSON.stringify(moved.body));
    await world.settle();
    await api.patch(`/servers/${id}`, { protection: { delete: true } });
    assert.equal((await world.api(owner.token, 'POST', `${path()}/delete`, REASON)).status, 409);
    await api.patch(`/servers/${id}`, { protection: { delete: false } });
    const deleted = await fill(owner.browser, path(), 'servers.delete', REASON);
    assert.match(deleted.location ?? '', /^\/servers\?done=/, textOf(deleted.text));
    await world.settle();
    assert.deepEqual((await api.get('/servers')).body.data, []);
    assert.ok((await audited()).some(({ action, actor }) => action === 'server.destroy' && actor === null));
  });

  async function balance(): Promise<number> {
    const { body } = await world.api(owner.token, 'GET', `/customers/${customer.email}`);
    return body.balance_usd as number;
  }
});
