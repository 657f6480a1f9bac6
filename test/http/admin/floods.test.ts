import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import { type FloodWorld, INTO, startFloodWorld } from './flood-world.ts';
import { fill, type Person } from './staff-world.ts';

describe('floods that staff decide about', () => {
  let at: FloodWorld;
  let support: Person;
  before(async () => {
    at = await startFloodWorld();
    support = await at.world.person('support');
  });
  after(() => at.world.close());
  /** Ends the flood of the previous test. */
  beforeEach(async () => {
    await at.flood(null);
    await at.staff('POST', `/servers/${at.server.id}/lift_blackhole`, { reason: 'a test ended' });
    await at.world.advance(301);
    await at.samples(1);
    assert.deepEqual(await at.floods('?state=open'), []);
  });

  it('are noticed after three samples in a row, shown to staff, and end when they stop', async () => {
    const known = (await at.floods()).length;
    await at.flood(INTO);
    await at.samples(2);
    assert.equal((await at.floods()).length, known);
    await at.flood(null);
    await at.samples(1);
    await at.flood(INTO);
    await at.samples(2);
    assert.equal((await at.floods()).length, known);
    await at.flood({ ...INTO, packetsPerS: 300_000 });
    await at.samples(1);
    const flood = await at.latest();
    assert.deepEqual(
      [flood.state, flood.direction, flood.address, flood.server, flood.customer, flood.peak_packets_per_s],
      ['open', 'in', 'ipv4', at.server.id, at.owner.email, 300_000],
    );
    assert.deepEqual(await at.blackholed(), []);
    assert.match(JSON.stringify((await at.staff('GET', '/status')).body), /1 inbound, not blackholed/);
    const metrics = await fetch(`${at.world.console}/metrics`, {
      headers: { authorization: `Bearer ${at.technician.token}` },
    });
    assert.match(await metrics.text(), /skerry_floods\{direction="in",blackholed="no"\} 1/);
    const overview = textOf((await at.technician.browser.get('/')).text);
    assert.match(overview, /1 inbound, not blackholed/);
    const page = await at.technician.browser.get(`/floods/${flood.id}`);
    assert.match(textOf(page.text), /Flood to the server .*300,000/);
    await at.flood(null);
    await at.world.advance(301);
    await at.samples(1);
    const ended = await at.latest();
    assert.deepEqual([ended.id, ended.state, ended.ending], [flood.id, 'ended', 'stopped']);
    const refused = await at.staff('POST', `/floods/${flood.id}/blackhole`, { minutes: 5, reason: 'x' });
    assert.equal(refused.status, 409);
  });

  it('have a direction and a family, and begin at the limit', async () => {
    const known = (await at.floods()).length;
    await at.flood({ direction: 'in', family: 6, packetsPerS: 99_999 });
    await at.samples(4);
    assert.equal((await at.floods()).length, known);
    await at.flood({ direction: 'out', family: 6, packetsPerS: 60_000 });
    await at.samples(3);
    const flood = await at.latest();
    assert.deepEqual([flood.direction, flood.address], ['out', 'ipv6']);
    assert.deepEqual((await at.floods('?direction=in&state=open')).length, 0);
    assert.deepEqual((await at.floods(`?server=${at.server.id}&state=open`)).length, 1);
    assert.deepEqual((await at.floods(`?customer=${at.owner.email}&direction=out`)).length, 1);
  });

  it('are blackholed in the console with a reason and an end, and mailed to the customer', async () => {
    await at.flood(INTO);
    await at.samples(3);
    const { id } = await at.latest();
    const path = `/floods/${id}`;
    const unexplained = await at.staff('POST', `${path}/blackhole`, { minutes: 30 });
    assert.equal(unexplained.status, 400);
    const done = await fill(at.technician.browser, path, 'floods.blackhole', {
      ...{ address: 'ipv4', minutes: '30', reason: 'the uplink is full' },
    });
    assert.match(done.location ?? '', /done=blackholed/, done.text);
    await at.world.settle();
    assert.deepEqual(await at.blackholed(), [4]);
    assert.equal((await at.latest()).state, 'blackholed');
    assert.match(JSON.stringify((await at.staff('GET', '/status')).body), /1 blackholed/);

    const [mail = ''] = await at.mails(/^We drop the traffic of/);
    assert.match(mail, /at its IPv4 address\.\s+A flood of packets to it/);
    assert.ok(!mail.includes(at.server.ipv4));
    const panel = PanelClient.forUrl(at.world.url, { cookie: at.owner.cookie });
    const page = textOf((await panel.get(`/servers/${at.server.id}`)).text);
    assert.match(page, /We drop all packets to and from the IPv4 address of this server until 20/);
    const ofStaff = textOf((await at.technician.browser.get(`/servers/${at.server.id}`)).text);
    assert.match(ofStaff, /Blackholed until/);

    await at.world.advance(29 * 60);
    assert.deepEqual(await at.blackholed(), [4]);
    await at.flood(null);
    await at.world.advance(61);
    assert.deepEqual(await at.blackholed(), []);
    const lifted = await at.latest();
    assert.deepEqual([lifted.state, lifted.lifted_by, lifted.blackholes], ['open', 'time', 1]);
    assert.equal((await at.mails(/^The traffic of .* passes again/)).length, 1);
    assert.ok(!textOf((await panel.get(`/servers/${at.server.id}`)).text).includes('We drop all packets'));
    const audit = JSON.stringify((await at.staff('GET', `/audit?resource=${at.server.id}`)).body);
    for (const action of ['server.blackhole"', 'server.lift_blackhole"']) assert.ok(audit.includes(action));
    const log = JSON.stringify((await at.staff('GET', '/staff_log')).body);
    assert.match(log, /floods\.blackhole.*the uplink is full|the uplink is full.*floods\.blackhole/);
    for (const text of [audit, log]) assert.ok(!text.includes(at.server.ipv4));
  });

  it('a server is blackholed without a flood, for another time, and lifted by hand', async () => {
    const path = `/servers/${at.server.id}`;
    await at.staff('POST', `${path}/blackhole`, { address: 'both', minutes: 10, reason: 'a test' });
    await at.world.settle();
    assert.deepEqual(await at.blackholed(), [4, 6]);
    const again = { address: 'ipv6', minutes: 60, reason: 'a test' };
    const changed = await at.staff('POST', `${path}/blackhole`, again);
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    await at.world.settle();
    assert.deepEqual(await at.blackholed(), [6]);
    await at.world.advance(601);
    assert.deepEqual(await at.blackholed(), [6]);
    const done = await fill(at.technician.browser, path, 'servers.lift_blackhole', { reason: 'it stopped' });
    assert.match(done.location ?? '', /done=lifted/, done.text);
    await at.world.settle();
    assert.deepEqual(await at.blackholed(), []);
    // A host that knows more than a restored database gets the state again.
    await at.world.opened.db.run(`update sim.machines set blackholed = '{4}'`);
    assert.equal((await at.staff('POST', `${path}/lift_blackhole`, { reason: 'again' })).status, 409);
    await at.world.settle();
    assert.deepEqual(await at.blackholed(), []);
  });

  it('a blackhole reaches the host that a server moves to, and survives its restart', async () => {
    const path = `/servers/${at.server.id}`;
    await at.staff('POST', `${path}/blackhole`, { address: 'ipv4', minutes: 60, reason: 'a test' });
    await at.staff('POST', `${path}/power`, { action: 'reboot', reason: 'a test' });
    await at.world.settle();
    const before = (await at.staff('GET', path)).body.host;
    const moved = await at.staff('POST', `${path}/move`, { reason: 'a test' });
    assert.equal(moved.status, 200, JSON.stringify(moved.body));
    await at.world.advance(120);
    assert.notEqual((await at.staff('GET', path)).body.host, before);
    assert.deepEqual(await at.blackholed(), [4]);
  });

  it('refuse other roles, and name the field of a wrong value', async () => {
    await at.flood(INTO);
    await at.samples(3);
    const { id } = await at.latest();
    const order = { minutes: 5, reason: 'x' };
    const denied = await at.world.api(support.token, 'POST', `/floods/${id}/blackhole`, order);
    assert.equal(denied.status, 403);
    assert.equal((await at.world.api(support.token, 'GET', `/floods/${id}`)).status, 200);
    for (const [body, field] of [
      [{ minutes: 0 }, 'minutes'],
      [{ minutes: 10_081 }, 'minutes'],
      [{ minutes: 5, address: 'all' }, 'address'],
    ] as const) {
      const answer = await at.staff('POST', `/floods/${id}/blackhole`, { ...body, reason: 'x' });
      assert.equal(answer.status, 400);
      assert.ok(JSON.stringify(answer.body).includes(`"${field}"`), JSON.stringify(answer.body));
    }
    assert.equal((await at.staff('GET', '/floods/fld_unknown')).status, 404);
    assert.equal((await at.staff('POST', '/floods/fld_unknown/lift', { reason: 'x' })).status, 404);
    assert.equal((await at.staff('GET', '/floods?server=x')).status, 400);
    assert.equal((await at.staff('POST', `/floods/${id}/lift`, { reason: 'x' })).status, 409);
  });

  it('of a server that sends one become a report of abuse, with what was counted', async () => {
    // The session of the other person has expired on this clock.
    const { browser } = await at.world.person('support', 'later@host.example');
    await at.flood({ direction: 'out', family: 4, packetsPerS: 70_000 });
    await at.samples(3);
    const { id } = await at.latest();
    const made = await fill(browser, `/floods/${id}`, 'abuse_reports.create', {});
    assert.match(made.location ?? '', /^\/abuse_reports\/abr_\w{26}/, made.text);
    const report = textOf((await browser.get(made.location?.split('?')[0] ?? '')).text);
    assert.match(report, /Denial of service: .*A server had the address/);
    assert.match(report, /up to 70000 packets per second from the server/);
    assert.ok(report.includes(at.server.ipv4));
    await at.flood(INTO);
    await at.samples(3);
    const wayIn = await browser.get(`/floods/${(await at.latest()).id}`);
    assert.ok(!wayIn.text.includes('Record an abuse report'));
  });

  it('nothing is concluded from a host that does not answer', async () => {
    // Before the flood: on a slow machine, samples of their own time may come in between.
    const known = (await at.floods()).length;
    await at.flood(INTO);
    await at.samples(2);
    const { body } = await at.staff('GET', `/servers/${at.server.id}`);
    await at.world.simulator.setHostDown(String(body.host), true);
    await at.samples(1);
    await at.world.simulator.setHostDown(String(body.host), false);
    await at.samples(1);
    assert.equal((await at.floods()).length, known + 1);
  });
});
