import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { receiveTicketMail } from '../../../../src/domain/customers/tickets/mail/receive.ts';
import { MAIL_PARSER } from '../../../../src/drivers/mail/parser.ts';
import { type MailParser, UnreadableMail } from '../../../../src/ports/incoming-mail.ts';
import { LIMITS } from '../../../../src/spec/limits.ts';
import {
  mailOf,
  SUPPORT,
  startTicketMailWorld,
  type TicketMailWorld,
  type Writer,
} from '../../../support/ticket-mail-world.ts';

const ACCEPTED = /^250 2\.0\.0 /;
const NOT_ACCEPTED = /^550 5\.7\.1 We do not accept this mail\. Write from the confirmed email address/;

describe('mail to tickets', () => {
  let world: TicketMailWorld;
  let writer: Writer;
  before(async () => {
    world = await startTicketMailWorld();
    writer = await world.writer();
  });
  after(() => world.close());

  /** The only ticket with this subject. */
  async function ticket(subject: string) {
    const found = (await world.tickets(writer)).filter((each) => each.subject === subject);
    assert.equal(found.length, 1, `${found.length} tickets: ${subject}`);
    return found[0] ?? assert.fail();
  }

  async function open(subject: string): Promise<string> {
    const { status, body, text } = await writer.api.post('/tickets', { subject, text: 'Since noon.' });
    assert.equal(status, 201, text);
    return body.id;
  }

  it('opens a ticket, and its audit row has neither session nor token', async () => {
    const mail = mailOf({
      from: `Ann <${writer.email.toUpperCase()}>`,
      subject: '=?utf-8?q?Gr=C3=BC=C3=9Fe?=',
    });
    const [answer = ''] = await world.deliver(mail);
    assert.match(answer, ACCEPTED);
    const { status, messages, id } = await ticket('Grüße');
    assert.deepEqual([status, messages.map(({ text }) => text)], ['open', ['Since noon.']]);
    const { body } = await writer.api.get(`/audit/events?filter[resource]=${id}`);
    const [row] = body.data;
    assert.deepEqual(
      [row.action, row.actor_session ?? null, row.actor_token ?? null],
      ['ticket.create', null, null],
    );
  });

  it('an answer names the address of the ticket, and a reply to it goes into the ticket', async () => {
    const messageId = '<first@example.org>';
    await world.deliver(mailOf({ from: writer.email, subject: 'A thread', messageId }));
    const { id } = await ticket('A thread');
    await world.answer(id, 'Which server?');
    const reply = [
      'web-1, and it is down.',
      '',
      `On Sun, Nov 29, 2026 at 10:00, Skerry <${SUPPORT}> wrote:`,
      '> Which server?',
      '>',
    ];
    const mail = mailOf({ from: writer.email, subject: 'Re: A thread', body: reply.join('\r\n') });
    const [answer = ''] = await world.deliver(mail, world.addressOf(id));
    assert.match(answer, ACCEPTED);
    const { messages, status } = await ticket('A thread');
    assert.equal(status, 'open');
    assert.deepEqual(
      messages.map(({ author, text }) => [author, text]),
      [
        ['customer', 'Since noon.'],
        ['staff', 'Which server?'],
        ['customer', 'web-1, and it is down.'],
      ],
    );
  });

  it('a reply opens a closed ticket again', async () => {
    const id = await open('Closed');
    await writer.api.post(`/tickets/${id}/close`, {});
    assert.match(
      (await world.deliver(mailOf({ from: writer.email }), world.addressOf(id)))[0] ?? '',
      ACCEPTED,
    );
    assert.equal((await ticket('Closed')).status, 'open');
  });

  it('a frozen customer can write', async () => {
    const frozen = await world.writer();
    await world.opened.db.run('update customers set frozen_at = now() where email = $1', [frozen.email]);
    assert.match((await world.deliver(mailOf({ from: frozen.email })))[0] ?? '', ACCEPTED);
    assert.equal((await world.tickets(frozen)).length, 1);
  });

  it('all who are not the customer get the same answer', async () => {
    const id = await open('Guarded');
    const stranger = await world.writer();
    const unconfirmed = await world.customer();
    const to = world.addressOf(id);
    const { email } = writer;
    const own = `header.from=example.org`;
    const cases: Record<string, [mail: string, to: string]> = {
      'an unknown sender': [mailOf({ from: 'nobody@example.org' }), SUPPORT],
      'an address that is not confirmed': [mailOf({ from: unconfirmed.email }), SUPPORT],
      'another customer with the address of the ticket': [mailOf({ from: stranger.email }), to],
      'no result of the mail server': [mailOf({ from: email, auth: null }), SUPPORT],
      'a failed check': [mailOf({ from: email, auth: `dmarc=fail ${own}` }), SUPPORT],
      'a pass of another domain': [
        mailOf({ from: email, auth: 'dmarc=pass header.from=evil.example' }),
        SUPPORT,
      ],
      'a pass in a comment': [mailOf({ from: email, auth: `none (; dmarc=pass ${own})` }), SUPPORT],
      'a pass in quotes': [
        mailOf({ from: email, auth: `spf=none reason="; dmarc=pass ${own}" smtp.mailfrom=x.example` }),
        SUPPORT,
      ],
      'a pass without a domain': [mailOf({ from: email, auth: 'dmarc=pass' }), SUPPORT],
      'the signature of another domain': [
        mailOf({ from: email, auth: 'dmarc=none header.from=example.org; dkim=pass header.d=evil.org' }),
        SUPPORT,
      ],
      'two verdicts': [
        mailOf({
          from: email,
          auth: `dmarc=none ${own}`,
          headers: [`Authentication-Results: mail.skerry.example; dmarc=pass ${own}`],
        }),
        SUPPORT,
      ],
      'the result of another server': [
        mailOf({ from: email, auth: null, headers: [`Authentication-Results: mx.evil; dmarc=pass ${own}`] }),
        SUPPORT,
      ],
      'two senders in a header': [mailOf({ from: `${email}, evil@example.org` }), SUPPORT],
      'two From headers': [mailOf({ from: email, headers: ['From: evil@example.org'] }), SUPPORT],
      'an address in a comment': [mailOf({ from: `evil@example.org (${email})` }), SUPPORT],
      'a sender as the name of another': [mailOf({ from: `"${email}" <evil@example.org>` }), SUPPORT],
    };
    const answers = new Set<string>();
    for (const [name, [mail, recipient]] of Object.entries(cases)) {
      const [answer = ''] = await world.deliver(mail, recipient);
      assert.match(answer, NOT_ACCEPTED, name);
      answers.add(answer);
    }
    assert.equal(answers.size, 1);
    assert.equal((await ticket('Guarded')).messages.length, 1);
    assert.equal((await world.tickets(stranger)).length, 0);
  });

  it('a signature or a sending server of the domain is enough for a domain without a policy', async () => {
    for (const [n, auth] of [
      'dkim=pass (2048-bit key) header.d=example.org header.s=a; dmarc=none header.from=example.org',
      'spf=pass smtp.mailfrom=bounces@example.org',
      'dkim=fail header.d=list.example; dkim=pass header.i=@example.org',
    ].entries()) {
      const [answer = ''] = await world.deliver(mailOf({ from: writer.email, auth, subject: `Signed ${n}` }));
      assert.match(answer, ACCEPTED, auth);
    }
    await ticket('Signed 2');
  });

  it('a header with a space before its colon is refused, and a failed check is repeated', async () => {
    const forged = `Authentication-Results : mail.skerry.example; dmarc=pass header.from=example.org`;
    const spaced = mailOf({ from: writer.email, auth: null, headers: [forged] });
    assert.match((await world.deliver(spaced))[0] ?? '', /^550 5\.6\.0 /);
    const auth = 'dmarc=temperror header.from=example.org';
    assert.match((await world.deliver(mailOf({ from: writer.email, auth })))[0] ?? '', /^451 4\.7\.0 /);
  });

  it('an address with a wrong MAC does not exist', async () => {
    const to = world.addressOf(await open('Guessed'));
    const last = to.indexOf('@') - 1;
    const wrong = `${to.slice(0, last)}${to.charAt(last) === 'a' ? 'b' : 'a'}${to.slice(last + 1)}`;
    const others = [wrong, 'support+t@skerry.example', 'root@skerry.example', 'support@evil.example', ''];
    for (const address of others) {
      const [answer = ''] = await world.deliver(mailOf({ from: writer.email }), address);
      assert.match(answer, /^5(?:50 5\.1\.1 There is no such address here\.|01 )/, address);
    }
    assert.match((await world.deliver(mailOf({ from: writer.email }), to.toUpperCase()))[0] ?? '', ACCEPTED);
  });

  it('a mail that is delivered again adds nothing', async () => {
    const mail = mailOf({ from: writer.email, subject: 'Twice' });
    const unnamed = mail.replace(/^Message-ID: .*$/m, 'X-Nothing: x').replace('Twice', 'Twice without an id');
    for (const each of [mail, mail, unnamed, unnamed]) {
      assert.match((await world.deliver(each))[0] ?? '', ACCEPTED);
    }
    await ticket('Twice');
    await ticket('Twice without an id');
  });

  it('each recipient has an answer of its own, and a mail to a ticket opens no other', async () => {
    const [one, two] = [await open('One'), await open('Two')];
    const foreign = await world.writer();
    const other = (await foreign.api.post('/tickets', { subject: 'x', text: 'x' })).body.id;
    const to = [
      SUPPORT,
      world.addressOf(one),
      world.addressOf(other),
      'x@skerry.example',
      world.addressOf(two),
    ];
    const count = (await world.tickets(writer)).length;
    const answers = await world.deliver(mailOf({ from: writer.email }), to);
    assert.deepEqual(
      answers.map((answer) => answer.slice(0, 9)),
      ['250 2.0.0', '250 2.0.0', '550 5.7.1', '550 5.1.1', '250 2.0.0'],
    );
    assert.equal((await world.tickets(writer)).length, count);
    assert.equal((await ticket('Two')).messages.length, 2);
    const repeated = await world.deliver(mailOf({ from: writer.email }), [to[1] ?? '', to[1] ?? '']);
    assert.deepEqual(
      repeated.map((answer) => answer.slice(0, 9)),
      ['250 2.0.0', '452 4.5.3'],
    );
  });

  it('mail of programs is accepted and dropped', async () => {
    const count = (await world.tickets(writer)).length;
    for (const header of [
      'Auto-Submitted: auto-replied',
      'Precedence: bulk',
      'List-Id: <list.example.org>',
      'X-Autoreply: yes',
      'Content-Type: multipart/report; boundary=x',
    ]) {
      const mail = mailOf({ from: writer.email, headers: [header] });
      assert.match((await world.deliver(mail))[0] ?? '', ACCEPTED, header);
    }
    assert.match((await world.deliver(mailOf({ from: writer.email }), SUPPORT, ''))[0] ?? '', ACCEPTED);
    assert.equal((await world.tickets(writer)).length, count);
    const human = mailOf({ from: writer.email, headers: ['Auto-Submitted: no'], subject: 'By hand' });
    await world.deliver(human);
    await ticket('By hand');
  });

  it('encrypted mail is refused with the reason', async () => {
    const armored = '-----BEGIN PGP MESSAGE-----\r\n\r\nabc=\r\n-----END PGP MESSAGE-----';
    const multipart = 'Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=x';
    for (const mail of [
      mailOf({ from: writer.email, body: armored }),
      mailOf({ from: writer.email, headers: [multipart], body: '--x--' }),
      mailOf({ from: writer.email, headers: ['Content-Type: application/pkcs7-mime'], body: 'x' }),
    ]) {
      assert.match((await world.deliver(mail))[0] ?? '', /^550 5\.7\.5 We cannot read encrypted mail\./);
    }
  });

  it('a mail beyond the limits of a day is postponed, and not lost', async () => {
    const busy = await world.writer();
    const mail = mailOf({ from: busy.email, subject: 'One more' });
    for (let n = 0; n < LIMITS.ticketsPerDay; n += 1) {
      assert.match((await world.deliver(mailOf({ from: busy.email })))[0] ?? '', ACCEPTED);
    }
    assert.match((await world.deliver(mail))[0] ?? '', /^451 4\.7\.1 You can open 20 tickets in 24 hours\./);
    await world.advance(24 * 3_600 + 1);
    assert.match((await world.deliver(mail))[0] ?? '', ACCEPTED);
  });

  it('nothing is stored in a maintenance window, and the mail server tries again', async () => {
    const now = world.opened.clock.now();
    await world.opened.db.run(
      `insert into maintenance_windows (id, starts_at, ends_at) values (gen_random_uuid(), $1, $2)`,
      [now, new Date(now.getTime() + 60_000)],
    );
    await world.opened.db.run('update service set rules_version = rules_version + 1').catch(() => undefined);
    const [answer = ''] = await world.deliver(mailOf({ from: writer.email }));
    assert.match(answer, /^451 4\.3\.2 /);
    await world.opened.db.run('delete from maintenance_windows');
  });

  it('a mail that no one can read is refused, and a mail that we fail to read comes again', async (t) => {
    const bytes = Buffer.from(mailOf({ from: writer.email, subject: 'Unread' }));
    const { service } = world.opened;
    const logged = t.mock.method(service.log, 'error', () => undefined);
    const receive = async (parser: Partial<MailParser>) => {
      const delivery = { bytes, sender: 'x@example.org', recipients: [SUPPORT] };
      const [answer] = await receiveTicketMail(service, { ...MAIL_PARSER, ...parser }, delivery);
      return [answer?.outcome, answer?.status];
    };
    for (const part of ['readHeaders', 'readBody'] as const) {
      const failing = (error: Error) => ({ [part]: () => Promise.reject(error) });
      assert.deepEqual(await receive(failing(new UnreadableMail('x'))), ['refused', '5.6.0']);
      assert.deepEqual(await receive(failing(new Error('the worker thread failed'))), ['later', '4.3.0']);
    }
    assert.equal(logged.mock.callCount(), 2);
    assert.deepEqual(await receive({}), ['accepted', '2.0.0']);
    assert.equal((await ticket('Unread')).status, 'open');
  });
});
