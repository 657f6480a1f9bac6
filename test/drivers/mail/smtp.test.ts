/** Mail over a real SMTP server: certain failures, permanent failures, and unknown outcomes. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { SmtpMailer } from '../../../src/drivers/mail/smtp.ts';
import { parseSender, parseSmtpUrl, type SmtpServer } from '../../../src/kernel/settings/smtp-url.ts';
import type { MailOutcome, OutgoingMail } from '../../../src/ports/mail.ts';
import { createAuthority } from '../../support/certificates.ts';
import { type Fault, type MailServer, startMailServer } from '../../support/mail-server.ts';

const MAIL: OutgoingMail = {
  id: 'mail_aaaaaaaaaaaaaaaaaaaaaaaaaa',
  to: 'ann@example.org',
  subject: 'Größe – a subject that is long enough to be folded twice by the library that encodes it',
  text: 'First line.\n.A line that begins with a dot.\nGrüße.\n',
  encrypted: false,
};
const FROM = parseSender('Skerry Ho\u0308st <no-reply@skerry.example>');
const IDLE_TIMEOUT_MS = 1_000;

function mailer(port: number, more: Partial<SmtpServer> = {}, ca?: string): SmtpMailer {
  assert.ok(FROM);
  const server = { host: '127.0.0.1', port, secure: false, loopback: true, login: null, ...more };
  return new SmtpMailer({
    server,
    from: FROM,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
    ...(ca === undefined ? {} : { ca }),
  });
}

/** Returns the outcome, and whether the handover was confirmed before it. */
async function send(
  through: SmtpMailer,
  confirms = true,
  mail = MAIL,
): Promise<[MailOutcome['outcome'], boolean]> {
  let isHandedOver = false;
  const { outcome } = await through.send(mail, async () => {
    isHandedOver = true;
    return confirms;
  });
  return [outcome, isHandedOver];
}

describe('SMTP', () => {
  let server: MailServer;
  before(async () => {
    server = await startMailServer();
  });
  after(() => server.close());
  beforeEach(() => {
    server.received.splice(0);
    for (const stage of Object.keys(server.faults)) delete server.faults[stage as keyof typeof server.faults];
  });

  it('a mail that can be turned off says how with one POST, also if it is encrypted', async () => {
    const token = `k1.cus_${'a'.repeat(26)}.${'b'.repeat(22)}`;
    const unsubscribeUrl = `https://host.example/news/off/now?token=${token}`;
    for (const encrypted of [false, true]) {
      server.received.splice(0);
      await send(mailer(server.port), true, { ...MAIL, encrypted, unsubscribeUrl });
      const head = server.received[0]?.message.split('\r\n\r\n')[0]?.replace(/\r\n[ \t]+/g, ' ') ?? '';
      assert.match(head, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click$/im);
      assert.ok(head.includes(`<${unsubscribeUrl}>`), head);
    }
  });

  it('a mail arrives unchanged', async () => {
    assert.deepEqual(await send(mailer(server.port)), ['sent', true]);
    const [mail] = server.received;
    assert.ok(mail);
    assert.deepEqual([mail.from, mail.to], ['no-reply@skerry.example', ['ann@example.org']]);
    const [head = '', body = ''] = mail.message.split('\r\n\r\n');
    assert.match(head, /^Message-ID: <mail_a{26}@skerry\.example>$/im);
    assert.match(head, /^From: =\?UTF-8\?\S+\?= <no-reply@skerry\.example>$/m);
    assert.match(head, /^Auto-Submitted: auto-generated$/m);
    assert.match(head, /^Date: \w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000$/m);
    assert.ok(mail.message.split('\r\n').every((line) => line.length <= 78 && !/[^ -~]/.test(line)));
    const text = body
      .replaceAll('=\r\n', '')
      .replace(/(?:=[0-9A-F]{2})+/g, (codes) => decodeURIComponent(codes.replaceAll('=', '%')));
    assert.equal(text.replaceAll('\r\n', '\n').trimEnd(), MAIL.text.trimEnd());
  });

  it('an internationalized domain is sent in ASCII form', async () => {
    const mail = { ...MAIL, to: 'ann@bücher.example' };
    assert.deepEqual(await send(mailer(server.port), true, mail), ['sent', true]);
    const [arrived] = server.received;
    // The server shows the name in Unicode.
    assert.deepEqual([arrived?.to, arrived?.smtpUtf8], [['ann@bücher.example'], false]);
    assert.match(arrived?.message ?? '', /^To: ann@xn--bcher-kva\.example\r$/m);
  });

  it('a mail whose handover is not confirmed is not sent', async () => {
    assert.deepEqual(await send(mailer(server.port), false), ['taken', true]);
    assert.deepEqual(server.received, []);
  });

  it('a server that is down or a connection that breaks is reported as unreachable', async () => {
    const stopped = await startMailServer();
    await stopped.close();
    assert.deepEqual(await send(mailer(stopped.port)), ['unreachable', false]);
    server.faults.receiver = 'silence';
    const cut = mailer(server.port);
    const sending = send(cut);
    const timer = setInterval(() => cut.close(), 20);
    assert.deepEqual(await sending, ['unreachable', false]);
    clearInterval(timer);
  });

  it('the detail of a failure contains no address', async () => {
    server.faults.receiver = 550;
    const outcome = await mailer(server.port).send(MAIL, async () => true);
    assert.ok('detail' in outcome);
    assert.equal(outcome.detail, 'EENVELOPE RCPT TO 550');
  });
});

