import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { base58 } from '@scure/base';
import { Simnet } from '../../src/drivers/chain/simnet/driver.ts';
import { COIN_CODES } from '../../src/spec/coins.ts';
import { Poller, type SimnetWorld, simnetWorld } from './simnet-world.ts';

let world: SimnetWorld;
before(async () => {
  world = await simnetWorld();
});
after(() => world.close());

test('an invoice always gets the same address, another one never', async () => {
  const network = world.network('BTC');
  const first = await network.allocate({ id: 'same', index: 9001, amountUnits: 5n });
  const again = await Promise.all(
    [1, 2, 3].map(() => network.allocate({ id: 'same', index: 9001, amountUnits: 5n })),
  );
  for (const deposit of again) assert.deepEqual(deposit, first);
  assert.equal(first.uri, `bitcoin:${first.address}?amount=0.00000005`);
  const other = await network.allocate({ id: 'other', index: 9002, amountUnits: 5n });
  assert.notEqual(other.address, first.address);
});

test('a number whose invoice came to nothing goes to another invoice, with its address', async () => {
  const network = world.network('BTC');
  const refused = await network.allocate({ id: 'refused', index: 9003, amountUnits: 5n });
  const next = await network.allocate({ id: 'next', index: 9003, amountUnits: 7n });
  assert.equal(next.address, refused.address);
});

for (const coin of COIN_CODES) {
  test(`a ${coin} payment goes from the mempool into a block and becomes final`, async () => {
    const address = await world.address(coin);
    const poller = new Poller(world.network(coin));
    await poller.poll();
    const { txid } = await world.control.pay({ coin, address, amount: '1.25' });
    const [seen] = await poller.poll();
    assert.equal(seen?.txid, txid);
    assert.match(seen.key, new RegExp(`^${txid}:[01]$`));
    assert.equal(seen.address, address);
    assert.equal(seen.state, 'mempool');
    assert.equal(seen.confirmations, 0);
    assert.equal(seen.blockHash, null);
    world.clock.advanceS(60);
    const { height } = await world.control.mine({ coin, count: 1 });
    const [included] = await poller.poll();
    assert.equal(included?.state, 'included');
    assert.equal(included.confirmations, 1);
    assert.equal(included.height, height);
    assert.deepEqual(included.blockTime, world.clock.now());
    assert.equal(poller.cursor, `${height}:${included.blockHash}`);
    await world.control.mine({ coin, count: 29 });
    const [final] = await poller.poll();
    assert.equal(final?.state, 'final');
    assert.equal(final.confirmations, 30);
    assert.equal(final.blockHash, included.blockHash);
    await poller.poll();
    assert.deepEqual(await poller.poll(), [], 'what is final and unchanged is not told again');
  });
}

test('amounts are exact to the smallest unit', async () => {
  const address = await world.address('ETH');
  await world.control.pay({ coin: 'ETH', address, amount: '1.000000000000000001' });
  const { observations } = await world.network('ETH').poll({ cursor: null });
  assert.equal(observations.at(-1)?.amountUnits, 1_000_000_000_000_000_001n);
});

test('a payment in two parts is two outputs to one address', async () => {
  const address = await world.address('LTC');
  const poller = new Poller(world.network('LTC'));
  await poller.poll();
  await world.control.pay({ coin: 'LTC', address, amount: '0.4' });
  await world.control.mine({ coin: 'LTC', count: 1 });
  await world.control.pay({ coin: 'LTC', address, amount: '0.6' });
  const parts = (await poller.poll()).filter((part) => part.address === address);
  assert.deepEqual(
    parts.map((part) => [part.amountUnits, part.state]),
    [
      [40_000_000n, 'included'],
      [60_000_000n, 'mempool'],
    ],
  );
});

test('a reorganisation returns payments to the mempool, from where another block takes them', async () => {
  const coin = 'XMR';
  const address = await world.address(coin);
  const poller = new Poller(world.network(coin));
  const { txid } = await world.control.pay({ coin, address, amount: '2' });
  const before = await world.control.mine({ coin, count: 3 });
  await poller.poll();
  assert.equal(poller.picture.get(txid)?.confirmations, 3);
  assert.deepEqual(await world.control.reorg({ coin, depth: 3 }), { height: before.height - 3, removed: 3 });
  const orphaned = poller.picture.get(txid)?.blockHash;
  await poller.poll();
  assert.equal(poller.picture.get(txid)?.state, 'mempool');
  await world.control.mine({ coin, count: 1 });
  await poller.poll();
  assert.equal(poller.picture.get(txid)?.confirmations, 1);
  assert.notEqual(poller.picture.get(txid)?.blockHash, orphaned);
});

