import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

describe('the data of a customer in the console', () => {
  let world: StaffWorld;
  let support: Person;
  let customer: SessionClient;
  let api: V1Client;
  let email: string;
  let path: string;
  const reason = 'ticket 7';

  before(async () => {
    world = await startStaffWorld();
    support = await world.person('support');
    customer = await world.customer(40);
    api = V1Client.forUrl(world.url, await createApiToken(customer));
    email = customer.email ?? '';
    path = `/customers/${encodeURIComponent(email)}`;
  });
  after(() => world.close());

  it('shows the account as the customer sees it, and the customer sees that we looked', async () => {
    await customer.post('/deploy-api.php', {
      ...{ product: 'vps', plan: 's1', region: 'par', os: 'debian-13', billing: 1 },
      root_password: 'a long root password',
    });
    await world.settle();
    const unexplained = await fill(support.browser, `${path}/view`, 'customers.view', { reason: '' });
    assert.equal(unexplained.status, 400);
    assert.equal((await api.get('/audit/events?action=customer.view')).body.data.length, 0);
    const page = await fill(support.browser, `${path}/view`, 'customers.view', { reason });
    assert.equal(page.status, 200);
    const { body } = await world.api(support.token, 'POST', `${path}/view`, { reason });
    const lists = new Map(
      (body.lists as { name: string; data: object[] }[]).map((row) => [row.name, row.data]),
    );
    for (const name of ['servers', 'volumes', 'webhooks', 'ssh_keys']) {
      const { body: shown } = await api.get(`/${name.replace('_', '-')}`);
      assert.deepEqual(lists.get(name), shown.data, `${name}: ${JSON.stringify(shown)}`);
    }
    const [server] = (await api.get('/servers')).body.data;
    assert.match(textOf(page.text), new RegExp(server.id));
    assert.doesNotMatch(JSON.stringify(body), /whsec_|_live_/);
    const [audit] = (await api.get('/audit/events?action=customer.view')).body.data;
    assert.deepEqual([audit.actor_token, audit.actor_session, audit.ip_country], [null, null, 'XX']);
  });

  it('downloads the export from the page and over the API, and records it', async () => {
    const done = await fill(support.browser, path, 'customers.export', { reason });
    assert.equal(done.status, 200, done.text);
    const file = JSON.parse(done.text);
    assert.deepEqual([file.object, file.account[0].email], ['customer_export', email]);
    const { status, body } = await world.api(support.token, 'POST', `${path}/export`, { reason });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), Object.keys(file));
    assert.equal((await api.get('/audit/events?action=customer.export')).body.data.length, 2);
    const finance = await world.person('finance');
    assert.equal((await world.api(finance.token, 'POST', `${path}/export`, { reason })).status, 403);
  });

  it('deletes an account only with its servers, and never a frozen account', async () => {
    const owner = await world.person('owner');
    const remove = (destroy_servers: boolean) =>
      world.api(owner.token, 'POST', `${path}/delete`, { destroy_servers, reason });
    const withServers = await remove(false);
    assert.equal(withServers.status, 409, JSON.stringify(withServers.body));
    await world.api(owner.token, 'POST', `${path}/freeze`, { reason });
    assert.match(JSON.stringify((await remove(true)).body), /frozen/);
    await world.api(owner.token, 'POST', `${path}/unfreeze`, { reason });
    const { body } = await world.api(owner.token, 'GET', path);
    const done = await fill(owner.browser, path, 'customers.delete', { destroy_servers: 'on', reason });
    assert.match(done.location ?? '', /^\/customers\?done=deletion_started/, done.text);
    await world.settle();
    assert.equal((await world.api(owner.token, 'GET', `/customers/${body.id}`)).body.email, 'deleted');
    const log = await world.api(owner.token, 'GET', `/staff_log?target=${body.id}`);
    const entries = log.body.data as { operation: string; result: string }[];
    assert.deepEqual([entries[0]?.operation, entries[0]?.result], ['customers.delete', 'ok']);
  });
});
