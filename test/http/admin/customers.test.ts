import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

interface Entry {
  readonly id: string;
  readonly type: string;
  readonly amount_usd: number;
  readonly balance_after_usd: number;
  readonly description: string;
}

describe('the money of a customer in the console', () => {
  let world: StaffWorld;
  let owner: Person;
  let customer: SessionClient;
  let api: V1Client;
  let path: string;
  const reason = 'ticket 7';

  before(async () => {
    world = await startStaffWorld();
    owner = await world.person('owner');
    customer = await world.customer(40);
    api = V1Client.forUrl(world.url, await createApiToken(customer));
    path = `/customers/${encodeURIComponent(customer.email ?? '')}`;
  });
  after(() => world.close());

  it('debits with a description that the customer reads, and records it in both logs', async () => {
    const done = await fill(owner.browser, path, 'customers.debit', {
      ...{ amount_usd: '2.50', description: 'Payment returned' },
      reason,
    });
    assert.match(done.location ?? '', /done=debited/, done.text);
    const [entry] = (await api.get('/billing/ledger')).body.data as Entry[];
    assert.deepEqual(
      [entry?.type, entry?.amount_usd, entry?.balance_after_usd, entry?.description],
      ['adjustment', -2.5, 37.5, 'Payment returned'],
    );
    const audit = await api.get('/audit/events?action=customer.debit');
    assert.equal(audit.body.data.length, 1);
    const log = await world.api(owner.token, 'GET', '/staff_log?operation=customers.debit');
    assert.equal((log.body.data as { reason: string }[])[0]?.reason, reason);
  });

  it('refuses a debit of more than the balance, and names the balance', async () => {
    const body = { amount_usd: '37.51', description: 'x', reason };
    const refused = await world.api(owner.token, 'POST', `${path}/debit`, body);
    assert.equal(refused.status, 422, JSON.stringify(refused.body));
    assert.match(JSON.stringify(refused.body), /37\.50/);
    const { body: shown } = await world.api(owner.token, 'GET', path);
    assert.equal(shown.balance_usd, 37.5);
  });

  it('refuses an amount that is no positive number of dollars', async () => {
    for (const amount of ['0', '-1', '1.001', 'ten']) {
      const body = { amount_usd: amount, description: 'x', reason };
      const { status } = await world.api(owner.token, 'POST', `${path}/debit`, body);
      assert.equal(status, 400, amount);
    }
  });

  it('pages through the ledger in the order of booking', async () => {
    const all = await world.api(owner.token, 'GET', `${path}/ledger`);
    const entries = all.body.data as Entry[];
    assert.ok(entries.length >= 2);
    const paged: Entry[] = [];
    for (let more = true; more; ) {
      const before = paged.at(-1) ? `&before=${paged.at(-1)?.id}` : '';
      const page = await world.api(owner.token, 'GET', `${path}/ledger?limit=1${before}`);
      paged.push(...(page.body.data as Entry[]));
      more = page.body.has_more === true;
    }
    assert.deepEqual(paged, entries);
    assert.deepEqual(
      (await api.get('/billing/ledger')).body.data.map(({ id }: Entry) => id),
      entries.map(({ id }) => id),
    );
  });

  it('shows the balance, the ledger, and the top-ups on the page of the customer', async () => {
    const page = await owner.browser.get(path);
    const text = textOf(page.text);
    assert.match(text, /\$37\.50 balance/);
    assert.match(text, /Payment returned/);
    assert.match(text, /There are no servers/);
    assert.match(page.text, /href="\/topups\?customer=cus_/);
    const ledger = /href="(\/customers\/cus_[^"]+\/ledger)"/.exec(page.text)?.[1] ?? '';
    assert.match(textOf((await owner.browser.open(ledger)).text), /Payment returned/);
  });
});
