/** Invoices that cannot be settled, and chains that are read in steps: nothing is lost or delayed. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Service } from '../../src/domain/context.ts';
import type { Database } from '../../src/kernel/sql.ts';
import type { TopupRow } from '../../src/store/topups/topups.ts';
import { watchJob } from '../../src/workers/watch.ts';
import { TopupWorld } from '../support/topup-world.ts';

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());
afterEach(() => {
  world.btc.terse = false;
  world.btc.pollBlocks = Number.POSITIVE_INFINITY;
});

async function coin() {
  return await world.db.row<{ cursor: string; failures: number }>(
    `select cursor, failures from coins where code = 'BTC'`,
  );
}

/** Creates an invoice that cannot be settled until it is repaired. */
async function createBrokenInvoice(): Promise<{ topup: TopupRow; repair(): Promise<number> }> {
  const topup = await world.createInvoice(100);
  const { customer_id: id } = topup;
  await world.db.run('delete from balances where customer_id = $1', [id]);
  return { topup, repair: () => world.db.run('insert into balances (customer_id) values ($1)', [id]) };
}

test('an invoice that cannot be settled blocks nothing else and is settled later', async () => {
  world.btc.terse = true;
  const { topup, repair } = await createBrokenInvoice();
  const sound = await world.createInvoice(100);
  const waiting = await world.createInvoice(100);
  world.btc.pay(waiting.deposit_address, 200_000n);
  await world.runUntilIdle();
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.pay(sound.deposit_address, 200_000n);
  world.btc.mine();
  const cursor = (await coin())?.cursor;
  await world.watchJob.run();
  assert.equal((await world.reloadTopup(sound)).status, 'credited');
  assert.equal((await world.reloadTopup(waiting)).status, 'credited');
  assert.notEqual((await coin())?.cursor, cursor);
  assert.equal(await world.watchJob.busy(), true, 'a failure must count as busy');
  const [deposit] = await world.deposits(topup);
  assert.deepEqual([deposit?.state, deposit?.credited_cents], ['mempool', null]);
  await repair();
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
  assert.equal((await coin())?.failures, 0);
});

test('a payment that cannot even be recorded keeps the cursor in place', async () => {
  const { topup, repair } = await createBrokenInvoice();
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  const cursor = (await coin())?.cursor;
  const db: Database = {
    rows: (text, values) => world.db.rows(text, values),
    row: (text, values) => world.db.row(text, values),
    run: (text, values) => world.db.run(text, values),
    transaction: () => Promise.reject(new Error('no transaction now')),
  };
  await watchJob({ ...world.service, db } as Service, { retry: { firstMs: 1, maxMs: 30_000 } }).run();
  assert.equal((await coin())?.cursor, cursor);
  assert.deepEqual(await world.deposits(topup), []);
  await repair();
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
});

test('a partly read chain rechecks a page of the oldest payments, and a fully read chain all', async () => {
  const topup = await world.createInvoice(100);
  for (let n = 0; n < 450; n++) world.btc.pay(topup.deposit_address, 1n);
  world.btc.mine();
  await world.runUntilIdle();
  assert.equal((await world.deposits(topup)).length, 450);
  world.btc.terse = true;
  world.btc.pollBlocks = 1;
  world.btc.mine(2);
  world.btc.rechecks.length = 0;
  await world.watchJob.run();
  assert.deepEqual(
    world.btc.rechecks.map((keys) => keys.length),
    [200],
  );
  world.btc.rechecks.length = 0;
  await world.watchJob.run();
  const rechecked = world.btc.rechecks.flat();
  assert.ok(world.btc.rechecks.every((page) => page.length <= 200));
  const keys = (await world.deposits(topup)).map(({ key }) => key);
  assert.equal(new Set(rechecked).size, rechecked.length);
  assert.ok(keys.every((key) => rechecked.includes(key)));
});

test('a driver commits its state only after all of its observations and the cursor are stored', async () => {
  const commitCursors: (string | undefined)[] = [];
  const poll = world.btc.poll.bind(world.btc);
  world.btc.poll = async (from) => ({
    ...(await poll(from)),
    commit: async () => {
      commitCursors.push((await coin())?.cursor);
    },
  });
  world.btc.terse = true;
  const topup = await world.createInvoice(100);
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  await world.runUntilIdle();
  commitCursors.length = 0;
  world.btc.mine();
  world.btc.failures.recheck = 1;
  await world.watchJob.run();
  assert.deepEqual(commitCursors, [], 'it committed before everything was stored');
  await world.runUntilIdle();
  const cursor = (await coin())?.cursor;
  assert.ok(commitCursors.length > 0);
  assert.ok(commitCursors.every((at) => at === cursor));
  world.btc.poll = poll;
});
