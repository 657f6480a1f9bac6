import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { textOf } from '../../support/panel-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

const REASON = { reason: 'ticket 12' };

describe('maintenance, policies, and switches in the console', () => {
  let world: StaffWorld;
  let owner: Person;
  let technician: Person;
  let customer: V1Client;

  const list = async (path: string) => {
    const { body } = await world.api(technician.token, 'GET', path);
    return body.data as Record<string, unknown>[];
  };

  before(async () => {
    world = await startStaffWorld();
    owner = await world.person('owner');
    technician = await world.person('technician');
    customer = V1Client.forUrl(world.url, await createApiToken(await world.customer(60)));
  });
  after(() => world.close());

  it('starts and ends a maintenance window, whose message customers read', async () => {
    const started = await fill(technician.browser, '/maintenance', 'maintenance.start', {
      ...{ operation: 'images.list', minutes: '30', message: 'New disks.', ...REASON },
    });
    assert.match(started.location ?? '', /^\/maintenance\/mwn_\w+\?done=saved$/, textOf(started.text));
    assert.match(textOf((await technician.browser.get('/maintenance')).text), /images\.list/);
    const refused = await customer.get('/images');
    assert.equal(refused.status, 503);
    assert.match(JSON.stringify(refused.body), /New disks/);
    const every = await world.api(technician.token, 'POST', '/maintenance', { minutes: 5, ...REASON });
    assert.deepEqual([every.status, every.body.operation, every.body.message], [201, null, null]);
    assert.equal((await list('/maintenance')).length, 2);
    const page = `/maintenance/${every.body.id}`;
    assert.match(textOf((await technician.browser.get(page)).text), /every operation/);
    const one = await fill(technician.browser, page, 'maintenance.end_one', REASON);
    assert.equal(one.location, '/maintenance?done=saved', textOf(one.text));
    const left = (await list('/maintenance')).map(({ operation }) => operation);
    assert.deepEqual(left, ['images.list']);
    const again = await world.api(technician.token, 'POST', `${page}/end`, REASON);
    assert.equal(again.status, 404, JSON.stringify(again.body));
    const [entry] = await list(`/staff_log?target=${every.body.id}`);
    assert.equal(entry?.operation, 'maintenance.end_one');
    await world.api(technician.token, 'POST', '/maintenance', { minutes: 5, ...REASON });
    const ended = await fill(technician.browser, '/maintenance', 'maintenance.end', REASON);
    assert.equal(ended.location, '/maintenance?done=saved', textOf(ended.text));
    assert.deepEqual(await list('/maintenance'), []);
    assert.equal((await customer.get('/images')).status, 200);
    const long = await world.api(technician.token, 'POST', '/maintenance', { minutes: 600_000, ...REASON });
    assert.match(JSON.stringify(long.body), /"field":"minutes"/);
    const lines = { minutes: 5, message: 'two\nlines', ...REASON };
    const split = await world.api(technician.token, 'POST', '/maintenance', lines);
    assert.equal(split.status, 400);
    assert.match(JSON.stringify(split.body), /"field":"message"/);
  });

  it('blocks an operation by legal order, and unblocks it', async () => {
    const blocked = await fill(owner.browser, '/policies', 'policies.block', {
      ...{ operation: 'images.list', country: '', region: '', order: 'Order 17', ...REASON },
    });
    const path = /^\/policies\/pol_\w+/.exec(blocked.location ?? '')?.[0] ?? assert.fail(blocked.text);
    const refused = await customer.get('/images');
    assert.equal(refused.status, 451);
    assert.match(JSON.stringify(refused.body), /Order 17/);
    const denied = await world.api(technician.token, 'POST', `${path}/unblock`, REASON);
    assert.equal(denied.status, 403);
    const unblocked = await fill(owner.browser, path, 'policies.unblock', REASON);
    assert.equal(unblocked.location, '/policies?done=saved', textOf(unblocked.text));
    assert.equal((await customer.get('/images')).status, 200);
    assert.equal((await world.api(owner.token, 'POST', `${path}/unblock`, REASON)).status, 404);
    const order = { operation: 'images.list', order: 'Order 18', ...REASON };
    const country = await world.api(owner.token, 'POST', '/policies', { ...order, country: 'de' });
    assert.match(JSON.stringify(country.body), /"field":"country"/);
    const region = await world.api(owner.token, 'POST', '/policies', { ...order, region: 'par' });
    assert.match(JSON.stringify(region.body), /Region does not apply to images\.list/);
  });

  it('turns a switch off and on, with a message', async () => {
    const off = await fill(owner.browser, '/switches/deploys', 'switches.set', {
      ...{ state: 'off', message: 'Storage is full.', ...REASON },
    });
    assert.equal(off.location, '/switches/deploys?done=saved', textOf(off.text));
    const row = (await list('/switches')).find(({ id }) => id === 'deploys');
    assert.deepEqual([row?.state, row?.message], ['off', 'Storage is full.']);
    assert.match(textOf((await owner.browser.get('/switches/deploys')).text), /Storage is full\./);
    const order = { plan: 's1', region: 'par', image: 'debian-12', ssh_keys: [] };
    assert.equal((await customer.post('/servers', order)).status, 503);
    const on = await world.api(owner.token, 'POST', '/switches/deploys', { state: 'on', ...REASON });
    assert.deepEqual([on.body.state, on.body.changed], ['on', true]);
    const again = await world.api(owner.token, 'POST', '/switches/deploys', { state: 'on', ...REASON });
    assert.equal(again.body.changed, false);
    const other = { state: 'off', ...REASON };
    assert.equal((await world.api(owner.token, 'POST', '/switches/toString', other)).status, 404);
    assert.equal((await world.api(technician.token, 'POST', '/switches/mail', other)).status, 403);
  });

  it('keeps the acts in the staff log and in the audit log', async () => {
    const { body } = await world.api(owner.token, 'GET', '/staff_log?target=deploys');
    const entries = body.data as { operation: string; reason: string }[];
    assert.deepEqual(
      entries.map(({ operation, reason }) => [operation, reason]),
      Array(3).fill(['switches.set', REASON.reason]),
    );
    const audit = JSON.stringify((await world.api(owner.token, 'GET', '/audit?limit=200')).body);
    for (const action of ['maintenance.start', 'maintenance.end', 'policy.block', 'policy.unblock'])
      assert.ok(audit.includes(`"${action}"`), action);
  });
});
