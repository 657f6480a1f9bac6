import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../../src/spec/limits.ts';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { totpAt } from '../../support/totp.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

interface Message {
  readonly author: string;
  readonly staff: string | null;
  readonly text: string;
}

describe('tickets in the console', () => {
  let world: StaffWorld;
  let support: Person;
  let customer: SessionClient;
  let api: V1Client;
  let panel: PanelClient;

  before(async () => {
    world = await startStaffWorld();
    support = await world.person('support');
    customer = await world.customer();
    api = V1Client.forUrl(world.url, await createApiToken(customer));
    panel = PanelClient.forUrl(world.url, { cookie: customer.cookie });
  });
  after(() => world.close());

  async function open(subject = 'No route to web-1'): Promise<string> {
    const { status, body, text } = await api.post('/tickets', { subject, text: 'Since noon.' });
    assert.equal(status, 201, text);
    return body.id;
  }

  /** A ticket from before: the rate of a token is limited. */
  async function newest(): Promise<string> {
    const { body } = await world.api(support.token, 'GET', `/tickets?customer=${customer.email}`);
    return (body.data as { id: string }[])[0]?.id ?? assert.fail('there is no ticket');
  }

  const read = async (id: string) => (await world.api(support.token, 'GET', `/tickets/${id}`)).body;

  it('an answer reaches the customer in the panel and by mail, and is not in the staff log', async () => {
    const id = await open();
    const path = `/tickets/${id}`;
    const sent = await fill(support.browser, path, 'tickets.reply', { text: 'We fixed <it>.\r\nSorry!' });
    assert.match(sent.location ?? '', /done=answered/, sent.text);
    assert.match(textOf((await panel.open(`/support/${id}`)).text), /answered .* Support .* We fixed <it>\./);
    await world.settle();
    const outbox = await fetch(`${world.url}/sandbox/mails?to=${encodeURIComponent(customer.email)}`);
    const { mails } = (await outbox.json()) as { mails: { subject: string; text: string }[] };
    const mail = mails.find(({ subject }) => subject === 'Answer to your ticket: No route to web-1');
    assert.match(mail?.text ?? '', new RegExp(`We fixed <it>\\.\nSorry!\n[^]*/support/${id}\n`));
    const log = await world.api(support.token, 'GET', `/staff_log?target=${id}`);
    const [entry] = log.body.data as { operation: string; details: object | null }[];
    assert.equal(entry?.operation, 'tickets.reply');
    assert.doesNotMatch(JSON.stringify(log.body), /fixed/);
    const audit = (await api.get(`/audit/events?filter[resource]=${id}`)).body.data;
    assert.deepEqual(audit.map(({ action }: { action: string }) => action).sort(), [
      'ticket.answer',
      'ticket.create',
    ]);
  });

  it('an answer can wait for a second person, and its text stays out of the staff log', async () => {
    const owner = await world.person('owner');
    await world.api(owner.token, 'POST', '/approval_rules', { operation: 'tickets.reply' });
    const id = await open();
    const reply = { text: 'We refund it.', close: true };
    const held = await world.api(support.token, 'POST', `/tickets/${id}/reply`, reply);
    assert.equal(held.status, 202, JSON.stringify(held.body));
    assert.equal((await read(id)).status, 'open');
    // A code works once: the test forgets that it was used.
    await world.opened.service.db.run('update staff set totp_last_step = 0');
    const code = totpAt(owner.secret);
    const approved = await world.api(owner.token, 'POST', `/approvals/${held.body.id}/approve`, { code });
    assert.equal(approved.body.state, 'done', JSON.stringify(approved.body));
    await world.api(owner.token, 'DELETE', '/approval_rules/tickets.reply');
    const { status, messages } = await read(id);
    assert.equal(status, 'closed');
    const [, answer] = messages as Message[];
    assert.deepEqual([answer?.staff, answer?.text], [support.email, 'We refund it.']);
    const log = await world.api(owner.token, 'GET', '/staff_log?operation=tickets.reply');
    assert.match(JSON.stringify(log.body), /approved_by/);
    assert.doesNotMatch(JSON.stringify(log.body), /refund/);
  });

  it('a note is for staff only, and does not count as an answer', async () => {
    const id = await open();
    const noted = await world.api(support.token, 'POST', `/tickets/${id}/note`, { text: 'A known bug.' });
    assert.equal(noted.status, 200, JSON.stringify(noted.body));
    const { status, messages } = await read(id);
    assert.equal(status, 'open');
    assert.deepEqual(
      (messages as Message[]).map(({ author, staff, text }) => [author, staff, text]),
      [
        ['customer', null, 'Since noon.'],
        ['note', support.email, 'A known bug.'],
      ],
    );
    assert.doesNotMatch((await api.get(`/tickets/${id}`)).text, /known bug/);
    assert.doesNotMatch((await panel.open(`/support/${id}`)).text, /known bug/);
  });

  it('the list finds tickets by status, assignee, and customer, in both orders', async () => {
    const other = V1Client.forUrl(world.url, await createApiToken(await world.customer()));
    const ids = [await open('One'), await open('Two')];
    const third = (await other.post('/tickets', { subject: 'Three', text: 'x' })).body.id;
    const assigned = await fill(support.browser, `/tickets/${ids[0]}`, 'tickets.assign', {
      assignee: support.email,
    });
    assert.equal(assigned.status, 303, assigned.text);
    const list = async (query: string) => {
      const { body, status } = await world.api(support.token, 'GET', `/tickets?${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      return (body.data as { id: string }[]).map(({ id }) => id);
    };
    assert.deepEqual(await list(`assignee=${support.email}`), [ids[0]]);
    assert.deepEqual((await list('assignee=none')).slice(0, 2), [third, ids[1]]);
    const mine = await list(`customer=${customer.email}&status=open&order=oldest`);
    assert.deepEqual(mine.slice(-2), ids);
    assert.deepEqual(await list(`before=${ids[1]}&order=oldest`), [third]);
    await fill(support.browser, `/tickets/${ids[0]}`, 'tickets.assign', { assignee: '' });
    assert.deepEqual(await list(`assignee=${support.email}`), []);
    const unknown = await world.api(support.token, 'POST', `/tickets/${ids[0]}/assign`, {
      assignee: 'nobody@host.example',
    });
    assert.equal(unknown.status, 404);
  });

  it('staff close a ticket, and a reply of the customer opens it again', async () => {
    const id = await open();
    await fill(support.browser, `/tickets/${id}`, 'tickets.reply', { text: 'Done.', close: 'on' });
    assert.equal((await read(id)).status, 'closed');
    const again = await world.api(support.token, 'POST', `/tickets/${id}/close`);
    assert.equal(again.status, 409);
    assert.equal((await api.post(`/tickets/${id}/reply`, { text: 'Not yet.' })).body.status, 'open');
    await fill(support.browser, `/tickets/${id}`, 'tickets.close', {});
    await fill(support.browser, `/tickets/${id}`, 'tickets.reopen', {});
    assert.equal((await read(id)).status, 'open');
  });

  it('a canned answer is added to the text that is typed', async () => {
    const created = await fill(support.browser, '/canned_answers', 'canned_answers.set', {
      name: 'hello',
      text: 'Hello,\r\nthank you.',
    });
    assert.match(created.location ?? '', /\/canned_answers\/hello/, created.text);
    const id = await open();
    const page = await support.browser.get(`/tickets/${id}`);
    const input = { text: 'Dear Ann,', _text: 'hello' };
    const drafted = await support.browser.submit(page, 'tickets.reply', input, { button: ['_insert', '1'] });
    assert.match(
      drafted.text,
      /<textarea[^>]*name="text"[^>]*>\s*Dear Ann,\n\nHello,\nthank you\.<\/textarea>/,
    );
    const sent = await support.browser.submit(drafted, 'tickets.reply');
    assert.match(sent.location ?? '', /done=answered/, textOf(sent.text));
    const wrong = await fill(support.browser, '/canned_answers', 'canned_answers.set', {
      name: 'Not a name',
      text: 'x',
    });
    assert.equal(wrong.status, 400);
    await fill(support.browser, '/canned_answers/hello', 'canned_answers.delete', {});
    assert.equal((await world.api(support.token, 'GET', '/canned_answers/hello')).status, 404);
  });

  it('a file of a customer is a download for staff, and for no one else', async () => {
    const id = await newest();
    const page = await panel.open(`/support/${id}/attach`);
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('<script>')]);
    const sent = await panel.submit(page, 'attach', { name: '../shot.exe', file: new Blob([png]) });
    assert.equal(sent.status, 303, textOf(sent.text));
    const { messages } = await read(id);
    const [file] = (messages as { files: { id: string; name: string; type: string }[] }[]).flatMap(
      ({ files }) => files,
    );
    assert.deepEqual([file?.name, file?.type], ['shot.exe.png', 'image/png']);
    const path = `/tickets/${id}/files/${file?.id}`;
    const stranger = await fetch(`${world.console}${path}`, { redirect: 'manual' });
    assert.deepEqual([stranger.status, await stranger.text()], [303, '']);
    const cookie = `skerry_staff=${support.browser.cookie}`;
    const answer = await fetch(`${world.console}${path}`, { headers: { cookie } });
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), png);
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="shot\.exe\.png"/);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  });

  it('refuses an answer that is empty, too long, or to no ticket', async () => {
    const id = await newest();
    for (const text of ['', ' \n', 'x'.repeat(LIMITS.ticketTextMaxChars + 1)]) {
      const { status, body } = await world.api(support.token, 'POST', `/tickets/${id}/reply`, { text });
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(JSON.stringify(body), /"field":"text"/);
    }
    const none = await world.api(support.token, 'POST', '/tickets/tkt_x/reply', { text: 'x' });
    assert.equal(none.status, 404);
  });
});
