/** Mail over a real SMTP server: what was surely not sent, what never will be, and what nobody can know. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { SmtpMailer } from '../../../src/drivers/mail/smtp.ts';
import { parseSender, parseSmtpUrl, type SmtpServer } from '../../../src/kernel/smtp-url.ts';
import type { MailOutcome, OutgoingMail } from '../../../src/ports/mail.ts';
import { createAuthority } from '../../support/certificates.ts';
import { type Fault, type MailServer, startMailServer } from '../../support/mail-server.ts';

const MAIL: OutgoingMail = {
  id: 'mail_aaaaaaaaaaaaaaaaaaaaaaaaaa',
  to: 'ann@example.org',
  subject: 'Größe – a subject that is long enough to be folded by whoever writes it, twice',
  text: 'First line.\n.A line that begins with a dot.\nGrüße.\n',
  encrypted: false,
};
const FROM = parseSender('Skerry Ho\u0308st <no-reply@skerry.example>');
const SILENCE_MS = 1_000;

function mailer(port: number, more: Partial<SmtpServer> = {}, ca?: string): SmtpMailer {
  assert.ok(FROM);
  const server = { host: '127.0.0.1', port, secure: false, loopback: true, login: null, ...more };
  return new SmtpMailer({
    server,
    from: FROM,
    idleTimeoutMs: SILENCE_MS,
    ...(ca === undefined ? {} : { ca }),
  });
}

/** What was told, and whether the mail was handed over first. */
async function send(
  through: SmtpMailer,
  handOver = true,
  mail = MAIL,
): Promise<[MailOutcome['outcome'], boolean]> {
  let handed = false;
  const { outcome } = await through.send(mail, async () => {
    handed = true;
    return handOver;
  });
  return [outcome, handed];
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

  it('a mail arrives as it was written', async () => {
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

  it('a domain of other letters is named as every server knows it', async () => {
    const mail = { ...MAIL, to: 'ann@bücher.example' };
    assert.deepEqual(await send(mailer(server.port), true, mail), ['sent', true]);
    const [arrived] = server.received;
    // The server shows the name as people write it.
    assert.deepEqual([arrived?.to, arrived?.smtpUtf8], [['ann@bücher.example'], false]);
    assert.match(arrived?.message ?? '', /^To: ann@xn--bcher-kva\.example\r$/m);
  });

  it('nothing is sent that may not be handed over', async () => {
    assert.deepEqual(await send(mailer(server.port), false), ['taken', true]);
    assert.deepEqual(server.received, []);
  });

  it('nobody listening is unreachable, and so is a connection that was cut short', async () => {
    const gone = await startMailServer();
    await gone.close();
    assert.deepEqual(await send(mailer(gone.port)), ['unreachable', false]);
    server.faults.receiver = 'silence';
    const cut = mailer(server.port);
    const sending = send(cut);
    const timer = setInterval(() => cut.close(), 20);
    assert.deepEqual(await sending, ['unreachable', false]);
    clearInterval(timer);
  });

  it('the detail of a failure names no address', async () => {
    server.faults.receiver = 550;
    const outcome = await mailer(server.port).send(MAIL, async () => true);
    assert.ok('detail' in outcome);
    assert.equal(outcome.detail, 'EENVELOPE RCPT TO 550');
  });
});

// The server waits before it greets: at once they take no longer than one.
describe('an SMTP server that answers', { concurrency: true }, () => {
  for (const [stage, trouble, outcome, handedOver] of [
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
    it(`${trouble} at the ${stage} is ${outcome}`, async () => {
      const server = await startMailServer();
      server.faults[stage] = trouble;
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
  const away = { host: 'localhost', loopback: false };

  it('STARTTLS and login come first', async () => {
    const login = { user: 'skerry', password: 'p@ss w\u00f6rd' };
    assert.deepEqual(await send(mailer(server.port, { ...away, login }, authority.cert)), ['sent', true]);
    assert.deepEqual([server.received[0]?.secure, server.received[0]?.user], [true, 'skerry']);
  });

  it('a wrong password costs no mail', async () => {
    server.faults.login = 535;
    const login = { user: 'skerry', password: 'wrong' };
    assert.deepEqual(await send(mailer(server.port, { ...away, login }, authority.cert)), [
      'unreachable',
      false,
    ]);
  });

  it('without a certificate of the right name by somebody trusted nothing is sent', async () => {
    server.received.splice(0);
    assert.deepEqual(await send(mailer(server.port, away)), ['unreachable', false]);
    const other = { ...away, host: '127.0.0.1' };
    assert.deepEqual(await send(mailer(server.port, other, authority.cert)), ['unreachable', false]);
    const plain = await startMailServer();
    assert.deepEqual(await send(mailer(plain.port, away, authority.cert)), ['unreachable', false]);
    assert.deepEqual([...server.received, ...plain.received], []);
    await plain.close();
  });

  it('smtps begins with TLS', async () => {
    const secure = await startMailServer({ secure: true, cert, key });
    assert.deepEqual(await send(mailer(secure.port, { ...away, secure: true }, authority.cert)), [
      'sent',
      true,
    ]);
    assert.deepEqual(await send(mailer(secure.port, { ...away, secure: true })), ['unreachable', false]);
    await secure.close();
  });
});

describe('the address of a mail server', () => {
  it('is read with its defaults', () => {
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
    it(`is not ${JSON.stringify(text)}`, () => {
      assert.equal(parseSmtpUrl(text), undefined);
    });
  }

  it('a sender is an address, with a name or without', () => {
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
