import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../../../src/spec/limits.ts';
import {
  AUTH_SERVER,
  mailOf,
  SUPPORT,
  startTicketMailWorld,
  type TicketMailWorld,
  type Writer,
} from '../../../support/ticket-mail-world.ts';

const ACCEPTED = /^250 2\.0\.0 /;
const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex');
const BOUNDARY = 'Content-Type: multipart/mixed; boundary="b"';

function part(headers: readonly string[], body: string): string {
  return ['--b', ...headers, '', body].join('\r\n');
}

function file(name: string, content: Buffer, type = 'application/octet-stream'): string {
  const encoded = content.toString('base64').replace(/.{76}/g, '$&\r\n');
  const disposition = `Content-Disposition: attachment; filename="${name}"`;
  return part([`Content-Type: ${type}`, disposition, 'Content-Transfer-Encoding: base64'], encoded);
}

const mixed = (...parts: readonly string[]) => [...parts, '--b--'].join('\r\n');

describe('the content of mail to tickets', () => {
  let world: TicketMailWorld;
  let writer: Writer;
  before(async () => {
    world = await startTicketMailWorld();
    writer = await world.writer();
  });
  after(() => world.close());

  /** The messages of the ticket that a mail of this customer opens. */
  async function messagesOf(mail: string | Buffer, by = writer) {
    const [answer = ''] = await world.deliver(mail);
    assert.match(answer, ACCEPTED);
    const [ticket] = await world.tickets(by);
    return ticket?.messages ?? [];
  }

  async function textOf(headers: readonly string[], body: string | Buffer): Promise<string> {
    const author = await world.writer();
    const head = mailOf({ from: author.email, headers, body: '' });
    const mail = Buffer.concat([Buffer.from(head.trimEnd()), Buffer.from('\r\n\r\n'), Buffer.from(body)]);
    const [message] = await messagesOf(mail, author);
    return message?.text ?? '';
  }

  it('attaches files that a ticket can have, and names the others', async () => {
    const large = Buffer.alloc(LIMITS.ticketFileMaxBytes + 1, 'x');
    const parts = [
      part(['Content-Type: text/plain'], 'See the files.'),
      file('screen shot.exe', PNG),
      file('run.exe', Buffer.from('MZ\0\0')),
      file('empty.txt', Buffer.alloc(0)),
      file('big.txt', large),
      file('../../etc/passwd', Buffer.from('text\n'), 'text/html'),
      file('signature.asc', Buffer.from('x'), 'application/pgp-signature'),
    ];
    const mail = mailOf({ from: writer.email, headers: [BOUNDARY], body: mixed(...parts) });
    const [message] = await messagesOf(mail);
    assert.deepEqual(
      message?.files
        .map(({ name, type, size_bytes: bytes }) => [name, type, bytes])
        .sort()
        .reverse(),
      [
        ['screen-shot.exe.png', 'image/png', PNG.length],
        ['etc-passwd.txt', 'text/plain', 5],
      ],
    );
    assert.equal(
      message?.text,
      [
        'See the files.',
        '',
        'Attached screen-shot.exe.png, etc-passwd.txt.',
        'Not attached: run.exe. Send a PNG or JPEG image, or a plain text file in UTF-8.',
        'empty.txt. Choose a file that is not empty.',
        'big.txt. The file is too large. Send at most 1024 KiB.',
      ].join('\n'),
    );
  });

  it('a ticket gets no more files than it can have', async () => {
    const files = Array.from({ length: LIMITS.ticketFilesMax + 13 }, (_, n) =>
      file(`${n}.txt`, Buffer.from('x')),
    );
    const [message] = await messagesOf(
      mailOf({ from: writer.email, headers: [BOUNDARY], body: mixed(...files) }),
    );
    assert.equal(message?.files.length, LIMITS.ticketFilesMax);
    assert.match(
      message?.text ?? '',
      /^Attached 0\.txt, [\s\S]*Not attached: 20\.txt\. Your tickets have no room/,
    );
    assert.match(message?.text ?? '', /\n3 more files\.$/);
  });

  it('a text that is too long for a message is attached', async () => {
    const author = await world.writer();
    const body = `${'A long line. '.repeat(5)}\r\n`.repeat(200);
    const [message] = await messagesOf(mailOf({ from: author.email, body }), author);
    const shown = message?.text ?? '';
    assert.ok(shown.length <= LIMITS.ticketTextMaxChars);
    assert.match(
      shown,
      /\n\nThe text of the mail is longer: it is in message\.txt\.\nAttached message\.txt\.$/,
    );
    assert.equal(message?.files[0]?.size_bytes, body.replaceAll('\r', '').trimEnd().length);
  });

  it('HTML becomes text, and nothing in it is run or fetched', async () => {
    const html =
      '<html><head><title>x</title><style>p { color: red }</style></head><body><p>Hello &amp; <b>good</b> ' +
      'day</p><script>alert(1)</script><style>b{}</style><img src="https://evil.example/x.png"><ul><li>one' +
      '</ul>' +
      '<a href="https://example.org/">link</a></body></html>';
    const text = await textOf(['Content-Type: text/html; charset=utf-8'], html);
    assert.match(text, /^Hello & good day\n/);
    assert.match(text, /\* one/);
    assert.match(text, /https:\/\/example\.org\//);
    assert.doesNotMatch(text, /alert|color|evil|b\{\}|</);
  });

  it('text in other character sets and encodings arrives as it was written', async () => {
    const latin = ['Content-Type: text/plain; charset=iso-8859-1', 'Content-Transfer-Encoding: 8bit'];
    assert.equal(await textOf(latin, Buffer.from('Größe', 'latin1')), 'Größe');
    const cyrillic = ['Content-Type: text/plain; charset=koi8-r', 'Content-Transfer-Encoding: base64'];
    assert.equal(await textOf(cyrillic, Buffer.from([0xf0, 0xd2, 0xc9]).toString('base64')), 'При');
    const japanese = ['Content-Type: text/plain; charset=iso-2022-jp'];
    assert.equal(await textOf(japanese, Buffer.from('\x1b$B$"\x1b(B', 'latin1')), 'あ');
    const quoted = ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: quoted-printable'];
    assert.equal(await textOf(quoted, 'a=\r\nb =C3=A9'), 'ab é');
    const unknown = ['Content-Type: text/plain; charset=x-nothing'];
    assert.equal(await textOf(unknown, 'plain'), 'plain');
  });

  it('only a quote that is certain is cut off', async () => {
    const answer = `Le 29.11.2026 à 10:00, Skerry\r\n<${SUPPORT}>:`;
    for (const [body, kept] of [
      [`Yes.\r\n\r\n${answer}\r\n\r\n> Is it up?\r\n> -- \r\n`, 'Yes.'],
      ['Yes.\r\n\r\nOn 29 Nov 2026, Ann wrote:\r\n> Is it up?\r\n', 'Yes.'],
      ['On 29 Nov 2026, Ann wrote:\r\n> Is it up?\r\nYes.', null],
      ['On 29 Nov 2026, Ann wrote:\r\n> Is it up?', null],
      ['The log of ann@example.org:\r\n> error 5', null],
      ['> Is it up?\r\nYes.', null],
      ['Yes.\r\n-----Original Message-----\r\nFrom: Skerry', null],
    ] as const) {
      assert.equal(await textOf([], body), kept ?? body.replaceAll('\r', ''), body);
    }
  });

  it('an empty mail and a large mail are refused', async () => {
    const blank = await world.deliver(mailOf({ from: writer.email, body: ' \r\n' }));
    assert.match(blank[0] ?? '', /^550 5\.6\.0 The mail has no text and no files\./);
    const body = `${'x'.repeat(76)}\r\n`.repeat(LIMITS.ticketMailMaxBytes / 78);
    const large = await world.deliver(mailOf({ from: writer.email, body }), [SUPPORT, `${SUPPORT}x`]);
    assert.match(large[0] ?? '', /^552 5\.3\.4 The mail is too large\. Send at most 10 MiB\./);
  });

  it('no hostile mail harms the service, and each gets an answer in time', async () => {
    const deep = Array.from({ length: 300 }, (_, n) => [
      `Content-Type: multipart/mixed; boundary=${n}`,
      '',
      `--${n}`,
    ]);
    const bodies: Record<string, readonly [headers: readonly string[], body: string | Buffer]> = {
      'parts in parts': [[], ''],
      'a million boundaries': [[BOUNDARY], '--b\r\n'.repeat(300_000)],
      'a part that does not end': [[BOUNDARY], '--b\r\nContent-Type: text/plain\r\n\r\nx'],
      'a boundary that is empty': [['Content-Type: multipart/mixed; boundary=""'], '--\r\n\r\nx\r\n----'],
      'no boundary': [['Content-Type: multipart/mixed'], 'x'],
      'headers without an end': [Array.from({ length: 9_000 }, (_, n) => `X-${n}: ${'y'.repeat(50)}`), 'x'],
      'a header that is long': [[`X-Long: ${'y'.repeat(2 ** 20)}`], 'x'],
      'a header without a name': [[': x', 'no colon', '\tfolded'], 'x'],
      'tags that do not close': [['Content-Type: text/html'], '<a '.repeat(500_000)],
      'styles that do not close': [['Content-Type: text/html'], '<style '.repeat(300_000)],
      'comments that do not close': [['Content-Type: text/html'], '<!--'.repeat(500_000)],
      entities: [['Content-Type: text/html'], '&amp'.repeat(500_000)],
      'empty lines': [[], '\r\n'.repeat(200_000)],
      quotes: [[], '>\r\n'.repeat(500_000)],
      'spaces in a line': [[], ' '.repeat(2 ** 20)],
      'broken base64': [['Content-Transfer-Encoding: base64'], '=?=?===a'.repeat(10_000)],
      'broken quoted-printable': [['Content-Transfer-Encoding: quoted-printable'], '=ZZ='.repeat(100_000)],
      'null bytes': [[], Buffer.alloc(100_000)],
      'control characters': [[], '\x1b]0;owned\x07\x1b[2J text'],
      'results without an end': [[`Authentication-Results: ${AUTH_SERVER}; ${'('.repeat(50_000)}`], 'x'],
      'an encoded subject': [[`Subject: ${'=?utf-8?q?=C3?='.repeat(20_000)}`], 'x'],
      'a mail in a mail': [
        ['Content-Type: message/rfc822'],
        `From: x\r\n${'Content-Type: message/rfc822\r\n\r\n'.repeat(500)}`,
      ],
    };
    bodies['parts in parts'] = [deep[0]?.slice(0, 1) ?? [], deep.flat().slice(1).join('\r\n')];
    for (const [name, [headers, body]] of Object.entries(bodies)) {
      const author = await world.writer();
      const head = mailOf({ from: author.email, headers, body: '' }).replace(/(?:\r\n){2,}$/, '\r\n\r\n');
      const startedAt = performance.now();
      const [answer = ''] = await world.deliver(Buffer.concat([Buffer.from(head), Buffer.from(body)]));
      const tookMs = performance.now() - startedAt;
      assert.match(answer, /^(?:250 2\.0\.0|55\d 5\.\d\.\d) /, name);
      assert.ok(tookMs < 20_000, `${name}: ${tookMs} ms`);
      const [ticket] = await world.tickets(author);
      assert.doesNotMatch(ticket?.messages[0]?.text ?? '', /[^\P{Cc}\n\t]/u, name);
    }
  });
});