test('a payment that a reorganisation dropped is removed, however late one looks', async () => {
  const coin = 'SOL';
  const address = await world.address(coin);
  const poller = new Poller(world.network(coin));
  const { txid } = await world.control.pay({ coin, address, amount: '2' });
  await world.control.mine({ coin, count: 2 });
  await poller.poll();
  await world.control.reorg({ coin, depth: 1 });
  await world.control.reorg({ coin, depth: 1, drop: true });
  await world.control.mine({ coin, count: 40 });
  await world.control.reorg({ coin, depth: 5 });
  await world.control.mine({ coin, count: 50 });
  await poller.poll();
  const removed = poller.picture.get(txid);
  assert.equal(removed?.state, 'removed');
  assert.equal(removed.confirmations, 0);
  assert.equal(removed.height, null);
  assert.equal(removed.amountUnits, 2_000_000_000n);
  assert.deepEqual(await world.network(coin).recheck([removed.key]), [removed]);
});

test('a reorganisation stops at the first block of the network', async () => {
  const { height } = await world.control.mine({ coin: 'TRX', count: 1 });
  const { height: first, removed } = await world.control.reorg({ coin: 'TRX', depth: 1000 });
  assert.equal(height - first, removed);
  assert.deepEqual(await world.control.reorg({ coin: 'TRX', depth: 1 }), { height: first, removed: 0 });
});

test('a double-spent payment is conflicted for ever', async () => {
  const coin = 'BTC';
  const address = await world.address(coin);
  const poller = new Poller(world.network(coin));
  const { txid } = await world.control.pay({ coin, address, amount: '2' });
  await world.control.conflict(txid);
  await world.control.mine({ coin, count: 2 });
  await poller.poll();
  assert.equal(poller.picture.get(txid)?.state, 'conflicted');
  await world.control.conflict(txid);
  const { txid: mined } = await world.control.pay({ coin, address, amount: '2' });
  await world.control.mine({ coin, count: 1 });
  await assert.rejects(world.control.conflict(mined), { name: 'SimnetInputError', field: 'txid' });
  await assert.rejects(world.control.conflict('nothing'), { name: 'SimnetInputError', field: 'txid' });
});

test('recheck answers for each key in turn, and calls removed what the chain never had', async () => {
  const coin = 'USDT';
  const address = await world.address(coin);
  const { txid } = await world.control.pay({ coin, address, amount: '31' });
  const { observations } = await world.network(coin).poll({ cursor: null });
  const known = observations.find((one) => one.txid === txid);
  assert.ok(known);
  const [never, present] = await world.network(coin).recheck(['0xdead:1', known.key]);
  assert.equal(never?.key, '0xdead:1');
  assert.equal(never.txid, '0xdead');
  assert.equal(never.state, 'removed');
  assert.deepEqual(present, known);
  const [foreign] = await world.network('ETH').recheck([known.key]);
  assert.equal(foreign?.state, 'removed', "another coin's output is not on this chain");
  assert.deepEqual(await world.network(coin).recheck([]), []);
});

test('a cursor that the chain never had begins at the beginning', async () => {
  const all = await world.network('BTC').poll({ cursor: null });
  assert.ok(all.observations.length > 0);
  for (const cursor of ['12:ffff', 'nonsense', '']) {
    assert.deepEqual(await world.network('BTC').poll({ cursor }), all);
  }
});

test('each block names its parent', async () => {
  await world.control.mine({ coin: 'SOL', count: 3 });
  const blocks = await world.db.rows<{ hash: string; parent_hash: string | null }>(
    `select hash, parent_hash from sim.blocks where coin = 'SOL' and not orphaned order by height`,
  );
  for (const [i, block] of blocks.entries()) assert.equal(block.parent_hash, blocks[i - 1]?.hash ?? null);
  assert.equal(base58.decode(blocks[0]?.hash ?? '').length, 32);
});

test('health tells the height and the pace', async () => {
  const { height } = await world.control.mine({ coin: 'LTC', count: 1 });
  const { tipAt, ...health } = await world.network('LTC').health();
  assert.deepEqual(health, { ok: true, height, detail: 'simulated, blocks on demand' });
  assert.equal(tipAt?.getTime(), world.clock.now().getTime());
});

test('an armed fault fails the call it was armed for, before anything happens', async () => {
  const { db, clock } = world;
  const asked: string[] = [];
  const faults = {
    consume: async (driver: string, operation: string) => {
      asked.push(`${driver} ${operation}`);
      return true;
    },
  };
  const network = new Simnet({ coin: 'BTC', db, clock, faults, blockS: 0 });
  const calls = [
    () => network.allocate({ id: 'faulty', index: 9_999, amountUnits: 1n }),
    () => network.poll({ cursor: null }),
    () => network.recheck([]),
    () => network.health(),
  ];
  for (const call of calls) await assert.rejects(call, { message: 'simulated fault' });
  assert.deepEqual(asked, ['chain allocate', 'chain poll', 'chain recheck', 'chain health']);
  const left = await db.row(`select from sim.addresses where invoice_id = 'faulty'`);
  assert.equal(left, undefined);
});
