import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { suspendLateReports } from '../../../src/domain/staff/abuse/acts.ts';
import { purgeExpired } from '../../../src/domain/upkeep/retention.ts';
import { formatRfc3339, HOUR_MS } from '../../../src/kernel/time.ts';
import { ABUSE_KINDS } from '../../../src/spec/staff/abuse.ts';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

interface Report {
  readonly id: string;
  readonly state: string;
  readonly overdue: boolean;
  readonly match: string;
  readonly server: string | null;
  readonly customer: string | null;
  readonly ticket: string | null;
  readonly deadline: string;
  readonly suspended_at: string | null;
  readonly reporter: string | null;
  readonly proposal: { readonly text: string } | null;
}

const REPORTER = 'victim@elsewhere.example';

describe('reports of abuse', () => {
  let world: StaffWorld;
  let support: Person;
  let customer: SessionClient;
  let other: SessionClient;
  let api: V1Client;
  let server: { readonly id: string; readonly ipv4: string };

  before(async () => {
    world = await startStaffWorld();
    support = await world.person('support');
    customer = await world.customer(60);
    other = await world.customer(60);
    api = V1Client.forUrl(world.url, await createApiToken(customer));
    server = await order(customer);
  });
  after(() => world.close());

  async function order(owner: SessionClient): Promise<{ readonly id: string; readonly ipv4: string }> {
    const ordered = await owner.post('/deploy-api.php', {
      ...{ product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 },
      root_password: 'a root password',
    });
    assert.equal(ordered.body.ok, true, JSON.stringify(ordered.body));
    await world.settle();
    const { body } = await staff('GET', `/servers?customer=${owner.email}`);
    return (body.data as { id: string; ipv4: string }[])[0] ?? assert.fail('no server');
  }
  const staff = (method: string, path: string, body?: object) => world.api(support.token, method, path, body);
  const now = () => world.opened.service.clock.now();
  const inHours = (hours: number) => formatRfc3339(new Date(now().getTime() + hours * HOUR_MS));

  async function record(more: object = {}): Promise<Report> {
    const made = await staff('POST', '/abuse_reports', {
      ...{ kind: 'spam', address: server.ipv4, time: inHours(0), evidence: 'Mail of 12:00.\nReceived: x' },
      ...more,
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body as unknown as Report;
  }
  const read = async ({ id }: { readonly id: string }) =>
    (await staff('GET', `/abuse_reports/${id}`)).body as unknown as Report;
  const act = async ({ id }: { readonly id: string }, verb: string, body?: object) => {
    const done = await staff('POST', `/abuse_reports/${id}/${verb}`, body);
    assert.equal(done.status, 200, JSON.stringify(done.body));
    return done.body as unknown as Report;
  };

  async function freezes(): Promise<number> {
    const acts = await world.opened.db.rows(
      `select from audit_events a join customers c on c.id = a.customer_id
        where a.action = 'server.freeze' and c.email = $1`,
      [customer.email],
    );
    return acts.length;
  }

  it('reach the customer in a ticket, whose answer comes back, until staff close them', async () => {
    const made = await fill(support.browser, '/abuse_reports', 'abuse_reports.create', {
      ...{ kind: 'spam', address: ` ${server.ipv4} `, time: inHours(0), reporter: REPORTER },
      evidence: `From ${REPORTER}\nThe log`,
    });
    const path = made.location?.split('?')[0] ?? '';
    assert.match(path, /^\/abuse_reports\/abr_\w{26}$/, made.text);
    const page = await support.browser.get(path);
    assert.match(textOf(page.text), /Spam: .* open .*A server had the address.*victim@elsewhere/);
    assert.ok(page.text.includes(`server s`) || page.text.includes(server.ipv4));
    const sent = await support.browser.submit(page, 'abuse_reports.forward', { evidence: 'The log' });
    assert.match(sent.location ?? '', /done=report_sent/, sent.text);
    await world.settle();

    const report = await read({ id: path.split('/')[2] ?? '' });
    assert.equal(report.state, 'forwarded');
    const ticket = (await api.get(`/tickets/${report.ticket}`)).body;
    assert.match(ticket.subject, /^Abuse report about /);
    assert.deepEqual([ticket.category, ticket.status], ['abuse', 'answered']);
    assert.equal(ticket.answer_by, report.deadline);
    assert.ok(ticket.messages[0].text.includes(server.ipv4));
    assert.equal(ticket.messages[0].files[0].name, 'evidence.txt');
    assert.doesNotMatch(JSON.stringify(ticket), /victim/);
    const panel = PanelClient.forUrl(world.url, { cookie: customer.cookie });
    const shown = await panel.get(`/support/${report.ticket}`);
    assert.match(textOf(shown.text), /Answer by /);
    const file = await panel.get(`/support/${report.ticket}/files/${ticket.messages[0].files[0].id}`);
    assert.equal(file.text, 'The log');
    const outbox = await fetch(`${world.url}/sandbox/mails?to=${encodeURIComponent(customer.email)}`);
    const { mails } = (await outbox.json()) as { mails: { subject: string; text: string }[] };
    const mail = mails.find(({ subject }) => subject.startsWith('Abuse report about'));
    assert.match(mail?.text ?? '', /Answer in the ticket by/);

    await panel.submit(shown, 'reply', { text: 'We removed the script.' });
    assert.equal((await read(report)).state, 'answered');
    const ofStaff = textOf((await support.browser.get(`/tickets/${report.ticket}`)).text);
    assert.match(ofStaff, /Abuse report abr_.*Answer asked by.*We removed the script/);
    const closed = await fill(support.browser, path, 'abuse_reports.close', { result: 'fixed' });
    assert.match(closed.location ?? '', /done=saved/, closed.text);
    assert.equal((await read(report)).state, 'closed');
    assert.equal((await staff('POST', `/abuse_reports/${report.id}/forward`)).status, 409);
    const log = JSON.stringify((await staff('GET', `/staff_log`)).body);
    assert.ok(log.includes('abuse_reports.create'));
    for (const secret of [server.ipv4, 'victim', 'The log']) assert.ok(!log.includes(secret), secret);
  });

  it('are matched with who had the address at that time, not with who has it now', async () => {
    const former = await order(other);
    await world.opened.db.run(
      `insert into address_assignments (address, server_id, customer_id, assigned_at, released_at, expires_at)
       select $1::inet::cidr, id, customer_id, '2020-01-01', '2020-02-01', '2100-01-01' from servers s
        where exists (select from customers c where c.id = s.customer_id and c.email = $2)`,
      [server.ipv4, other.email],
    );
    const then = await record({ time: '2020-01-15T00:00:00Z' });
    assert.deepEqual([then.match, then.customer, then.server], ['matched', other.email, former.id]);
    const current = await record();
    assert.deepEqual([current.match, current.customer], ['matched', customer.email]);
    assert.equal((await record({ time: '2020-03-01T00:00:00Z' })).match, 'not_kept');
    const before = await record({ time: inHours(-2_000) });
    assert.deepEqual([before.match, before.customer], ['nobody', null]);
    assert.equal((await record({ address: '198.51.100.7' })).match, 'not_ours');
    const refused = await staff('POST', `/abuse_reports/${before.id}/forward`, {});
    assert.equal(refused.status, 409, JSON.stringify(refused.body));
    const corrected = await act(before, 'change', { time: inHours(0) });
    assert.deepEqual([corrected.match, corrected.customer], ['matched', customer.email]);
    assert.equal((await act(before, 'match')).match, 'matched');
    await act(before, 'forward');
    assert.equal((await staff('POST', `/abuse_reports/${before.id}/match`)).status, 409);
    const moved = { address: '198.51.100.7' };
    assert.equal((await staff('POST', `/abuse_reports/${before.id}/change`, moved)).status, 409);
  });

  it('freeze the server and block its mail in one step, with a reason', async () => {
    const report = await record();
    const path = `/abuse_reports/${report.id}`;
    const message = { message: 'Spam' };
    assert.equal((await staff('POST', `${path}/suspend`, message)).status, 400);
    await fill(support.browser, path, 'abuse_reports.suspend', { ...message, reason: 'it goes on' });
    assert.equal((await staff('GET', `/servers/${server.id}`)).body.freeze_reason, 'Spam');
    assert.notEqual((await read(report)).suspended_at, null);
    await staff('POST', `/servers/${server.id}/release`, { reason: 'fixed' });
    await staff('POST', `/servers/${server.id}/mail`, { allowed: true, reason: 'a test' });
    await fill(support.browser, path, 'abuse_reports.block_mail', { reason: 'spam' });
    assert.equal((await staff('GET', `/servers/${server.id}`)).body.mail_allowed, false);
  });

  it('write what staff set for the kind, and leave hostile names as they are', async () => {
    const text = 'See {server} {address} {time} {deadline} {nothing} $& <b>';
    const body = { text, deadline_hours: 5 };
    assert.equal((await staff('POST', '/abuse_templates/other', body)).status, 200);
    await world.opened.db.run(
      `update servers set name = '{deadline}' where name = (
      select name from servers s join customers c on c.id = s.customer_id where c.email = $1)`,
      [customer.email],
    );
    const report = await record({ kind: 'other', evidence: '\u001b[31m<script>alert(1)</script>' });
    assert.equal(report.deadline, inHours(5));
    const filled = report.proposal?.text ?? '';
    assert.ok(filled.startsWith(`See {deadline} ${server.ipv4} 20`), filled);
    assert.ok(filled.endsWith(' UTC {nothing} $& <b>'), filled);
    const page = (await support.browser.get(`/abuse_reports/${report.id}`)).text;
    assert.ok(!page.includes('<script>alert') && !page.includes('\u001b'));
    const { ticket } = await act(report, 'forward', { text: '{server} on {address}' });
    const { messages } = (await api.get(`/tickets/${ticket}`)).body;
    assert.equal(messages[0].text, `{deadline} on ${server.ipv4}`);
    assert.deepEqual(messages[0].files, []);
  });

  it('name the field of a wrong value', async () => {
    const good = { kind: 'spam', address: server.ipv4, time: inHours(0), evidence: 'x' };
    const wrong: readonly (readonly [field: string, value: unknown])[] = [
      ['kind', 'noise'],
      ['address', '203.0.113.0/24'],
      ['address', "1'; drop table abuse_reports"],
      ['address', 'fe80::1%eth0'],
      ['time', 'yesterday'],
      ['time', inHours(1)],
      ['evidence', ' \u0000 '],
      ['evidence', 'x'.repeat(16_001)],
      ['reporter', 'x'.repeat(256)],
      ['deadline', inHours(-1)],
      ['deadline', inHours(2_161)],
      ['suspend_when_late', 'yes'],
    ];
    for (const [field, value] of wrong) {
      const { status, body } = await staff('POST', '/abuse_reports', { ...good, [field]: value });
      assert.equal(status, 400, `${field}: ${JSON.stringify(body)}`);
      assert.ok(JSON.stringify(body).includes(field), JSON.stringify(body));
    }
    const report = await record();
    const path = `/abuse_reports/${report.id}`;
    for (const [verb, body, field] of [
      ['forward', { text: ' ' }, 'text'],
      ['forward', { text: 'x'.repeat(4_001) }, 'text'],
      ['forward', { deadline: 'soon' }, 'deadline'],
      ['change', { time: inHours(9) }, 'time'],
      ['close', { result: 'account_deleted' }, 'result'],
      ['close', {}, 'result'],
    ] as const) {
      const answer = await staff('POST', `${path}/${verb}`, body);
      assert.equal(answer.status, 400, `${verb}: ${JSON.stringify(answer.body)}`);
      assert.ok(JSON.stringify(answer.body).includes(field), JSON.stringify(answer.body));
    }
    assert.equal(
      (await staff('POST', '/abuse_templates/noise', { text: 'x', deadline_hours: 1 })).status,
      404,
    );
    assert.equal((await staff('GET', '/abuse_reports?server=web-1')).status, 400);
  });

  it('count on the pages of the customer and the server, among the offenders, and in the metrics', async () => {
    const counts = (await staff('GET', `/customers/${customer.email}`)).body.abuse_reports as {
      open: number;
      recent: number;
    };
    const ofCustomer = (await staff('GET', `/abuse_reports?customer=${customer.email}`)).body
      .data as Report[];
    assert.equal(counts.recent, ofCustomer.length);
    assert.equal(counts.open, ofCustomer.filter(({ state }) => state !== 'closed').length);
    assert.deepEqual((await staff('GET', `/servers/${server.id}`)).body.abuse_reports, counts);
    const words = `${counts.open} open, ${counts.recent} in 180 days`;
    for (const path of [`/customers/${customer.email}`, `/servers/${server.id}`]) {
      assert.ok(textOf((await support.browser.get(path)).text).includes(words), path);
    }
    const offenders = (await staff('GET', '/abuse_offenders')).body.data as { customer: string }[];
    assert.deepEqual(
      offenders.map((row) => row.customer),
      [customer.email, other.email],
    );
    const listed = (await staff('GET', `/abuse_reports?server=${server.id}&state=closed`)).body.data;
    assert.equal((listed as Report[]).length, 1);
    const page = await staff('GET', '/abuse_reports?limit=2');
    assert.equal(page.body.has_more, true);
    const [, second] = page.body.data as Report[];
    const next = (await staff('GET', `/abuse_reports?limit=1&before=${second?.id}`)).body.data as Report[];
    assert.ok((next[0]?.id ?? '') < (second?.id ?? ''));
    const metrics = await fetch(`${world.console}/metrics`, {
      headers: { authorization: `Bearer ${support.token}` },
    });
    assert.match(await metrics.text(), /^skerry_abuse_reports\{state="closed",kind="spam"\} 1$/m);
    const { data } = (await staff('GET', '/abuse_templates')).body;
    assert.deepEqual(
      (data as { id: string }[]).map(({ id }) => id),
      [...ABUSE_KINDS],
    );
  });

  it('are read by technicians, and changed by support and owners only', async () => {
    const report = await record();
    const technician = await world.person('technician');
    const path = `/abuse_reports/${report.id}`;
    assert.equal((await world.api(technician.token, 'GET', path)).status, 200);
    const refused = await world.api(technician.token, 'POST', `${path}/close`, { result: 'fixed' });
    assert.equal(refused.status, 403);
    const finance = await world.person('finance');
    assert.equal((await world.api(finance.token, 'GET', path)).status, 403);
  });

  it('are overdue when the deadline passes, and suspend the server once if staff asked for it', async () => {
    const before = await freezes();
    const plain = await record();
    await act(plain, 'forward', { deadline: inHours(1) });
    const answered = await record();
    const { ticket } = await act(answered, 'forward', { deadline: inHours(1), suspend_when_late: true });
    await api.post(`/tickets/${ticket}/reply`, { text: 'Done.' });
    await world.advance(3_601);
    assert.deepEqual([(await read(plain)).overdue, (await read(answered)).overdue], [true, false]);
    assert.equal(((await staff('GET', `/servers/${server.id}`)).body as { frozen_at: null }).frozen_at, null);
    const status = JSON.stringify((await staff('GET', '/status')).body);
    assert.match(status, /past their deadline/);
    const listed = (await staff('GET', '/abuse_reports?overdue=true')).body.data as Report[];
    assert.ok(listed.some(({ id }) => id === plain.id) && listed.every(({ overdue }) => overdue));

    const late = await record({ suspend_when_late: true });
    await act(late, 'forward', { deadline: inHours(1) });
    await world.advance(3_601);
    const shown = (await staff('GET', `/servers/${server.id}`)).body;
    assert.match(String(shown.freeze_reason), /^No answer to an abuse report by .* UTC \(tkt_/);
    assert.notEqual((await read(late)).suspended_at, null);
    await staff('POST', `/servers/${server.id}/release`, { reason: 'fixed' });
    const again = await suspendLateReports(world.opened.service, { limit: 10, except: [] });
    assert.deepEqual(again, { done: 0, failed: [] });
    await world.advance(60);
    assert.equal((await staff('GET', `/servers/${server.id}`)).body.frozen_at, null);
    assert.equal(await freezes(), before + 1);
  });

  it('forget the reporter after 90 days, and the report after a year', async () => {
    const report = await record({ reporter: REPORTER });
    assert.equal((await read(report)).reporter, REPORTER);
    await act(report, 'close', { result: 'unfounded' });
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
    assert.equal((await read(report)).reporter, REPORTER);
    await age(2);
    assert.equal((await read(report)).reporter, null);
    await age(275);
    assert.equal((await staff('GET', `/abuse_reports/${report.id}`)).status, 404);
  });

  it('are in the export of their customer without the reporter, and keep nothing of a deleted account', async () => {
    const report = await record({ reporter: REPORTER });
    const hidden = await record({ reporter: REPORTER });
    await act(report, 'forward');
    const owner = await world.person('owner');
    const exported = await world.api(owner.token, 'POST', `/customers/${customer.email}/export`, {
      reason: 'asked',
    });
    const { abuse_reports: reports } = exported.body as { abuse_reports: { id: string; address: string }[] };
    assert.ok(reports.some(({ id, address }) => id === report.id && address === server.ipv4));
    assert.ok(!reports.some(({ id }) => id === hidden.id));
    assert.doesNotMatch(JSON.stringify(exported.body), /victim/);
    const gone = await world.api(owner.token, 'POST', `/customers/${customer.email}/delete`, {
      ...{ destroy_servers: true, reason: 'asked' },
    });
    assert.equal(gone.status, 200, JSON.stringify(gone.body));
    await world.settle();
    await world.advance(86_400);
    for (const id of [report.id, hidden.id]) {
      const { body } = await staff('GET', `/abuse_reports/${id}`);
      const { state, result, match, ...rest } = body;
      assert.deepEqual([state, match], ['closed', 'deleted'], JSON.stringify([result, rest]));
      for (const name of ['address', 'evidence', 'reporter', 'customer', 'customer_id', 'server', 'ticket']) {
        assert.equal(body[name], null, name);
      }
    }
  });
});
