import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Value } from 'typebox/value';
import type { SaveResponse } from '../../../src/domain/context.ts';
import { createTopup } from '../../../src/domain/topups/create.ts';
import { cancelTopup } from '../../../src/domain/topups/end.ts';
import { findTopup, topupObject, topupView } from '../../../src/domain/topups/read.ts';
import type { Logger } from '../../../src/kernel/logger.ts';
import { Topup } from '../../../src/spec/schemas/topup.ts';
import { TopupWorld } from '../../support/topup-world.ts';

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());

const ORDER = { coin: 'BTC', amountCents: 10_000n } as const;

test('an invoice has its own address and locks the current rate for an hour', async () => {
  const actor = await world.createCustomer();
  const topup = await createTopup(world.service, actor, ORDER);
  assert.match(topup.order_ref, /^ord_[a-z2-7]{26}$/);
  assert.equal(topup.status, 'pending');
  assert.equal(topup.rate_usd, '50000');
  assert.equal(topup.deposit_units, 200_000n);
  assert.equal(topup.bonus_cents, 3_000n);
  assert.equal(topup.required_confirmations, 1);
  assert.equal(topup.expires_at.getTime() - world.clock.now().getTime(), 3_600_000);
  assert.deepEqual(await world.auditActions(topup), ['topup.create']);
  const other = await createTopup(world.service, actor, ORDER);
  assert.notEqual(other.deposit_address, topup.deposit_address);
  assert.notEqual(other.public_no, topup.public_no);
});

test('the coin amount is rounded up to the smallest unit', async () => {
  const topup = await createTopup(world.service, await world.createCustomer(), {
    coin: 'ETH',
    amountCents: 3_001n,
  });
  // 30.01 / 2500.5 = 0.0120015996800639872025594881…
  assert.equal(topup.deposit_units, 12_001_599_680_063_988n);
});

test('a stored invoice reads back unchanged, for its owner only', async () => {
  const actor = await world.createCustomer();
  const topup = await createTopup(world.service, actor, ORDER);
  assert.deepEqual(await findTopup(world.service, actor.customerId, topup.order_ref), topup);
  const stranger = await world.createCustomer();
  await assert.rejects(findTopup(world.service, stranger.customerId, topup.order_ref), { code: 'not_found' });
  await assert.rejects(findTopup(world.service, actor.customerId, 'ord_none'), { code: 'not_found' });
});

test('each API shows an invoice in its own form', async () => {
  const topup = await createTopup(world.service, await world.createCustomer(), ORDER);
  assert.deepEqual(topupView(topup), {
    status: 'waiting',
    deposit_address: topup.deposit_address,
    deposit_amount: '0.002',
    expires_at: '2030-05-01 13:00:00',
  });
  const object = topupObject(topup, []);
  assert.ok(Value.Check(Topup, object));
  assert.deepEqual(
    { ...object, id: object.id.slice(0, 4), deposit_address: '', payment_uri: '' },
    {
      id: 'top_',
      object: 'topup',
      status: 'pending',
      coin: 'BTC',
      network: 'Bitcoin',
      amount_usd: 100,
      bonus_usd: 30,
      deposit_address: '',
      deposit_amount: '0.002',
      payment_uri: '',
      rate_usd: '50000',
      expires_at: '2030-05-01T13:00:00Z',
      confirmations: 0,
      required_confirmations: 1,
      reversed_usd: 0,
      txids: [],
      credited_usd: 0,
      credit_held: false,
      created_at: '2030-05-01T12:00:00Z',
    },
  );
});

test('20 of 30 concurrent invoices are created', async () => {
  const actor = await world.createCustomer();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, () => createTopup(world.service, actor, ORDER)),
  );
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  assert.equal(refused.length, 10);
  for (const reason of refused) {
    assert.equal(reason.code, 'limit_reached');
    assert.equal(reason.extras.limit, 20);
  }
});

test('a canceled invoice makes room for another', async () => {
  const actor = await world.createCustomer();
  const made = await Promise.all(Array.from({ length: 20 }, () => createTopup(world.service, actor, ORDER)));
  await assert.rejects(createTopup(world.service, actor, ORDER), { code: 'limit_reached' });
  await cancelTopup(world.service, actor, made[3]?.order_ref ?? '');
  await createTopup(world.service, actor, ORDER);
});

test('a rejected invoice uses no address', async () => {
  const actor = await world.createCustomer();
  for (let i = 0; i < 20; i++) await createTopup(world.service, actor, ORDER);
  const index = async () =>
    (await world.db.row<{ n: number }>(`select next_index as n from coins where code = 'BTC'`))?.n;
  const before = await index();
  await assert.rejects(createTopup(world.service, actor, ORDER), { code: 'limit_reached' });
  assert.equal(await index(), before);
});

