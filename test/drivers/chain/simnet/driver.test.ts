import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { base58 } from '@scure/base';
import { Simnet } from '../../../../src/drivers/chain/simnet/driver.ts';
import { COIN_CODES } from '../../../../src/spec/coins.ts';
import { Poller, type SimnetWorld, simnetWorld } from './simnet-world.ts';

let world: SimnetWorld;
before(async () => {
  world = await simnetWorld();
});
after(() => world.close());

test('an invoice always has the same address and no other invoice has it', async () => {
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

test('an index whose invoice failed passes to another invoice together with its address', async () => {
  const network = world.network('BTC');
  const refused = await network.allocate({ id: 'refused', index: 9003, amountUnits: 5n });
  const next = await network.allocate({ id: 'next', index: 9003, amountUnits: 7n });
  assert.equal(next.address, refused.address);
});

for (const coin of COIN_CODES) {
  test(`a ${coin} payment moves from the mempool into a block and becomes final`, async () => {
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
    assert.deepEqual(await poller.poll(), [], 'an unchanged final payment is not reported again');
  });
}

test('amounts are exact to the smallest unit', async () => {
  const address = await world.address('ETH');
  await world.control.pay({ coin: 'ETH', address, amount: '1.000000000000000001' });
  const { observations } = await world.network('ETH').poll({ cursor: null });
  assert.equal(observations.at(-1)?.amountUnits, 1_000_000_000_000_000_001n);
});

test('a payment in two parts has two outputs to one address', async () => {
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

test('a reorganization returns payments to the mempool and another block includes them', async () => {
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

test('a payment dropped by a reorganization is reported as removed, however late the poll', async () => {
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

test('a reorganization stops at the first block of the network', async () => {
  const { height } = await world.control.mine({ coin: 'TRX', count: 1 });
  const { height: first, removed } = await world.control.reorg({ coin: 'TRX', depth: 1000 });
  assert.equal(height - first, removed);
  assert.deepEqual(await world.control.reorg({ coin: 'TRX', depth: 1 }), { height: first, removed: 0 });
});

test('a double-spent payment stays conflicted', async () => {
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
  await assert.rejects(world.control.conflict(mined), { name: 'SandboxInputError', field: 'txid' });
  await assert.rejects(world.control.conflict('nothing'), { name: 'SandboxInputError', field: 'txid' });
});

test('recheck returns each key in order and reports unknown ones as removed', async () => {
  const coin = 'USDT';
  const address = await world.address(coin);
  const { txid } = await world.control.pay({ coin, address, amount: '31' });
  const { observations } = await world.network(coin).poll({ cursor: null });
  const known = observations.find((each) => each.txid === txid);
  assert.ok(known);
  const [unknown, current] = await world.network(coin).recheck(['0xdead:1', known.key]);
  assert.equal(unknown?.key, '0xdead:1');
  assert.equal(unknown.txid, '0xdead');
  assert.equal(unknown.state, 'removed');
  assert.deepEqual(current, known);
  const [foreign] = await world.network('ETH').recheck([known.key]);
  assert.equal(foreign?.state, 'removed', "another coin's output is not on this chain");
  assert.deepEqual(await world.network(coin).recheck([]), []);
});

test('an unknown cursor starts from the beginning', async () => {
  const all = await world.network('BTC').poll({ cursor: null });
  assert.ok(all.observations.length > 0);
  for (const cursor of ['12:ffff', 'nonsense', '']) {
    assert.deepEqual(await world.network('BTC').poll({ cursor }), all);
  }
});

test('each simulated block references its parent', async () => {
  await world.control.mine({ coin: 'SOL', count: 3 });
  const blocks = await world.db.rows<{ hash: string; parent_hash: string | null }>(
    `select hash, parent_hash from sim.blocks where coin = 'SOL' and not orphaned order by height`,
  );
  for (const [i, block] of blocks.entries()) assert.equal(block.parent_hash, blocks[i - 1]?.hash ?? null);
  assert.equal(base58.decode(blocks[0]?.hash ?? '').length, 32);
});

test('health reports the height and the block interval', async () => {
  const { height } = await world.control.mine({ coin: 'LTC', count: 1 });
  const { tipAt, ...health } = await world.network('LTC').health();
  assert.deepEqual(health, { ok: true, height, detail: 'simulated, blocks on demand' });
  assert.equal(tipAt?.getTime(), world.clock.now().getTime());
});

test('an armed fault fails its call before anything happens', async () => {
  const { db, clock } = world;
  const consumed: string[] = [];
  const faults = {
    consume: async (driver: string, operation: string) => {
      consumed.push(`${driver} ${operation}`);
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
  assert.deepEqual(consumed, ['chain allocate', 'chain poll', 'chain recheck', 'chain health']);
  const left = await db.row(`select from sim.addresses where invoice_id = 'faulty'`);
  assert.equal(left, undefined);
});
