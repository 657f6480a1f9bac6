import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Logger } from '../../src/kernel/logger.ts';
import { watchJob } from '../../src/workers/watch.ts';
import { TopupWorld } from '../support/topup-world.ts';

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());
beforeEach(async () => {
  await world.runUntilIdle();
  world.btc.polls.length = 0;
  world.eth.polls.length = 0;
  world.btc.rechecks.length = 0;
});

async function coin(code: string) {
  return await world.db.row<{ cursor: string; failures: number; lease_id: string | null }>(
    'select cursor, failures, lease_id from coins where code = $1',
    [code],
  );
}

async function waitUntil(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!holds()) {
    assert.ok(Date.now() < deadline);
    await nextTick();
  }
}

test('a coin without an invoice is not polled', async () => {
  await world.createInvoice(100, 'BTC');
  await world.watchJob.run();
  assert.equal(world.btc.polls.length, 1);
  assert.equal(world.eth.polls.length, 0);
});

test('every run polls from the saved cursor, and returns 0 when nothing changed', async () => {
  const topup = await world.createInvoice(100);
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  assert.equal(await world.watchJob.run(), 1);
  const read = (await coin('BTC'))?.cursor;
  assert.equal(await world.watchJob.run(), 0);
  assert.equal(await world.watchJob.run(), 0);
  assert.deepEqual(world.btc.polls.slice(1), [read, read]);
  assert.equal((await coin('BTC'))?.lease_id, null);
  assert.equal(await world.watchJob.busy(), false);
  assert.equal(await world.watchJob.nextDue(), null);
});

test('payments in a block are rechecked only when the chain has moved', async () => {
  const topup = await world.createInvoice(100);
  const key = world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  await world.runUntilIdle();
  world.btc.hiddenKeys.add(key);
  await world.watchJob.run();
  assert.equal(world.btc.rechecks.length, 0);
  world.btc.mine();
  await world.watchJob.run();
  assert.ok(world.btc.rechecks.some((keys) => keys.includes(key)));
  world.btc.hiddenKeys.clear();
});

test('a failing node delays only its own coin and is retried', async () => {
  const btc = await world.createInvoice(100);
  const eth = await world.createInvoice(100, 'ETH');
  world.btc.pay(btc.deposit_address, 200_000n);
  world.btc.mine();
  world.eth.pay(eth.deposit_address, eth.deposit_units);
  world.eth.mine(30);
  world.btc.failures.poll = 3;
  assert.equal(await world.watchJob.run(), 1);
  assert.equal((await world.reloadTopup(eth)).status, 'credited');
  assert.equal((await coin('BTC'))?.failures, 1);
  assert.equal(await world.watchJob.busy(), true);
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(btc)).status, 'credited');
  assert.equal((await coin('BTC'))?.failures, 0);
});

test('a failed recheck keeps the cursor but applies what the poll reported', async () => {
  const silent = await world.createInvoice(100);
  world.btc.hiddenKeys.add(world.btc.pay(silent.deposit_address, 200_000n));
  world.btc.hiddenKeys.clear();
  await world.runUntilIdle();
  const [deposit] = await world.deposits(silent);
  world.btc.hiddenKeys.add(deposit?.key ?? '');
  const reported = await world.createInvoice(100);
  world.btc.pay(reported.deposit_address, 200_000n);
  world.btc.mine();
  const cursor = (await coin('BTC'))?.cursor;
  world.btc.failures.recheck = 1;
  await world.watchJob.run();
  assert.equal((await world.reloadTopup(reported)).status, 'credited');
  assert.equal((await coin('BTC'))?.cursor, cursor);
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(silent)).status, 'credited');
  world.btc.hiddenKeys.clear();
});

test('a node that does not answer times out', async () => {
  const topup = await world.createInvoice(100, 'ETH');
  world.eth.pay(topup.deposit_address, topup.deposit_units);
  world.eth.mine(30);
  let answer = () => {};
  world.btc.duringPoll = () => new Promise((resolve) => (answer = resolve));
  await watchJob(world.service, {
    driverTimeoutMs: 50,
    retry: { firstMs: 1, maxMs: 30_000 },
    runWaitMaxMs: 10_000,
  }).run();
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
  assert.equal((await coin('BTC'))?.failures, 1);
  answer();
  world.btc.duringPoll = async () => undefined;
});