// The server delays its greeting, so run these concurrently.
describe('SMTP failures', { concurrency: true }, () => {
  for (const [stage, failure, outcome, handedOver] of [
    ['connect', 421, 'unreachable', false],
    ['connect', 554, 'unreachable', false],
    ['connect', 'silence', 'unreachable', false],
    ['connect', 'hang up', 'unreachable', false],
    ['sender', 451, 'unreachable', false],
    ['sender', 550, 'unreachable', false],
    ['receiver', 450, 'deferred', false],
    ['receiver', 550, 'refused', false],
    ['receiver', 421, 'unreachable', false],
    ['receiver', 'silence', 'unreachable', false],
    ['receiver', 'hang up', 'unreachable', false],
    ['text', 451, 'deferred', true],
    ['text', 554, 'refused', true],
    ['text', 'silence', 'unknown', true],
    ['text', 'hang up', 'unknown', true],
  ] as const satisfies readonly (readonly [
    keyof MailServer['faults'],
    Fault,
    MailOutcome['outcome'],
    boolean,
  ])[]) {
    it(`a mail server with ${failure} at the ${stage} stage is reported as ${outcome}`, async () => {
      const server = await startMailServer();
      server.faults[stage] = failure;
      assert.deepEqual(await send(mailer(server.port)), [outcome, handedOver]);
      await server.close();
    });
  }
});

describe('SMTP with TLS', () => {
  const authority = createAuthority();
  const { cert, key } = authority.issue(['localhost']);
  let server: MailServer;
  before(async () => {
    server = await startMailServer({ cert, key });
  });
  after(() => server.close());
  const remote = { host: 'localhost', loopback: false };

  it('STARTTLS and login happen before a mail is sent', async () => {
    const login = { user: 'skerry', password: 'p@ss w\u00f6rd' };
    assert.deepEqual(await send(mailer(server.port, { ...remote, login }, authority.cert)), ['sent', true]);
    assert.deepEqual([server.received[0]?.secure, server.received[0]?.user], [true, 'skerry']);
  });

  it('a wrong password is unreachable, so no mail is lost', async () => {
    server.faults.login = 535;
    const login = { user: 'skerry', password: 'wrong' };
    assert.deepEqual(await send(mailer(server.port, { ...remote, login }, authority.cert)), [
      'unreachable',
      false,
    ]);
  });

  it('no mail is sent without a trusted certificate for the right name', async () => {
    server.received.splice(0);
    assert.deepEqual(await send(mailer(server.port, remote)), ['unreachable', false]);
    const other = { ...remote, host: '127.0.0.1' };
    assert.deepEqual(await send(mailer(server.port, other, authority.cert)), ['unreachable', false]);
    const plain = await startMailServer();
    assert.deepEqual(await send(mailer(plain.port, remote, authority.cert)), ['unreachable', false]);
    assert.deepEqual([...server.received, ...plain.received], []);
    await plain.close();
  });

  it('an smtps server is contacted with TLS from the start', async () => {
    const secure = await startMailServer({ secure: true, cert, key });
    assert.deepEqual(await send(mailer(secure.port, { ...remote, secure: true }, authority.cert)), [
      'sent',
      true,
    ]);
    assert.deepEqual(await send(mailer(secure.port, { ...remote, secure: true })), ['unreachable', false]);
    await secure.close();
  });
});

describe('SMTP URLs and senders', () => {
  it('an SMTP URL is parsed with its defaults', () => {
    assert.deepEqual(parseSmtpUrl('smtp://mail.example.org'), {
      host: 'mail.example.org',
      port: 587,
      secure: false,
      loopback: false,
      login: null,
    });
    const login = { user: 'a@b', password: 'c:%' };
    const secure = { host: '::1', port: 465, secure: true, loopback: true, login };
    assert.deepEqual(parseSmtpUrl('smtps://a%40b:c%3A%25@[::1]'), secure);
    assert.equal(parseSmtpUrl('smtp://127.0.0.1:25')?.loopback, true);
  });

  for (const text of [
    '',
    'mail.example.org',
    'http://a',
    'smtp://',
    'smtp://a/b',
    'smtp://a?b',
    'smtp://u@a',
    'smtp://%ff:x@a',
  ]) {
    it(`${JSON.stringify(text)} is not an SMTP URL`, () => {
      assert.equal(parseSmtpUrl(text), undefined);
    });
  }

  it('a sender is an address with or without a name', () => {
    assert.deepEqual(parseSender('Skerry <a@b.example>'), {
      name: 'Skerry',
      address: 'a@b.example',
      domain: 'b.example',
    });
    assert.deepEqual(parseSender('a@localhost')?.name, '');
    for (const text of [
      '',
      'a',
      '@b',
      'a@',
      'a@b\nBcc: c@d',
      'A\r\nB: c <a@b>',
      '<a@b> x',
      'a@b, c@d',
      '"x" <a@b>',
    ]) {
      assert.equal(parseSender(text), undefined, text);
    }
  });
});
