import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HOUR_MS } from '../../../src/kernel/time.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

const REASON = { reason: 'ticket 12' };

describe('the stock of the host in the console', () => {
  let world: StaffWorld;
  let owner: Person;
  let technician: Person;
  let customer: SessionClient;
  let address = '';

  const find = async (text: string) =>
    await world.api(owner.token, 'GET', `/addresses/find?address=${encodeURIComponent(text)}`);
  const machine = async (name: string) => (await world.api(owner.token, 'GET', `/machines/${name}`)).body;
  const logs = async () => JSON.stringify((await world.api(owner.token, 'GET', '/staff_log?limit=200')).body);

  before(async () => {
    world = await startStaffWorld();
    owner = await world.person('owner');
    technician = await world.person('technician');
    customer = await world.customer(60);
    const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };
    await customer.post('/deploy-api.php', { ...order, root_password: 'correct horse battery' });
    await world.settle();
    const { body } = await world.api(owner.token, 'GET', '/servers');
    address = (body.data as { ipv4: string }[])[0]?.ipv4 ?? '';
  });
  after(() => world.close());

  it('shows who has an address, and has no address in a URL', async () => {
    const { body } = await find(address);
    assert.deepEqual([body.state, body.customer, body.region], ['assigned', customer.email, 'par']);
    const page = await fill(owner.browser, '/addresses', 'lookup', { address });
    assert.equal(page.status, 200);
    assert.match(textOf(page.text), /assigned/);
    assert.match(page.text, /href="\/servers\/srv_/);
    assert.equal((await find('192.0.2.1')).status, 404);
    for (const text of ['par', '10.0.0.0/8']) assert.equal((await find(text)).status, 400, text);
    const refused = await fill(owner.browser, '/addresses', 'lookup', { address: 'nonsense' });
    assert.match(textOf(refused.text), /Enter an IPv4 or IPv6 address/);
  });

  it('tells who had an address at a time, also when the server is gone', async () => {
    const { id } = ((await world.api(owner.token, 'GET', '/servers')).body.data as { id: string }[])[0] ?? {};
    const { history } = (await find(address)).body as { history: Record<string, string | null>[] };
    assert.deepEqual(
      history.map((row) => [row.server, row.customer_email, row.until]),
      [[id, customer.email, null]],
    );
    const had = world.opened.clock.now().toISOString();
    await world.api(owner.token, 'POST', `/servers/${id}/delete`, REASON);
    await world.settle();
    const later = new Date(world.opened.clock.now().getTime() + HOUR_MS).toISOString();
    const at = async (time: string) => {
      const query = new URLSearchParams({ address, at: time });
      const { body } = await world.api(owner.token, 'GET', `/addresses/find?${query}`);
      return (body.history as Record<string, string | null>[]).map((row) => [row.server, row.server_name]);
    };
    assert.deepEqual([await at(had), await at(later)], [[[id, null]], []]);
    const kept = await world.opened.db.row<{ days: number }>(
      'select expires_at::date - released_at::date as days from address_assignments',
    );
    assert.deepEqual(kept, { days: LIMITS.addressHistoryDays });
    const page = await fill(owner.browser, '/addresses', 'lookup', { address, at: had });
    assert.match(textOf(page.text), new RegExp(`Who had it.*${id ?? '-'}.*${customer.email}`, 's'));
    const bad = await fill(owner.browser, '/addresses', 'lookup', { address, at: 'noon' });
    assert.match(textOf(bad.text), /Enter a time such as/);
  });

  it('adds, blocks, and unblocks addresses, and keeps them out of the staff log', async () => {
    const block = '203.0.113.0/29';
    const added = await fill(technician.browser, '/addresses', 'addresses.add', { region: 'par', block });
    assert.equal(added.location, '/addresses?done=saved', textOf(added.text));
    const range = '203.0.113.4';
    const blocked = await fill(technician.browser, '/addresses', 'addresses.block', { range, ...REASON });
    assert.equal(blocked.location, '/addresses?done=saved', textOf(blocked.text));
    assert.equal((await find(range)).body.state, 'blocked');
    const again = await world.api(technician.token, 'POST', '/addresses/unblock', { range, ...REASON });
    assert.deepEqual([again.status, again.body.changed], [200, 1]);
    assert.equal((await find(range)).body.state, 'free');
    const bad = await world.api(technician.token, 'POST', '/addresses/block', { range: 'x', ...REASON });
    assert.equal(bad.status, 400);
    assert.ok(!(await logs()).includes('203.0.113'), await logs());
  });

  it('lists images of the host and of customers', async () => {
    const { body } = await world.api(owner.token, 'GET', '/images');
    assert.ok((body.data as { name: string }[]).some(({ name }) => name === 'debian-12'));
    const custom = await world.api(owner.token, 'GET', `/custom_images?customer=${customer.email}`);
    assert.deepEqual(custom.body.data, []);
    assert.equal((await world.api(owner.token, 'GET', '/custom_images?customer=no@example.org')).status, 400);
  });

  it('sells, wipes, and removes machines that no driver controls', async () => {
    const { compute } = world.opened.service;
    const capabilities = { ...compute.capabilities, dedicated: null };
    Object.defineProperty(compute, 'capabilities', { value: capabilities });
    const added = await fill(technician.browser, '/machines', 'machines.add', {
      ...{ name: 'par-m9', region: 'par', plan: 'r1' },
    });
    assert.equal(added.location, '/machines/par-m9?done=saved', textOf(added.text));
    const poor = await fill(technician.browser, '/machines/par-m9', 'machines.fulfill', {
      ...{ customer: customer.email, image: 'debian-13', months: '1', ...REASON },
    });
    assert.match(textOf(poor.text), /nothing was sold/);
    await world.addBalance(customer, 100_000n);
    const sold = await fill(technician.browser, '/machines/par-m9', 'machines.fulfill', {
      ...{ customer: customer.email, image: 'debian-13', months: '1', ...REASON },
    });
    const id = /srv_\w+/.exec(sold.text)?.[0] ?? assert.fail(textOf(sold.text));
    assert.match(textOf(sold.text), /Gateway/);
    assert.deepEqual([(await machine('par-m9')).state, (await machine('par-m9')).server], ['sold', id]);
    const kept = await world.api(technician.token, 'POST', '/machines/par-m9/remove', REASON);
    assert.equal(kept.status, 400);
    await fill(technician.browser, '/machines/par-m9', 'machines.record_power', { power: 'off' });
    assert.equal((await machine('par-m9')).due, 'power it on');
    const due = await world.api(owner.token, 'GET', '/machines?due=true');
    assert.deepEqual(
      (due.body.data as { id: string }[]).map((row) => row.id),
      ['par-m9'],
    );
    await world.api(owner.token, 'POST', `/servers/${id}/delete`, REASON);
    await world.settle();
    assert.equal((await machine('par-m9')).state, 'wiping');
    const wipe = { method: 'nvme format', ...REASON };
    await fill(technician.browser, '/machines/par-m9', 'machines.record_wipe', wipe);
    await fill(technician.browser, '/machines/par-m9', 'machines.put_on_sale', REASON);
    assert.equal((await machine('par-m9')).state, 'free');
    const removed = await fill(technician.browser, '/machines/par-m9', 'machines.remove', REASON);
    assert.equal(removed.location, '/machines?done=saved', textOf(removed.text));
    assert.equal((await world.api(owner.token, 'GET', '/machines/par-m9')).status, 404);
  });
});
