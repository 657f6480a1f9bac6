import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import type { QuotedPrice } from '../../../../src/domain/billing/quotes/quote.ts';
import type { ScopedActor } from '../../../../src/domain/context.ts';
import { InvalidRequest } from '../../../../src/kernel/fail.ts';
import { LIMITS } from '../../../../src/spec/limits.ts';
import { dumpTables } from '../../../support/dump-tables.ts';
import { QuotesWorld } from './quotes-world.ts';

const ORDER = { plan: 's1', region: 'par', billing_months: 3 } as const;

let quotes: QuotesWorld;
let rich: ScopedActor;
before(async () => {
  quotes = await QuotesWorld.open(10_000n);
  rich = quotes.actor;
});
after(() => quotes.world.close());
beforeEach(async () => {
  await quotes.clear();
  await quotes.setPrice(502n);
  quotes.actor = rich;
});

const quoteOrder = (params: object = ORDER): Promise<QuotedPrice> =>
  quotes.quote('server.create', { params });
const refusalOf = ({ refusal }: QuotedPrice) => refusal && [refusal.code, refusal.extras];

it('a quote of an order has its price, its cycle, its renewal, and the balance after it', async () => {
  quotes.world.clock.moveTo(new Date('2032-01-31T12:00:00Z'));
  const { id, ...shown } = await quotes.shown('server.create', { params: ORDER });
  assert.match(id, /^quo_[a-z2-7]{26}$/);
  assert.deepEqual(shown, {
    object: 'quote',
    operation: 'server.create',
    lines: [{ description: 's1 in par, 3 months', amount_usd: 11.3 }],
    total_usd: 11.3,
    credit_usd: 0,
    due_now_usd: 11.3,
    renews_usd: 11.3,
    renews_at: '2032-04-30T12:00:00Z',
    cycle_ends_at: '2032-04-30T12:00:00Z',
    balance_after_usd: 88.7,
    deficit_usd: 0,
    topup: null,
    expires_at: '2032-01-31T13:00:00Z',
  });
  assert.equal(LIMITS.quoteMinutes, 60);
});

it('a quote stores and reserves nothing', async () => {
  const server = await quotes.create();
  const before = await dumpTables(quotes.world.db);
  for (const operation of ['server.start', 'server.delete'] as const)
    await quotes.quote(operation, { resource: server.id });
  await quoteOrder();
  assert.deepEqual(await dumpTables(quotes.world.db), before);
});

it('an order that is not complete is quoted, and only the given fields are checked', async () => {
  const bare = await quoteOrder({ plan: 's1' });
  assert.deepEqual([bare.refusal, bare.price?.lines], [null, [{ description: 's1, 1 month', cents: 502n }]]);
  assert.deepEqual(refusalOf(await quoteOrder({ plan: 's1', image: 'img_1' })), [
    'unknown_reference',
    { field: 'image' },
  ]);
  assert.deepEqual(refusalOf(await quoteOrder({ plan: 's1', region: 'zzz' })), [
    'unknown_reference',
    { field: 'region' },
  ]);
  await quotes.world.db.run('update hosts set draining = true');
  const soldOut = await quoteOrder({ plan: 's1' });
  assert.match(soldOut.refusal?.message ?? '', /every region/);
  await quotes.world.db.run('update hosts set draining = false');
});

it('a quote without a price has null amounts, and its id allows no price', async () => {
  const asked = ['server.create', { params: { ...ORDER, plan: 's9' } }] as const;
  const { total_usd, due_now_usd, balance_after_usd, lines, id } = await quotes.shown(...asked);
  assert.deepEqual([total_usd, due_now_usd, balance_after_usd, lines], [null, null, null, []]);
  assert.deepEqual(refusalOf(await quotes.quote(...asked)), ['unknown_reference', { field: 'plan' }]);
  await assert.rejects(quotes.create({ quote: id }), { code: 'price_changed' });
});

it('params that the order would be refused for with 400 are named by their place in the quote', async () => {
  await assert.rejects(quoteOrder({ ...ORDER, user_data_b64: '?' }), (error: unknown) => {
    assert.ok(error instanceof InvalidRequest);
    assert.deepEqual(error.items, [{ field: 'params.user_data_b64', issue: 'invalid_format' }]);
    return true;
  });
});

it('a deficit names the smallest top-up that covers it, and suspended servers first', async () => {
  const ordered = await quotes.create();
  quotes.actor = await quotes.world.fixtures.addCustomer(1_000n);
  const short = await quotes.shown('server.create', { params: ORDER });
  assert.deepEqual(
    [short.balance_after_usd, short.deficit_usd, short.topup],
    [-1.3, 1.3, { amount_usd: 30, bonus_usd: 0 }],
  );
  // The next top-up pays $90 for it before anything else.
  await quotes.world.db.run(
    `update servers set customer_id = $1, status = 'suspended', suspended_reason = 'balance',
                        price_cents_cycle = 9000, suspended_at = created_at, resume_to = 'running',
                        destroy_at = paid_until, paid_until = created_at`,
    [quotes.actor.customerId],
  );
  const waiting = await quotes.shown('server.create', { params: { ...ORDER, billing_months: 12 } });
  assert.deepEqual([waiting.deficit_usd, waiting.topup], [20.12, { amount_usd: 100, bonus_usd: 30 }]);
  assert.deepEqual(refusalOf(await quoteOrder()), [
    'insufficient_balance',
    { have: 10, need: 11.3, deficit: 1.3 },
  ]);
  // A top-up that pays for the server itself is enough to resume it.
  const own = await quotes.shown('server.start', { resource: ordered.id });
  assert.deepEqual([own.due_now_usd, own.deficit_usd, own.topup?.amount_usd], [90, 80, 80]);
});

it('the balance is part of a quote only for the scope billing', async () => {
  quotes.actor = await quotes.world.fixtures.addCustomer(1_000n);
  for (const scope of ['read', 'write'] as const) {
    quotes.actor = { ...quotes.actor, scope };
    const shown = await quotes.shown('server.create', { params: ORDER });
    assert.deepEqual([shown.balance_after_usd, shown.deficit_usd, shown.topup], [null, null, null]);
    assert.equal(shown.due_now_usd, 11.3);
    const quoted = await quoteOrder();
    assert.deepEqual(refusalOf(quoted), ['insufficient_balance', { need: 11.3 }]);
    assert.doesNotMatch(quoted.refusal?.message ?? '', /\d/);
  }
});

it('a negative balance is no deficit of an operation that costs nothing', async () => {
  const server = await quotes.create();
  await quotes.install(server.id);
  await quotes.world.db.run(`update servers set status = 'stopped'`);
  await quotes.world.db.run('update balances set balance_cents = -500 where customer_id = $1', [
    quotes.actor.customerId,
  ]);
  const { due_now_usd, balance_after_usd, deficit_usd } = await quotes.shown('server.start', {
    resource: server.id,
  });
  assert.deepEqual([due_now_usd, balance_after_usd, deficit_usd], [0, -5, 0]);
  await quotes.world.db.run(`update balances set balance_cents = 10000 where customer_id = $1`, [
    quotes.actor.customerId,
  ]);
});

it('a resource of another customer is refused like an unknown one', async () => {
  const { id } = await quotes.create();
  quotes.actor = await quotes.world.fixtures.addCustomer();
  for (const operation of ['server.start', 'server.delete'] as const) {
    for (const resource of [id, 'srv_nonsense', ''])
      await assert.rejects(quotes.quote(operation, { resource }), { code: 'unknown_reference' });
  }
});
