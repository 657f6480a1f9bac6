import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { loadConfig } from '../../../../src/config.ts';
import { readRecipient, ticketAddress } from '../../../../src/domain/customers/tickets/mail/address.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { KeyRing } from '../../../../src/kernel/secrets.ts';
import { type MailServer, startMailServer } from '../../../support/mail-server.ts';
import {
  mailOf,
  SUPPORT,
  startTicketMailWorld,
  type TicketMailWorld,
} from '../../../support/ticket-mail-world.ts';

describe('mail about tickets', () => {
  let server: MailServer;
  let world: TicketMailWorld;
  before(async () => {
    server = await startMailServer();
    world = await startTicketMailWorld({
      SKERRY_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
      SKERRY_MAIL_FROM: 'Skerry <no-reply@skerry.example>',
    });
  });
  after(async () => {
    await world.close();
    await server.close();
  });

  it('belongs to the conversation of the ticket, and replies go to its address', async () => {
    const writer = await world.writer();
    await world.deliver(
      mailOf({ from: writer.email, subject: 'Re: A thread', messageId: '<first@example.org>' }),
    );
    const [ticket] = await world.tickets(writer);
    const id = ticket?.id ?? '';
    await world.answer(id, 'Which server?');
    await world.settle();
    const mail = server.received.map(({ message }) => message).find((each) => each.includes(id)) ?? '';
    const unfolded = mail.replace(/\r\n[ \t]+/g, ' ');
    assert.match(unfolded, /^Subject: Re: A thread$/m);
    assert.ok(unfolded.includes(`\r\nReply-To: Skerry <${world.addressOf(id)}>\r\n`), mail);
    assert.ok(unfolded.includes('\r\nIn-Reply-To: <first@example.org>\r\n'), mail);
    assert.ok(unfolded.includes(`\r\nReferences: <${id}@skerry.example> <first@example.org>\r\n`), mail);
    assert.match(unfolded, /Reply to this email, or read the ticket and reply there:/);
  });

  it('an address is valid while its key is in the list, and for its own ticket only', () => {
    const one = KeyRing.generate();
    const two = KeyRing.generate().replace('k1', 'k2');
    const settings = { ...world.opened.service.settings };
    const id = newId(new Date());
    const address = ticketAddress({ keys: new KeyRing(one), settings }, id) ?? assert.fail();
    assert.ok((address.split('@')[0] ?? '').length <= 64);
    assert.deepEqual(readRecipient({ keys: new KeyRing(`${two},${one}`), settings }, address), {
      ticketId: id,
    });
    assert.equal(readRecipient({ keys: new KeyRing(two), settings }, address), undefined);
    const other = ticketAddress({ keys: new KeyRing(one), settings }, newId(new Date())) ?? '';
    const mixed = `${address.split('-')[0]}-${other.split('-')[1]}`;
    assert.equal(readRecipient({ keys: new KeyRing(one), settings }, mixed), undefined);
  });

  it('the settings refuse a port that the internet reaches, and one without an address', () => {
    const mail = { SKERRY_TICKET_ADDRESS: SUPPORT, SKERRY_TICKET_AUTHSERV: 'mx' };
    for (const SKERRY_LMTP_HOST of ['0.0.0.0', '::', '198.51.100.7', 'skerry.example']) {
      assert.throws(
        () => loadConfig({ ...mail, SKERRY_LMTP_PORT: '8024', SKERRY_LMTP_HOST }),
        /^ConfigError: SKERRY_LMTP_HOST: /,
      );
    }
    loadConfig({ ...mail, SKERRY_LMTP_PORT: '8024', SKERRY_LMTP_HOST: '10.0.0.2' });
    assert.throws(() => loadConfig({ SKERRY_LMTP_PORT: '8024' }), /SKERRY_TICKET_ADDRESS: required/);
    assert.throws(() => loadConfig({ SKERRY_TICKET_ADDRESS: SUPPORT }), /SKERRY_TICKET_AUTHSERV: required/);
    assert.throws(
      () => loadConfig({ ...mail, SKERRY_LMTP_PORT: '8080' }),
      /SKERRY_LMTP_PORT: customers use this port/,
    );
    for (const SKERRY_TICKET_ADDRESS of [
      'support',
      'a+b@skerry.example',
      `${'a'.repeat(20)}@b.example`,
      'A <a@b.c>',
    ]) {
      assert.throws(
        () => loadConfig({ ...mail, SKERRY_TICKET_ADDRESS }),
        /SKERRY_TICKET_ADDRESS: must look like/,
      );
    }
  });
});
