import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exportCustomer } from '../../../src/domain/customers/export.ts';
import { freezeCustomer } from '../../../src/domain/customers/operator.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';

describe('tickets over REST', () => {
  let world: World;
  let customer: SessionClient;
  let api: V1Client;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '100000' });
    customer = await world.customer();
    api = V1Client.forApp(world.http, await createApiToken(customer));
  });
  after(() => world.close());

  async function create(subject = 'A question', text = 'How?'): Promise<JsonBody> {
    const answer = await api.post('/tickets', { subject, text });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  }

  it('a new ticket is open, and is found, listed, answered, and closed', async () => {
    const created = await create('  A\nquestion ', 'How?\r\n\u0007Why?\n');
    assert.match(created.id, /^tkt_/);
    const { messages, ...listed } = created;
    assert.deepEqual([listed.subject, listed.status, listed.closed_at], ['A question', 'open', null]);
    assert.deepEqual(
      messages.map(({ author, text, files }: JsonBody) => ({ author, text, files })),
      [{ author: 'customer', text: 'How?\nWhy?', files: [] }],
    );
    assert.deepEqual((await api.get(`/tickets/${created.id}`)).body, created);
    assert.deepEqual((await api.get('/tickets?filter[status]=open')).body.data[0], listed);
    const replied = (await api.post(`/tickets/${created.id}/reply`, { text: 'And when?' })).body;
    assert.equal(replied.messages.at(-1).text, 'And when?');
    const closed = (await api.post(`/tickets/${created.id}/close`)).body;
    assert.deepEqual([closed.status, typeof closed.closed_at], ['closed', 'string']);
    assert.deepEqual((await api.post(`/tickets/${created.id}/close`)).body, closed);
    const again = (await api.post(`/tickets/${created.id}/reply`, { text: 'Again.' })).body;
    assert.deepEqual([again.status, again.closed_at], ['open', null]);
  });

  it('texts are sealed in the database, and open in the export', async () => {
    const { id } = await create('A secret subject', 'A secret text');
    const stored = await world.opened.db.rows<{ row: string }>(
      `select t::text || m::text as row from tickets t join ticket_messages m on m.ticket_id = t.id`,
    );
    assert.doesNotMatch(JSON.stringify(stored), /secret/);
    const parts: string[] = [];
    await exportCustomer(world.opened.service, customer.email, async (part) => void parts.push(part));
    const { tickets, ticket_messages: messages } = JSON.parse(parts.join(''));
    assert.equal(tickets.find((row: JsonBody) => row.id === id).subject, 'A secret subject');
    assert.ok(messages.some((row: JsonBody) => row.ticket_id === id && row.text === 'A secret text'));
  });

  it('a ticket of another customer is not found', async () => {
    const { id } = await create();
    const other = V1Client.forApp(world.http, await createApiToken(await world.customer()));
    for (const path of [`/tickets/${id}/reply`, `/tickets/${id}/close`]) {
      const body = path.endsWith('reply') ? { text: 'x' } : undefined;
      assertApiError(await other.post(path, body), 404, 'not_found');
    }
    assertApiError(await other.get(`/tickets/${id}`), 404, 'not_found');
  });

  it('a read token opens no ticket', async () => {
    const reader = V1Client.forApp(world.http, await createApiToken(customer, 'read'));
    assertApiError(await reader.post('/tickets', { subject: 'x', text: 'x' }), 403, 'forbidden_scope');
  });

  it('refuses texts that are missing, empty, or too long', async () => {
    const fieldsOf = async (body: object) => {
      const answer = await api.post('/tickets', body);
      assert.equal(answer.status, 400, answer.text);
      return answer.body.error.errors.map(({ field }: JsonBody) => field);
    };
    assert.deepEqual(await fieldsOf({}), ['subject', 'text']);
    assert.deepEqual(await fieldsOf({ subject: 'x', text: ' \n ' }), ['text']);
    assert.deepEqual(await fieldsOf({ subject: '\u0007', text: 'x' }), ['subject']);
    const long = 'x'.repeat(LIMITS.ticketTextMaxChars + 1);
    assert.deepEqual(await fieldsOf({ subject: 'x', text: long }), ['text']);
  });

  it('a frozen customer can still ask us', async () => {
    const frozen = await world.customer();
    const client = V1Client.forApp(world.http, await createApiToken(frozen));
    await freezeCustomer(world.opened.service, frozen.email, true);
    const { status, body } = await client.post('/tickets', { subject: 'Why?', text: 'Why?' });
    assert.equal(status, 201);
    assert.equal((await client.post(`/tickets/${body.id}/reply`, { text: 'Please.' })).status, 200);
  });

  it('limits the tickets of a day, and the messages of a ticket', async () => {
    const busy = V1Client.forApp(world.http, await createApiToken(await world.customer()));
    let last = '';
    for (let count = 0; count < LIMITS.ticketsPerDay; count += 1) {
      last = (await busy.post('/tickets', { subject: 'x', text: 'x' })).body.id;
    }
    assertApiError(await busy.post('/tickets', { subject: 'x', text: 'x' }), 422, 'unprocessable');
    const own = LIMITS.ticketMessagesMax - LIMITS.ticketMessagesForStaff;
    for (let count = 1; count < own; count += 1) {
      assert.equal((await busy.post(`/tickets/${last}/reply`, { text: 'x' })).status, 200);
    }
    assertApiError(await busy.post(`/tickets/${last}/reply`, { text: 'x' }), 422, 'unprocessable');
    await world.advance(86_400);
    assert.equal((await busy.post('/tickets', { subject: 'x', text: 'x' })).status, 201);
  });
});
