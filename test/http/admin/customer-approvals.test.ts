import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DAY_MS, SECOND_MS } from '../../../src/kernel/time.ts';
import { SEALED } from '../../../src/spec/sealed.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { totpAt } from '../../support/totp.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

describe('acts on a customer that wait for a second person', () => {
  let world: StaffWorld;
  let asks: Person;
  let approves: Person;
  let customer: SessionClient;
  let api: V1Client;
  let path: string;
  const reason = 'ticket 7';

  before(async () => {
    world = await startStaffWorld();
    asks = await world.person('owner', 'asks@host.example');
    approves = await world.person('owner', 'approves@host.example');
    customer = await world.customer(40);
    api = V1Client.forUrl(world.url, await createApiToken(customer));
    path = `/customers/${customer.email}`;
    for (const name of ['debit', 'set_limits', 'add_note', 'set_tags', 'export', 'delete']) {
      const operation = `customers.${name}`;
      // A single rule is set without approval; the next ones wait for the other owner.
      const set = await world.api(asks.token, 'POST', '/approval_rules', { operation });
      if (set.status === 202) await approve(set.body.id as string);
    }
  });
  after(() => world.close());

  async function approve(id: string, state = 'done'): Promise<void> {
    // A code works once: the test forgets that it was used.
    await world.opened.service.db.run('update staff set totp_last_step = 0');
    const body = { code: totpAt(approves.secret) };
    const done = await world.api(approves.token, 'POST', `/approvals/${id}/approve`, body);
    assert.deepEqual([done.status, done.body.state], [200, state], JSON.stringify(done.body));
  }

  async function ask(below: string, body: object): Promise<string> {
    const held = await world.api(asks.token, 'POST', `${path}/${below}`, body);
    assert.equal(held.status, 202, JSON.stringify(held.body));
    return held.body.id as string;
  }

  it('changes nothing until it is approved, and then as the person who asked', async () => {
    const debit = await ask('debit', { amount_usd: '2.50', description: 'Payment returned', reason });
    const limits = await ask('limits', { servers: 3, reason });
    const note = await ask('notes', { text: 'Call again.' });
    const tags = await ask('set_tags', { tags: ['vip'] });
    const before = await world.api(asks.token, 'GET', path);
    assert.deepEqual([before.body.balance_usd, before.body.tags], [40, []]);
    for (const id of [debit, limits, note, tags]) await approve(id);
    const { body: after } = await world.api(asks.token, 'GET', path);
    assert.deepEqual([after.balance_usd, after.tags], [37.5, ['vip']]);
    const [entry] = (await api.get('/billing/ledger')).body.data;
    assert.deepEqual([entry.amount_usd, entry.description], [-2.5, 'Payment returned']);
    const { body: notes } = await world.api(asks.token, 'GET', `${path}/notes`);
    const [written] = notes.data as { text: string; author: string }[];
    assert.deepEqual([written?.text, written?.author], ['Call again.', 'A person (owner)']);
    const { data } = (await api.get('/account/limits?page_size=100')).body;
    assert.equal(data.find(({ name }: { name: string }) => name === 'servers').limit, 3);
  });

  it('lets the person who asked export the data once after the approval', async () => {
    const take = (person: Person) => world.api(person.token, 'POST', `${path}/export`, { reason });
    await approve(await ask('export', { reason }), 'approved');
    assert.equal((await take(approves)).body.object, 'approval');
    const taken = await take(asks);
    assert.deepEqual([taken.status, taken.body.object], [200, 'customer_export']);
    assert.equal((await take(asks)).status, 202);
    assert.equal((await api.get('/audit/events?action=customer.export')).body.data.length, 1);
  });

  it('names the account by id, and refuses an unknown account', async () => {
    const { body } = await world.api(asks.token, 'GET', path);
    const id = await ask('debit', { amount_usd: '1.00', description: 'A correction', reason });
    const row = await world.opened.db.row<{ request_id: string; input_sealed: string }>(
      'select request_id, input_sealed from approval_inputs order by request_id desc limit 1',
    );
    const { keys } = world.opened.service;
    const input = keys.open(SEALED.approvalInput, row?.request_id ?? '', row?.input_sealed ?? '');
    assert.deepEqual(JSON.parse(input.toString()).params, { id: body.id });
    await world.api(asks.token, 'POST', `/approvals/${id}/refuse`);
    const unknown = '/customers/unknown@example.org/debit';
    const order = { amount_usd: '1.00', description: 'A correction', reason };
    assert.equal((await world.api(asks.token, 'POST', unknown, order)).status, 404);
  });

  it('lets the person who asked read the code of an invitation, with the same input only', async () => {
    const invite = (name: string) =>
      world.api(asks.token, 'POST', '/staff', { email: 'new@host.example', name, role: 'support' });
    const held = await invite('New');
    assert.equal(held.status, 202, JSON.stringify(held.body));
    await approve(held.body.id as string, 'approved');
    assert.equal((await invite('Another')).status, 202);
    const invited = await invite('New');
    assert.equal(invited.status, 201, JSON.stringify(invited.body));
    assert.match(String(invited.body.invitation_code), /\S{10,}/);
  });

  it('forgets an approval that no one used in three days', async () => {
    const id = await ask('export', { reason });
    await approve(id, 'approved');
    await world.advance((3 * DAY_MS) / SECOND_MS + 1);
    assert.equal((await world.api(asks.token, 'POST', `${path}/export`, { reason })).status, 202);
    assert.equal((await world.api(asks.token, 'GET', `/approvals/${id}`)).body.state, 'expired');
  });

  it('deletes the account after the approval', async () => {
    const id = await ask('delete', { destroy_servers: true, reason });
    const { body } = await world.api(asks.token, 'GET', path);
    assert.equal(body.deleting_at, null);
    await approve(id);
    await world.settle();
    assert.equal((await world.api(asks.token, 'GET', `/customers/${body.id}`)).body.email, 'deleted');
  });
});
