import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ABUSE_KINDS } from '../../../src/spec/staff/abuse.ts';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import { type AbuseWorld, REPORTER, type Report, startAbuseWorld } from './abuse-world.ts';
import { fill } from './staff-world.ts';

describe('reports of abuse', () => {
  let world: AbuseWorld;

  before(async () => {
    world = await startAbuseWorld();
  });
  after(() => world.close());

  it('reach the customer in a ticket, whose answer comes back, until staff close them', async () => {
    const made = await fill(world.support.browser, '/abuse_reports', 'abuse_reports.create', {
      ...{ kind: 'spam', address: ` ${world.server.ipv4} `, time: world.inHours(0), reporter: REPORTER },
      evidence: `From ${REPORTER}\nThe log`,
    });
    const path = made.location?.split('?')[0] ?? '';
    assert.match(path, /^\/abuse_reports\/abr_\w{26}$/, made.text);
    const page = await world.support.browser.get(path);
    assert.match(textOf(page.text), /Spam: .* open .*A server had the address.*victim@elsewhere/);
    assert.ok(page.text.includes(`server s`) || page.text.includes(world.server.ipv4));
    const sent = await world.support.browser.submit(page, 'abuse_reports.forward', { evidence: 'The log' });
    assert.match(sent.location ?? '', /done=report_sent/, sent.text);
    await world.settle();

    const report = await world.read({ id: path.split('/')[2] ?? '' });
    assert.equal(report.state, 'forwarded');
    const ticket = (await world.ofOwner.get(`/tickets/${report.ticket}`)).body;
    assert.match(ticket.subject, /^Abuse report about /);
    assert.deepEqual([ticket.category, ticket.status], ['abuse', 'answered']);
    assert.equal(ticket.answer_by, report.deadline);
    assert.ok(ticket.messages[0].text.includes(world.server.ipv4));
    assert.equal(ticket.messages[0].files[0].name, 'evidence.txt');
    assert.doesNotMatch(JSON.stringify(ticket), /victim/);
    const panel = PanelClient.forUrl(world.url, { cookie: world.owner.cookie });
    const shown = await panel.get(`/support/${report.ticket}`);
    assert.match(textOf(shown.text), /Answer by /);
    const file = await panel.get(`/support/${report.ticket}/files/${ticket.messages[0].files[0].id}`);
    assert.equal(file.text, 'The log');
    const outbox = await fetch(`${world.url}/sandbox/mails?to=${encodeURIComponent(world.owner.email)}`);
    const { mails } = (await outbox.json()) as { mails: { subject: string; text: string }[] };
    const mail = mails.find(({ subject }) => subject.startsWith('Abuse report about'));
    assert.match(mail?.text ?? '', /We ask for your answer by/);

    await panel.submit(shown, 'reply', { text: 'We removed the script.' });
    assert.equal((await world.read(report)).state, 'answered');
    const ofStaff = textOf((await world.support.browser.get(`/tickets/${report.ticket}`)).text);
    assert.match(ofStaff, /Abuse report abr_.*Answer asked by.*We removed the script/);
    const closed = await fill(world.support.browser, path, 'abuse_reports.close', { result: 'fixed' });
    assert.match(closed.location ?? '', /done=saved/, closed.text);
    assert.equal((await world.read(report)).state, 'closed');
    assert.equal((await world.staff('POST', `/abuse_reports/${report.id}/forward`)).status, 409);
    const log = JSON.stringify((await world.staff('GET', `/staff_log`)).body);
    assert.ok(log.includes('abuse_reports.create'));
    for (const secret of [world.server.ipv4, 'victim', 'The log']) assert.ok(!log.includes(secret), secret);
  });

  it('are matched with who had the address at that time, not with who has it now', async () => {
    const former = await world.order(world.other);
    await world.opened.db.run(
      `insert into address_assignments (address, server_id, customer_id, assigned_at, released_at, expires_at)
       select $1::inet::cidr, id, customer_id, '2020-01-01', '2020-02-01', '2100-01-01' from servers s
        where exists (select from customers c where c.id = s.customer_id and c.email = $2)`,
      [world.server.ipv4, world.other.email],
    );
    const then = await world.record({ time: '2020-01-15T00:00:00Z' });
    assert.deepEqual([then.match, then.customer, then.server], ['matched', world.other.email, former.id]);
    const current = await world.record();
    assert.deepEqual([current.match, current.customer], ['matched', world.owner.email]);
    assert.equal((await world.record({ time: '2020-03-01T00:00:00Z' })).match, 'not_kept');
    const before = await world.record({ time: world.inHours(-2_000) });
    assert.deepEqual([before.match, before.customer], ['nobody', null]);
    assert.equal((await world.record({ address: '198.51.100.7' })).match, 'not_ours');
    const refused = await world.staff('POST', `/abuse_reports/${before.id}/forward`, {});
    assert.equal(refused.status, 409, JSON.stringify(refused.body));
    const corrected = await world.act(before, 'change', { time: world.inHours(0) });
    assert.deepEqual([corrected.match, corrected.customer], ['matched', world.owner.email]);
    assert.equal((await world.act(before, 'match')).match, 'matched');
    await world.act(before, 'forward');
    assert.equal((await world.staff('POST', `/abuse_reports/${before.id}/match`)).status, 409);
    const moved = { address: '198.51.100.7' };
    assert.equal((await world.staff('POST', `/abuse_reports/${before.id}/change`, moved)).status, 409);
  });

  it('freeze the server and block its mail in one step, with a reason', async () => {
    const report = await world.record();
    const path = `/abuse_reports/${report.id}`;
    const message = { message: 'Spam' };
    assert.equal((await world.staff('POST', `${path}/suspend`, message)).status, 400);
    await fill(world.support.browser, path, 'abuse_reports.suspend', { ...message, reason: 'it goes on' });
    assert.equal((await world.staff('GET', `/servers/${world.server.id}`)).body.freeze_reason, 'Spam');
    assert.notEqual((await world.read(report)).suspended_at, null);
    await world.staff('POST', `/servers/${world.server.id}/release`, { reason: 'fixed' });
    await world.staff('POST', `/servers/${world.server.id}/mail`, { allowed: true, reason: 'a test' });
    await fill(world.support.browser, path, 'abuse_reports.block_mail', { reason: 'spam' });
    assert.equal((await world.staff('GET', `/servers/${world.server.id}`)).body.mail_allowed, false);
  });

  it('write what staff set for the kind, and leave hostile names as they are', async () => {
    const text = 'See {server} {address} {time} {deadline} {nothing} $& <b>';
    const body = { text, deadline_hours: 5 };
    assert.equal((await world.staff('POST', '/abuse_templates/other', body)).status, 200);
    await world.opened.db.run(
      `update servers set name = '{deadline}' where name = (
      select name from servers s join customers c on c.id = s.customer_id where c.email = $1)`,
      [world.owner.email],
    );
    const report = await world.record({ kind: 'other', evidence: '\u001b[31m<script>alert(1)</script>' });
    assert.equal(report.deadline, world.inHours(5));
    const filled = report.proposal?.text ?? '';
    assert.ok(filled.startsWith(`See {deadline} ${world.server.ipv4} 20`), filled);
    assert.ok(filled.endsWith(' UTC {nothing} $& <b>'), filled);
    const page = (await world.support.browser.get(`/abuse_reports/${report.id}`)).text;
    assert.ok(!page.includes('<script>alert') && !page.includes('\u001b'));
    const { ticket } = await world.act(report, 'forward', { text: '{server} on {address}' });
    const { messages } = (await world.ofOwner.get(`/tickets/${ticket}`)).body;
    assert.equal(messages[0].text, `{deadline} on ${world.server.ipv4}`);
    assert.deepEqual(messages[0].files, []);
  });

  it('name the field of a wrong value', async () => {
    const good = { kind: 'spam', address: world.server.ipv4, time: world.inHours(0), evidence: 'x' };
    const wrong: readonly (readonly [field: string, value: unknown])[] = [
      ['kind', 'noise'],
      ['address', '203.0.113.0/24'],
      ['address', "1'; drop table abuse_reports"],
      ['address', 'fe80::1%eth0'],
      ['time', 'yesterday'],
      ['time', world.inHours(1)],
      ['evidence', ' \u0000 '],
      ['evidence', 'x'.repeat(16_001)],
      ['reporter', 'x'.repeat(256)],
      ['deadline', world.inHours(-1)],
      ['deadline', world.inHours(2_161)],
      ['suspend_when_late', 'yes'],
    ];
    for (const [field, value] of wrong) {
      const { status, body } = await world.staff('POST', '/abuse_reports', { ...good, [field]: value });
      assert.equal(status, 400, `${field}: ${JSON.stringify(body)}`);
      assert.ok(JSON.stringify(body).includes(field), JSON.stringify(body));
    }
    const report = await world.record();
    const path = `/abuse_reports/${report.id}`;
    for (const [verb, body, field] of [
      ['forward', { text: ' ' }, 'text'],
      ['forward', { text: 'x'.repeat(4_001) }, 'text'],
      ['forward', { deadline: 'soon' }, 'deadline'],
      ['change', { time: world.inHours(9) }, 'time'],
      ['close', { result: 'account_deleted' }, 'result'],
      ['close', {}, 'result'],
    ] as const) {
      const answer = await world.staff('POST', `${path}/${verb}`, body);
      assert.equal(answer.status, 400, `${verb}: ${JSON.stringify(answer.body)}`);
      assert.ok(JSON.stringify(answer.body).includes(field), JSON.stringify(answer.body));
    }
    assert.equal(
      (await world.staff('POST', '/abuse_templates/noise', { text: 'x', deadline_hours: 1 })).status,
      404,
    );
    assert.equal((await world.staff('GET', '/abuse_reports?server=web-1')).status, 400);
  });

  it('count on the pages of the customer and the server, and in the metrics', async () => {
    const counts = (await world.staff('GET', `/customers/${world.owner.email}`)).body.abuse_reports as {
      open: number;
      recent: number;
    };
    const ofCustomer = (await world.staff('GET', `/abuse_reports?customer=${world.owner.email}`)).body
      .data as Report[];
    assert.equal(counts.recent, ofCustomer.length);
    assert.equal(counts.open, ofCustomer.filter(({ state }) => state !== 'closed').length);
    assert.deepEqual((await world.staff('GET', `/servers/${world.server.id}`)).body.abuse_reports, counts);
    const words = `${counts.open} open, ${counts.recent} in 180 days`;
    for (const path of [`/customers/${world.owner.email}`, `/servers/${world.server.id}`]) {
      assert.ok(textOf((await world.support.browser.get(path)).text).includes(words), path);
    }
    const offenders = (await world.staff('GET', '/abuse_offenders')).body.data as { customer: string }[];
    assert.deepEqual(
      offenders.map((row) => row.customer),
      [world.owner.email, world.other.email],
    );
    const listed = (await world.staff('GET', `/abuse_reports?server=${world.server.id}&state=closed`)).body
      .data;
    assert.equal((listed as Report[]).length, 1);
    const page = await world.staff('GET', '/abuse_reports?limit=2');
    assert.equal(page.body.has_more, true);
    const [, second] = page.body.data as Report[];
    const next = (await world.staff('GET', `/abuse_reports?limit=1&before=${second?.id}`)).body
      .data as Report[];
    assert.ok(next[0] && (page.body.data as Report[]).every(({ id }) => id !== next[0]?.id));
    const metrics = await fetch(`${world.console}/metrics`, {
      headers: { authorization: `Bearer ${world.support.token}` },
    });
    assert.match(await metrics.text(), /^skerry_abuse_reports\{state="closed",kind="spam"\} 1$/m);
    const { data } = (await world.staff('GET', '/abuse_templates')).body;
    assert.deepEqual(
      (data as { id: string }[]).map(({ id }) => id),
      [...ABUSE_KINDS],
    );
  });

  it('are read by technicians, and changed by support and owners only', async () => {
    const report = await world.record();
    const technician = await world.person('technician');
    const path = `/abuse_reports/${report.id}`;
    assert.equal((await world.api(technician.token, 'GET', path)).status, 200);
    const refused = await world.api(technician.token, 'POST', `${path}/close`, { result: 'fixed' });
    assert.equal(refused.status, 403);
    const finance = await world.person('finance');
    assert.equal((await world.api(finance.token, 'GET', path)).status, 403);
  });
});