test('a frozen customer can neither create nor cancel an invoice', async () => {
  const actor = await world.createCustomer();
  const topup = await createTopup(world.service, actor, ORDER);
  await world.db.run('update customers set frozen_at = $2 where id = $1', [
    actor.customerId,
    world.clock.now(),
  ]);
  await assert.rejects(createTopup(world.service, actor, ORDER), { code: 'account_frozen' });
  await assert.rejects(cancelTopup(world.service, actor, topup.order_ref), { code: 'account_frozen' });
});

test('a coin without an address, a rate, or a driver is unavailable', async () => {
  const actor = await world.createCustomer();
  world.btc.failures.allocate = 1;
  await assert.rejects(createTopup(world.service, actor, ORDER), { code: 'unavailable' });
  world.rates.delete('BTC');
  await assert.rejects(createTopup(world.service, actor, ORDER), { code: 'unavailable' });
  world.rates.set('BTC', '0');
  await assert.rejects(createTopup(world.service, actor, ORDER), { code: 'unavailable' });
  world.rates.set('BTC', '50000');
  world.rates.set('SOL', '150');
  await assert.rejects(createTopup(world.service, actor, { ...ORDER, coin: 'SOL' }), { code: 'unavailable' });
  assert.equal((await createTopup(world.service, actor, ORDER)).status, 'pending');
});

test('the reason for a missing rate or address is logged for the operator', async () => {
  const warned: { err?: Error; coin?: string }[] = [];
  const log = { warn: (line: object) => warned.push(line) } as unknown as Logger;
  const service = { ...world.service, log };
  const actor = await world.createCustomer();
  world.btc.failures.allocate = 1;
  await assert.rejects(createTopup(service, actor, ORDER), { code: 'unavailable' });
  const rate = world.rates.get('BTC');
  world.rates.delete('BTC');
  await assert.rejects(createTopup(service, actor, ORDER), { code: 'unavailable' });
  world.rates.set('BTC', String(rate));
  assert.deepEqual(
    warned.map(({ err, coin }) => [coin, err instanceof Error]),
    [
      ['BTC', true],
      ['BTC', true],
    ],
  );
  assert.equal(warned[1]?.err?.message, 'no rate');
});

test("the caller's writes commit with the invoice", async () => {
  const actor = await world.createCustomer();
  const saveResponse: SaveResponse = async (tx, topup) => {
    assert.ok(await tx.row('select 1 from topups where id = $1', [(topup as { id: string }).id]));
    throw new Error('no record');
  };
  await assert.rejects(createTopup(world.service, { ...actor, saveResponse }, ORDER), /no record/);
  const left = await world.db.row('select 1 from topups where customer_id = $1', [actor.customerId]);
  assert.equal(left, undefined);
});

test('a pending invoice can be canceled once, by its owner', async () => {
  const actor = await world.createCustomer();
  const topup = await createTopup(world.service, actor, ORDER);
  const stranger = await world.createCustomer();
  await assert.rejects(cancelTopup(world.service, stranger, topup.order_ref), { code: 'not_found' });
  const cancelled = await cancelTopup(world.service, actor, topup.order_ref);
  assert.equal(cancelled.status, 'expired');
  assert.equal(topupView(cancelled).status, 'cancelled');
  await assert.rejects(cancelTopup(world.service, actor, topup.order_ref), { code: 'not_cancellable' });
  assert.deepEqual(await world.topupEvents(topup), []);
  assert.deepEqual(await world.auditActions(topup), ['topup.create', 'topup.cancel']);
});

test('an invoice with a payment cannot be canceled', async () => {
  const actor = await world.createCustomer();
  const topup = await createTopup(world.service, actor, ORDER);
  world.btc.pay(topup.deposit_address, 200_000n);
  await world.runUntilIdle();
  await assert.rejects(cancelTopup(world.service, actor, topup.order_ref), { code: 'not_cancellable' });
});

test('a concurrent payment and cancellation end in one order or the other', async () => {
  for (let i = 0; i < 10; i++) {
    const actor = await world.createCustomer();
    const topup = await createTopup(world.service, actor, ORDER);
    world.btc.pay(topup.deposit_address, 200_000n);
    const [cancelled] = await Promise.allSettled([
      cancelTopup(world.service, actor, topup.order_ref),
      world.runUntilIdle(),
    ]);
    const now = await world.reloadTopup(topup);
    assert.equal(now.status, 'confirming');
    assert.equal(now.cancelled_at !== null, cancelled.status === 'fulfilled');
  }
});