test('a slow coin delays no other and keeps the job busy while it is read across runs', {
  timeout: 10_000,
}, async () => {
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  const first = await world.createInvoice(100, 'ETH');
  const slow = await world.createInvoice(100);
  world.btc.pay(slow.deposit_address, 200_000n);
  world.btc.mine();
  world.btc.duringPoll = () => promise;
  const watch = watchJob(world.service, { runWaitMaxMs: 50 });
  for (const topup of [first, await world.createInvoice(100, 'ETH')]) {
    world.eth.pay(topup.deposit_address, topup.deposit_units);
    world.eth.mine(30);
    while ((await world.reloadTopup(topup)).status !== 'credited') assert.ok((await watch.run()) >= 1);
  }
  assert.equal(world.btc.polls.length, 1);
  assert.ok((await watch.run()) >= 1);
  assert.equal(await watch.busy(), true);
  world.btc.duringPoll = async () => undefined;
  answer();
  while ((await watch.run()) > 0 || (await watch.busy()));
  assert.equal((await world.reloadTopup(slow)).status, 'credited');
});

test('each coin has its own lease', async () => {
  await world.createInvoice(100);
  await world.createInvoice(100, 'ETH');
  const leases: unknown[] = [];
  world.btc.duringPoll = async () => {
    world.btc.duringPoll = async () => undefined;
    leases.push((await coin('BTC'))?.lease_id, (await coin('ETH'))?.lease_id);
  };
  world.eth.duringPoll = () => waitUntil(() => leases.length === 2);
  await world.watchJob.run();
  world.eth.duringPoll = async () => undefined;
  assert.ok(leases[0] && leases[1]);
  assert.notEqual(leases[0], leases[1]);
  assert.deepEqual([(await coin('BTC'))?.lease_id, (await coin('ETH'))?.lease_id], [null, null]);
});

test('a process that finds all coins in progress elsewhere returns less and less often', async () => {
  await world.createInvoice(100);
  const other = watchJob(world.service);
  let waitedMs = 0;
  world.btc.duringPoll = async () => {
    world.btc.duringPoll = async () => undefined;
    const startedAt = performance.now();
    for (let n = 0; n < 4; n++) assert.ok((await other.run()) >= 1);
    waitedMs = performance.now() - startedAt;
  };
  await world.watchJob.run();
  assert.ok(waitedMs > 350, `${waitedMs} ms`);
});

test('the reason that a chain could not be read is logged', async () => {
  await world.createInvoice(100);
  const warned: { err?: unknown; coin?: unknown }[] = [];
  const log = { warn: (line: object) => warned.push(line) } as unknown as Logger;
  world.btc.failures.poll = 1;
  await watchJob({ ...world.service, log }, { retry: { firstMs: 1, maxMs: 30_000 } }).run();
  assert.equal(warned.length, 1);
  assert.equal(warned[0]?.coin, 'BTC');
  assert.ok(warned[0]?.err instanceof Error);
});

test('a coin that another process reads is left alone and counts as work', async () => {
  await world.createInvoice(100);
  const { run: other } = watchJob(world.service);
  let meanwhile = -1;
  world.btc.duringPoll = async () => {
    world.btc.duringPoll = async () => undefined;
    meanwhile = await other();
  };
  await world.watchJob.run();
  assert.ok(meanwhile >= 1);
  assert.equal(world.btc.polls.length, 1);
});

test('a process that lost its lease writes none of its observations', async () => {
  const topup = await world.createInvoice(100);
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  const cursor = (await coin('BTC'))?.cursor;
  world.btc.duringPoll = async () => {
    world.btc.duringPoll = async () => undefined;
    await world.db.run(`update coins set lease_id = gen_random_uuid() where code = 'BTC'`);
  };
  assert.ok((await world.watchJob.run()) >= 1);
  assert.deepEqual(await world.deposits(topup), []);
  assert.equal((await coin('BTC'))?.cursor, cursor);
  await world.db.run(`update coins set lease_id = null, leased_until = null`);
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
});

test('a process that reads for a long time keeps its lease', async () => {
  const topup = await world.createInvoice(100);
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  const until = async () =>
    (await world.db.row<{ at: Date }>(`select leased_until as at from coins where code = 'BTC'`))?.at;
  world.btc.duringPoll = async () => {
    world.btc.duringPoll = async () => undefined;
    const first = await until();
    const deadline = Date.now() + 5_000;
    while ((await until())?.getTime() === first?.getTime()) assert.ok(Date.now() < deadline);
  };
  await watchJob(world.service, { leaseMs: 60, runWaitMaxMs: 10_000 }).run();
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
});

test('an expired lease is taken over', async () => {
  const topup = await world.createInvoice(100);
  await world.db.run(
    `update coins set lease_id = gen_random_uuid(), leased_until = clock_timestamp() - interval '1 ms'`,
  );
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  await world.watchJob.run();
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
});

test('processes that read at the same time credit a payment once', async () => {
  const topups = await Promise.all(Array.from({ length: 8 }, () => world.createInvoice(100)));
  for (const topup of topups) world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  await Promise.all([world.runUntilIdle(), world.runUntilIdle(), world.runUntilIdle()]);
  for (const topup of topups) assert.equal(await world.balance(topup), 13_000n);
});
