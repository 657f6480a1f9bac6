import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../../src/spec/limits.ts';
import { ABUSE_LIMITS } from '../../../src/spec/staff/abuse.ts';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import { type AbuseWorld, REPORTER, startAbuseWorld } from './abuse-world.ts';
import { fill } from './staff-world.ts';

interface File {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly size_bytes: number;
}

const PCAP = Buffer.concat([Buffer.from('d4c3b2a1', 'hex'), Buffer.alloc(60)]);
const MAIL = Buffer.from(
  `Received: from a by b\r\nFrom: ${REPORTER}\r\nDate: Tue, 1 Dec 2026 22:00:00 +0000\r\n\r\nSpam caf\u00e9`,
  'latin1',
);

describe('files of abuse reports', () => {
  let world: AbuseWorld;

  before(async () => {
    world = await startAbuseWorld();
  });
  after(() => world.close());

  const filesOf = async (report: { readonly id: string }) =>
    (await world.staff('GET', `/abuse_reports/${report.id}`)).body.files as File[];
  const attach = (report: { readonly id: string }, name: string, content: Buffer) =>
    world.staff('POST', `/abuse_reports/${report.id}/files`, {
      name,
      content_base64: content.toString('base64'),
    });

  it('are attached in the console, and download as they were', async () => {
    const report = await world.record();
    const path = `/abuse_reports/${report.id}`;
    const browser = world.support.browser;
    assert.ok((await browser.get(path)).text.includes(`href="${path}/attach"`));
    const done = await fill(browser, `${path}/attach`, 'abuse_reports.attach', {
      name: '../scan "1".pcapng',
      file: new Blob([PCAP]),
    });
    assert.match(done.location ?? '', /done=saved/, done.text);
    assert.equal((await attach(report, 'spam.eml', MAIL)).status, 201);
    assert.equal((await attach(report, 'auth.log', Buffer.from('12:00 failed login'))).status, 201);
    const files = await filesOf(report);
    assert.deepEqual(
      files.map(({ name, type }) => `${name} ${type}`),
      ['scan-1-.pcap application/vnd.tcpdump.pcap', 'spam.eml message/rfc822', 'auth.txt text/plain'],
    );
    assert.match(textOf((await browser.get(path)).text), /Files .*scan-1-\.pcap .* spam\.eml/s);
    const mail = await browser.get(`${path}/files/${files[1]?.id}`);
    assert.equal(mail.headers.get('content-type'), 'message/rfc822');
    assert.match(String(mail.headers.get('content-disposition')), /^attachment; filename="spam\.eml"/);
    assert.match(String(mail.headers.get('content-security-policy')), /sandbox/);
    const read = await world.staff('GET', `${path}/files/${files[0]?.id}`);
    assert.equal(read.body.content_base64, PCAP.toString('base64'));
    const other = await world.record();
    const moved = await world.staff('GET', `/abuse_reports/${other.id}/files/${files[0]?.id}`);
    assert.equal(moved.status, 404);
  });

  it('are refused by their content, size, and number, and name the field', async () => {
    const report = await world.record();
    const path = `/abuse_reports/${report.id}`;
    const largest = Buffer.concat([PCAP, Buffer.alloc(ABUSE_LIMITS.fileMaxBytes - PCAP.length)]);
    for (const content of [Buffer.from('MZ\0'), Buffer.alloc(0), Buffer.concat([largest, PCAP])]) {
      const answer = await attach(report, 'x.pcap', content);
      assert.equal(answer.status, 422, JSON.stringify(answer.body));
      const form = await fill(world.support.browser, `${path}/attach`, 'abuse_reports.attach', {
        file: new Blob([content]),
      });
      assert.match(form.text, /file-problem"/);
    }
    const bad = await world.staff('POST', `${path}/files`, { content_base64: '%%%' });
    assert.match(JSON.stringify([bad.status, bad.body]), /^\[400,.*"field":"content_base64"/);
    for (let n = 0; n < 4; n += 1) assert.equal((await attach(report, `${n}`, largest)).status, 201);
    const full = await attach(report, 'x', PCAP);
    assert.match(JSON.stringify([full.status, full.body]), /^\[422,.*20 MiB in total/);
    const many = await world.record();
    for (let n = 0; n < ABUSE_LIMITS.filesMax; n += 1) await attach(many, `${n}`, PCAP);
    assert.equal((await attach(many, 'x', PCAP)).status, 422);
    assert.equal((await filesOf(many)).length, ABUSE_LIMITS.filesMax);
  });

  it('reach the customer only if the person ticks it, and leave their own limits as they are', async () => {
    const kept = await world.record();
    await attach(kept, 'spam.eml', MAIL);
    await world.act(kept, 'forward', { evidence: 'The log' });
    const messagesOf = async ({ id }: { readonly id: string }) => {
      const { ticket } = await world.read({ id });
      return (await world.ofOwner.get(`/tickets/${ticket}`)).body.messages as { files: File[] }[];
    };
    assert.deepEqual(
      (await messagesOf(kept))[0]?.files.map(({ name }) => name),
      ['evidence.txt'],
    );

    const shared = await world.record();
    for (let n = 0; n < 4; n += 1) {
      await attach(shared, `scan ${n}`, Buffer.concat([PCAP, Buffer.alloc(5_000_000)]));
    }
    const sent = await fill(world.support.browser, `/abuse_reports/${shared.id}`, 'abuse_reports.forward', {
      share_files: 'on',
    });
    assert.match(sent.location ?? '', /done=report_sent/, sent.text);
    const files = (await messagesOf(shared))[0]?.files ?? [];
    assert.deepEqual(
      files.map(({ name, type }) => `${name} ${type}`).sort(),
      [0, 1, 2, 3].map((n) => `scan-${n}.pcap application/vnd.tcpdump.pcap`),
    );
    const panel = PanelClient.forUrl(world.url, { cookie: world.owner.cookie });
    const { ticket } = await world.read(shared);
    const file = await panel.get(`/support/${ticket}/files/${files[0]?.id}`);
    assert.equal(file.headers.get('content-type'), 'application/vnd.tcpdump.pcap');
    assert.match(String(file.headers.get('content-disposition')), /^attachment/);
    const largest = new Blob([Buffer.alloc(LIMITS.ticketFileMaxBytes, 'a')]);
    const own = await fill(panel, `/support/${ticket}/attach`, 'attach', { file: largest });
    assert.match(own.location ?? '', /done=ticket_file_attached/, own.text);
    // A type that only staff share.
    const refused = await fill(panel, `/support/${ticket}/attach`, 'attach', { file: new Blob([PCAP]) });
    assert.match(refused.text, /PNG or JPEG image, or a plain text file/);
  });

  it('are removed by hand, with the report, and with the account', async () => {
    const report = await world.record();
    await attach(report, 'a', PCAP);
    await attach(report, 'b', PCAP);
    const [first, second] = await filesOf(report);
    const path = `/abuse_reports/${report.id}`;
    const done = await fill(world.support.browser, path, 'abuse_reports.remove_file', {
      file: first?.id ?? '',
    });
    assert.match(done.location ?? '', /done=saved/, done.text);
    assert.deepEqual(
      (await filesOf(report)).map(({ id }) => id),
      [second?.id],
    );
    const again = await world.staff('POST', `${path}/remove_file`, { file: first?.id });
    assert.equal(again.status, 404);
    await world.act(report, 'close', { result: 'unfounded' });
    assert.equal((await attach(report, 'c', PCAP)).status, 409);
    assert.equal((await world.staff('POST', `${path}/remove_file`, { file: second?.id })).status, 409);
    assert.doesNotMatch((await world.support.browser.get(path)).text, /\/attach"/);

    const owner = await world.person('owner');
    const exported = await world.api(owner.token, 'POST', `/customers/${world.owner.email}/export`, {
      reason: 'asked',
    });
    assert.doesNotMatch(JSON.stringify(exported.body), /abf_|victim/);
    const gone = await world.api(owner.token, 'POST', `/customers/${world.owner.email}/delete`, {
      ...{ destroy_servers: true, reason: 'asked' },
    });
    assert.equal(gone.status, 200, JSON.stringify(gone.body));
    await world.settle();
    await world.advance(86_400);
    assert.deepEqual(await filesOf(report), []);
    const log = JSON.stringify((await world.staff('GET', '/staff_log')).body);
    assert.match(log, /abuse_reports\.attach/);
    assert.doesNotMatch(log, /spam\.eml|scan 0/);
  });
});
