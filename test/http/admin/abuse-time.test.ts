import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { suspendLateReports } from '../../../src/domain/staff/abuse/acts.ts';
import { purgeExpired } from '../../../src/domain/upkeep/retention.ts';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import { type AbuseWorld, REPORTER, type Report, startAbuseWorld } from './abuse-world.ts';
import { fill, type Person } from './staff-world.ts';

describe('reports of abuse over time', () => {
  let world: AbuseWorld;
  let owner: Person;

  before(async () => {
    world = await startAbuseWorld();
    owner = await world.person('owner');
  });
  after(() => world.close());

  async function freezes(): Promise<number> {
    const acts = await world.opened.db.rows(
      `select from audit_events a join customers c on c.id = a.customer_id
        where a.action = 'server.freeze' and c.email = $1`,
      [world.owner.email],
    );
    return acts.length;
  }

  it('come from anyone by a form, which tells nothing and takes a few an hour', async () => {
    const stranger = PanelClient.forUrl(world.url);
    const page = await stranger.get('/abuse');
    assert.match(page.text, /href="\/abuse">Report abuse<\/a>/);
    const good = { address: world.server.ipv4, time: '2020-01-01 12:00', kind: 'ddos' };
    const wrong = await stranger.submit(page, 'report', { ...good, evidence: 'x', time: 'noon' });
    assert.equal(wrong.status, 400);
    assert.match(textOf(wrong.text), /Time \(UTC\) Invalid format/);
    const words = { ...good, evidence: '<b>Flood</b>', reporter: REPORTER };
    const sent = await fill(stranger, '/abuse', 'report', words);
    const [id = ''] = /abr_\w{26}/.exec(sent.text) ?? [];
    const ours = textOf(sent.text).replace(/abr_\w+/g, '');
    const foreign = await fill(stranger, '/abuse', 'report', { ...words, address: '198.51.100.9' });
    assert.equal(textOf(foreign.text).replace(/abr_\w+/g, ''), ours);
    const report = await world.staff('GET', `/abuse_reports/${id}`);
    assert.deepEqual(
      [report.body.source, report.body.state, report.body.reporter, report.body.time],
      ['form', 'open', REPORTER, '2020-01-01T12:00:00Z'],
    );
    assert.match(JSON.stringify((await world.staff('GET', '/status')).body), /not sent to a customer yet/);
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      statuses.push((await fill(stranger, '/abuse', 'report', { ...words, evidence: `log ${n}` })).status);
    }
    assert.equal(statuses.at(-1), 429, statuses.join());
  });

  it('are overdue when the deadline passes, and suspend the server once if staff asked for it', async () => {
    const before = await freezes();
    const plain = await world.record();
    await world.act(plain, 'forward', { deadline: world.inHours(1) });
    const answered = await world.record();
    const { ticket } = await world.act(answered, 'forward', {
      deadline: world.inHours(1),
      suspend_when_late: true,
    });
    await world.ofOwner.post(`/tickets/${ticket}/reply`, { text: 'Done.' });
    await world.advance(3_601);
    assert.deepEqual(
      [(await world.read(plain)).overdue, (await world.read(answered)).overdue],
      [true, false],
    );
    assert.equal(
      ((await world.staff('GET', `/servers/${world.server.id}`)).body as { frozen_at: null }).frozen_at,
      null,
    );
    const status = JSON.stringify((await world.staff('GET', '/status')).body);
    assert.match(status, /past their deadline/);
    const listed = (await world.staff('GET', '/abuse_reports?overdue=true')).body.data as Report[];
    assert.ok(listed.some(({ id }) => id === plain.id) && listed.every(({ overdue }) => overdue));

    const late = await world.record({ suspend_when_late: true });
    await world.act(late, 'forward', { deadline: world.inHours(1) });
    await world.advance(3_601);
    const shown = (await world.staff('GET', `/servers/${world.server.id}`)).body;
    assert.match(String(shown.freeze_reason), /^No answer to an abuse report by .* UTC \(tkt_/);
    assert.notEqual((await world.read(late)).suspended_at, null);
    await world.staff('POST', `/servers/${world.server.id}/release`, { reason: 'fixed' });
    const again = await suspendLateReports(world.opened.service, { limit: 10, except: [] });
    assert.deepEqual(again, { done: 0, failed: [] });
    await world.advance(60);
    assert.equal((await world.staff('GET', `/servers/${world.server.id}`)).body.frozen_at, null);
    assert.equal(await freezes(), before + 1);
  });

  it('wait for another answer until a later deadline, which the ticket shows', async () => {
    const report = await world.record();
    const { ticket } = await world.act(report, 'forward', { deadline: world.inHours(2) });
    await world.ofOwner.post(`/tickets/${ticket}/reply`, { text: 'OK.' });
    assert.equal((await world.read(report)).state, 'answered');
    const change = (body: object) => world.staff('POST', `/abuse_reports/${report.id}/change`, body);
    const earlier = await change({ deadline: world.inHours(1) });
    assert.equal(earlier.status, 400);
    assert.match(JSON.stringify(earlier.body), /"field":"deadline"/);
    const later = world.inHours(3);
    assert.equal((await change({ deadline: later })).status, 200);
    assert.equal((await world.read(report)).state, 'forwarded');
    const shown = await world.ofOwner.get(`/tickets/${ticket}`);
    assert.equal(Date.parse(String(shown.body.answer_by)), Date.parse(later));
  });

  it('do not freeze a server without a second person, if a rule asks for one', async () => {
    const report = await world.record();
    const rule = await world.api(owner.token, 'POST', '/approval_rules', { operation: 'servers.freeze' });
    assert.ok(rule.status < 300, JSON.stringify(rule.body));
    const held = await world.staff('POST', `/abuse_reports/${report.id}/suspend`, {
      ...{ message: 'Abuse', reason: 'spam' },
    });
    assert.equal(held.status, 202, JSON.stringify(held.body));
    const late = await world.staff('POST', `/abuse_reports/${report.id}/change`, { suspend_when_late: true });
    assert.equal(late.status, 409, JSON.stringify(late.body));
    await world.api(owner.token, 'DELETE', '/approval_rules/servers.freeze');
  });

  it('forget the reporter after 90 days, and the report after a year', async () => {
    const report = await world.record({ reporter: REPORTER });
    assert.equal((await world.read(report)).reporter, REPORTER);
    await world.act(report, 'close', { result: 'unfounded' });
    const { service } = world.opened;
    const age = async (days: number) => {
      const uuids = 'update abuse_reporters set expires_at = expires_at - $1::interval';
      await world.opened.db.run(uuids, [`${days} days`]);
      await world.opened.db.run(`update abuse_reports set closed_at = closed_at - $1::interval`, [
        `${days} days`,
      ]);
      for (const rule of ['abuseReporters', 'abuseReports'] as const) {
        for await (const _ of purgeExpired(service, rule));
      }
    };
    await age(89);
    assert.equal((await world.read(report)).reporter, REPORTER);
    await age(2);
    assert.equal((await world.read(report)).reporter, null);
    await age(275);
    assert.equal((await world.staff('GET', `/abuse_reports/${report.id}`)).status, 404);
  });

  it('are exported without the reporter, and keep nothing of a deleted account', async () => {
    const report = await world.record({ reporter: REPORTER });
    const hidden = await world.record({ reporter: REPORTER });
    await world.act(report, 'forward');
    const exported = await world.api(owner.token, 'POST', `/customers/${world.owner.email}/export`, {
      reason: 'asked',
    });
    const { abuse_reports: reports } = exported.body as { abuse_reports: { id: string; address: string }[] };
    assert.ok(reports.some(({ id, address }) => id === report.id && address === world.server.ipv4));
    assert.ok(!reports.some(({ id }) => id === hidden.id));
    assert.doesNotMatch(JSON.stringify(exported.body), /victim/);
    const gone = await world.api(owner.token, 'POST', `/customers/${world.owner.email}/delete`, {
      ...{ destroy_servers: true, reason: 'asked' },
    });
    assert.equal(gone.status, 200, JSON.stringify(gone.body));
    await world.settle();
    await world.advance(86_400);
    for (const id of [report.id, hidden.id]) {
      const { body } = await world.staff('GET', `/abuse_reports/${id}`);
      const { state, result, match, ...rest } = body;
      assert.deepEqual([state, match], ['closed', 'deleted'], JSON.stringify([result, rest]));
      for (const name of ['address', 'evidence', 'reporter', 'customer', 'customer_id', 'server', 'ticket']) {
        assert.equal(body[name], null, name);
      }
    }
  });
});
