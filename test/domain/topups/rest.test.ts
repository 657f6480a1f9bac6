import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Value } from 'typebox/value';
import type { SaveResponse } from '../../../src/domain/context.ts';
import { orderTopup } from '../../../src/domain/topups/create.ts';
import { getTopup, listTopups } from '../../../src/domain/topups/read.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { QUOTAS } from '../../../src/spec/limits.ts';
import type { PageRequest } from '../../../src/spec/lists.ts';
import { Topup } from '../../../src/spec/schemas/topup.ts';
import { findTopupByRef } from '../../../src/store/topups/topups.ts';
import { TopupWorld } from '../../support/topup-world.ts';

const PAGE: PageRequest = { filter: {}, sort: 'created_at', descending: true, after: null, size: 25 };

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());

test('a top-up created over REST is the same invoice in the REST shape', async () => {
  const actor = await world.createCustomer();
  let kept: object = {};
  const saveResponse: SaveResponse = async (_tx, response) => {
    kept = response;
  };
  const order = { coin: 'BTC', amount_usd: 30.1 } as const;
  const made = await orderTopup(world.service, { ...actor, saveResponse }, order);
  assert.ok(Value.Check(Topup, made));
  assert.deepEqual(kept, made);
  assert.deepEqual(
    [made.status, made.amount_usd, made.bonus_usd, made.credited_usd, made.txids],
    ['pending', 30.1, 0, 0, []],
  );
  assert.deepEqual(await getTopup(world.service, actor, made.id), made);
  assert.deepEqual(await listTopups(world.service, actor, PAGE), { items: [made], next: null });
});

test('fractions of a cent are rejected, and amounts that floats cannot represent are accepted', async () => {
  const actor = await world.createCustomer();
  for (const amount of [30.001, 99.999, 1234.5678]) {
    const order = orderTopup(world.service, actor, { coin: 'BTC', amount_usd: amount });
    await assert.rejects(order, { code: 'bad_amount' }, `${amount}`);
  }
  for (const amount of [30.1, 33.33, 1001.07, 9999.99, 10000]) {
    const made = await orderTopup(world.service, actor, { coin: 'BTC', amount_usd: amount });
    assert.equal(made.amount_usd, amount);
  }
});

test('an unavailable coin is reported on the field coin', async () => {
  const actor = await world.createCustomer();
  await assert.rejects(orderTopup(world.service, actor, { coin: 'SOL', amount_usd: 30 }), {
    code: 'unavailable',
    extras: { field: 'coin' },
  });
});

test('too many open invoices are rejected with the limit', async () => {
  const actor = await world.createCustomer();
  const limit = QUOTAS.openTopups;
  for (let n = 0; n < limit; n++) await orderTopup(world.service, actor, { coin: 'ETH', amount_usd: 30 });
  await assert.rejects(orderTopup(world.service, actor, { coin: 'ETH', amount_usd: 30 }), {
    code: 'limit_reached',
    extras: { limit, used: limit },
  });
});

test('the transactions of an invoice appear in the object and in the list', async () => {
  const actor = await world.createCustomer();
  const made = await orderTopup(world.service, actor, { coin: 'BTC', amount_usd: 50 });
  world.clock.advanceMinutes(1);
  const other = await orderTopup(world.service, actor, { coin: 'ETH', amount_usd: 50 });
  const row = await world.db.row<{ order_ref: string }>(
    'select order_ref from topups where deposit_address = $1',
    [made.deposit_address],
  );
  const invoice = await findTopupByRef(world.db, actor.customerId, row?.order_ref ?? '');
  assert.ok(invoice);
  const txid = await payment(invoice.id);
  const paid = await getTopup(world.service, actor, made.id);
  assert.deepEqual(paid.txids, [txid]);
  const both = await listTopups(world.service, actor, PAGE);
  assert.deepEqual(both.items, [other, paid]);
  for (const [filter, expected] of [
    [{ coin: 'BTC' }, [paid]],
    [{ coin: 'ETH', status: 'pending' }, [other]],
    [{ status: 'credited' }, []],
  ] as const) {
    assert.deepEqual((await listTopups(world.service, actor, { ...PAGE, filter })).items, expected);
  }
});

/** Inserts a payment in the mempool and a removed one; returns the transaction of the first. */
async function payment(topupId: string): Promise<string> {
  const now = world.clock.now();
  for (const [txid, state] of [
    [`here-${topupId}`, 'mempool'],
    [`gone-${topupId}`, 'conflicted'],
  ]) {
    await world.db.run(
      `insert into deposits (coin, key, topup_id, txid, amount_units, state, confirmations, first_seen_at)
       values ('BTC', $1 || ':0', $2, $1, 100, $3, 0, $4)`,
      [txid, topupId, state, now],
    );
  }
  return `here-${topupId}`;
}

test('unknown, malformed, and other customers’ top-ups look the same', async () => {
  const actor = await world.createCustomer();
  const foreign = await orderTopup(world.service, await world.createCustomer(), {
    coin: 'BTC',
    amount_usd: 30,
  });
  for (const id of [
    foreign.id,
    formatId('topup', newId(new Date())),
    'top_',
    foreign.id.replace('top_', 'led_'),
  ]) {
    await assert.rejects(getTopup(world.service, actor, id), { code: 'not_found', extras: {} });
  }
});
