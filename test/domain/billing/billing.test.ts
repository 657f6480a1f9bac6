import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { getBalance, listLedger } from '../../../src/domain/billing/ledger.ts';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { charge, credit, reverse } from '../../../src/domain/ledger/transfer.ts';
import { newId, newPublicNumber } from '../../../src/kernel/ids.ts';
import { DAY_MS, formatRfc3339 } from '../../../src/kernel/time.ts';
import type { PageRequest } from '../../../src/spec/lists.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

const PAGE: PageRequest = { filter: {}, sort: 'created_at', descending: true, after: null, size: 25 };

let fixture: TestService;
before(async () => {
  fixture = await startTestService();
  await fixture.fixtures.addPlans();
});
after(() => fixture.close());

/** Inserts a server in this status whose cycle ends in that many days. */
async function server(actor: CustomerActor, status: string, cents: bigint, days: number): Promise<Date> {
  const now = fixture.clock.now();
  const paidUntil = new Date(now.getTime() + days * DAY_MS);
  await fixture.db.run(
    `insert into servers
       (id, public_no, customer_id, name, status, plan_id, region_id, image_id, ram_mb, disk_gb,
        billing_months, price_cents_month, price_cents_cycle, anchor_day, paid_until, created_at, updated_at)
     select $id, $publicNo, $customerId, 'web', $status, 's1', 'par', id, 1, 1, 1, $cents, $cents, 1,
            $paidUntil, $now, $now
       from images limit 1`,
    { ...actor, id: newId(now), publicNo: newPublicNumber(), status, cents, paidUntil, now },
  );
  return paidUntil;
}

test('the balance of a customer without servers has no runway and no costs', async () => {
  const actor = await fixture.fixtures.addCustomer(1_999n);
  assert.deepEqual(await getBalance(fixture.service, actor), {
    object: 'balance',
    usd: 19.99,
    as_of: formatRfc3339(fixture.clock.now()),
    runway_until: null,
    active_servers: 0,
    daily_cost_usd: 0,
    low_balance_at: null,
  });
});

test('only running servers count, and the first cycle end is the runway', async () => {
  const actor = await fixture.fixtures.addCustomer(10_000n);
  const stranger = await fixture.fixtures.addCustomer();
  await server(actor, 'running', 735n, 90);
  const first = await server(actor, 'running', 1_250n, 30);
  for (const status of ['provisioning', 'installing', 'stopped', 'destroying']) {
    await server(actor, status, 9_900n, 3);
  }
  await server(stranger, 'running', 9_900n, 1);
  const balance = await getBalance(fixture.service, actor);
  assert.deepEqual(balance, {
    object: 'balance',
    usd: 100,
    as_of: formatRfc3339(fixture.clock.now()),
    runway_until: first.toISOString().slice(0, 10),
    active_servers: 2,
    // 19.85 × 12 / 365 = 0.6526…
    daily_cost_usd: 0.65,
    low_balance_at: formatRfc3339(new Date(first.getTime() - 7 * DAY_MS)),
  });
});

test('a negative balance is shown as a negative number', async () => {
  const actor = await fixture.fixtures.addCustomer();
  const { db, clock } = fixture;
  const facts = { customerId: actor.customerId, amountCents: 3_000n, description: 'test' } as const;
  const now = clock.now();
  const topup = await credit(db, { ...facts, account: 'deposits', type: 'topup', fact: newId(now) }, now);
  await charge(db, { ...facts, account: 'revenue', type: 'charge', fact: newId(now) }, now);
  await reverse(db, { transferId: topup.id, description: 'gone' }, now);
  assert.equal((await getBalance(fixture.service, actor)).usd, -30);
});

test('the ledger lists signed amounts in both directions, page by page', async () => {
  const actor = await fixture.fixtures.addCustomer();
  const { db, clock, service } = fixture;
  const resource = { kind: 'server', id: newId(clock.now()) } as const;
  for (const [n, amountCents] of [5_000n, 735n, 735n, 100n].entries()) {
    clock.moveTo(new Date(clock.now().getTime() + 1_000));
    const now = clock.now();
    const facts = { customerId: actor.customerId, amountCents, description: `entry ${n}`, fact: newId(now) };
    if (n === 0) await credit(db, { ...facts, account: 'adjustments', type: 'adjustment' }, now);
    else await charge(db, { ...facts, account: 'revenue', type: 'charge', resource }, now);
  }
  const read = async (page: Partial<PageRequest>) => await listLedger(service, actor, { ...PAGE, ...page });
  const { items, next } = await read({});
  assert.equal(next, null);
  assert.deepEqual(
    items.map(({ type, amount_usd, balance_after_usd }) => [type, amount_usd, balance_after_usd]),
    [
      ['charge', -1, 34.3],
      ['charge', -7.35, 35.3],
      ['charge', -7.35, 42.65],
      ['adjustment', 50, 50],
    ],
  );
  assert.match(items[0]?.resource ?? '', /^srv_/);
  assert.equal(items[3]?.resource, null);
  assert.deepEqual((await read({ filter: { type: 'adjustment' } })).items, items.slice(3));
  const page = await read({ size: 3, filter: { type: 'charge' } });
  assert.deepEqual([page.items, page.next], [items.slice(0, 3), null]);
  const oldestFirst = await read({ descending: false, size: 3 });
  assert.deepEqual(oldestFirst.items, items.slice(1).reverse());
  assert.ok(oldestFirst.next);
  const rest = await read({ descending: false, size: 3, after: oldestFirst.next });
  assert.deepEqual(rest, { items: items.slice(0, 1), next: null });
  assert.deepEqual((await listLedger(service, await fixture.fixtures.addCustomer(), PAGE)).items, []);
});
