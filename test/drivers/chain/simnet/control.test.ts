import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { SimnetControl } from '../../../../src/drivers/chain/simnet/control.ts';
import { COIN_CODES, type CoinCode } from '../../../../src/spec/coins.ts';
import { Poller, type SimnetWorld, simnetWorld } from './simnet-world.ts';

const BLOCK_S = 2;

let world: SimnetWorld;
let control: SimnetControl;
beforeEach(async () => {
  world = await simnetWorld();
  control = new SimnetControl({ db: world.db, clock: world.clock, blockS: BLOCK_S });
});
afterEach(() => world.close());

function secondsFromNow(time: Date | null): number | null {
  return time && (time.getTime() - world.clock.now().getTime()) / 1000;
}

test('a simulated network without payments mines nothing', async () => {
  world.clock.advanceS(3600);
  assert.equal(await control.nextBlockDue(), null);
  assert.equal(await control.tick(), 0);
});

test('a payment makes the network mine blocks until it has 30 confirmations', async () => {
  const address = await world.address('BTC');
  const poller = new Poller(world.network('BTC'));
  world.clock.advanceS(1000);
  const { txid } = await control.pay({ coin: 'BTC', address, amount: '1' });
  for (let confirmations = 1; confirmations <= 30; confirmations++) {
    assert.equal(secondsFromNow(await control.nextBlockDue()), BLOCK_S);
    world.clock.advanceS(BLOCK_S - 1);
    assert.equal(await control.tick(), 0);
    world.clock.advanceS(1);
    assert.equal(await control.tick(), 1);
    await poller.poll();
    assert.equal(poller.picture.get(txid)?.confirmations, confirmations);
  }
  assert.equal(await control.nextBlockDue(), null);
  world.clock.advanceS(3600);
  assert.equal(await control.tick(), 0);
});

test('a late tick gives each block its scheduled time', async () => {
  const address = await world.address('ETH');
  const paidAt = world.clock.now().getTime();
  await control.pay({ coin: 'ETH', address, amount: '1' });
  world.clock.advanceS(7);
  assert.equal(await control.tick(), 3);
  const blocks = await world.db.rows<{ mined_at: Date }>(
    `select mined_at from sim.blocks where coin = 'ETH' order by height desc limit 3`,
  );
  assert.deepEqual(
    blocks.map((block) => (block.mined_at.getTime() - paidAt) / 1000),
    [6, 4, 2],
  );
  assert.equal(secondsFromNow(await control.nextBlockDue()), 1);
});

test('a block that was due before a payment does not contain it', async () => {
  const address = await world.address('BTC');
  const poller = new Poller(world.network('BTC'));
  const early = await control.pay({ coin: 'BTC', address, amount: '1' });
  world.clock.advanceS(3601);
  const paidAt = world.clock.now();
  const late = await control.pay({ coin: 'BTC', address, amount: '1' });
  world.clock.advanceS(BLOCK_S);
  await control.tick();
  await poller.poll();
  const earlyBlock = poller.picture.get(early.txid);
  const lateBlock = poller.picture.get(late.txid);
  assert.equal(earlyBlock?.state, 'final');
  assert.ok(earlyBlock.blockTime && earlyBlock.blockTime < paidAt);
  assert.ok(lateBlock?.blockTime && lateBlock.blockTime > paidAt);
  assert.equal(lateBlock.confirmations, 1);
});

test('a tick mines at most 200 blocks and the next one continues', async () => {
  for (const coin of COIN_CODES) await control.pay({ coin, address: await world.address(coin), amount: '1' });
  world.clock.advanceS(86_400);
  assert.equal(await control.tick(), 200);
  assert.equal(await control.tick(), 40);
  assert.equal(await control.tick(), 0);
  assert.equal(await control.nextBlockDue(), null);
});

test('a due block is mined once by several processes', async () => {
  const address = await world.address('BTC');
  await control.pay({ coin: 'BTC', address, amount: '1' });
  world.clock.advanceS(BLOCK_S * 5);
  const mined = await Promise.all(
    Array.from({ length: 5 }, () =>
      new SimnetControl({ db: world.db, clock: world.clock, blockS: BLOCK_S }).tick(),
    ),
  );
  assert.equal(
    mined.reduce((sum, count) => sum + count, 0),
    5,
  );
});

test('a reorganization makes the network mine again, and a conflict stops it', async () => {
  const address = await world.address('BTC');
  const { txid } = await control.pay({ coin: 'BTC', address, amount: '1' });
  await control.mine({ coin: 'BTC', count: 30 });
  assert.equal(await control.nextBlockDue(), null);
  world.clock.advanceS(500);
  await control.reorg({ coin: 'BTC', depth: 30 });
  assert.equal(secondsFromNow(await control.nextBlockDue()), BLOCK_S);
  await control.conflict(txid);
  assert.equal(await control.nextBlockDue(), null);
});

test('a network without a block interval mines only on demand', async () => {
  const address = await world.address('BTC');
  await world.control.pay({ coin: 'BTC', address, amount: '1' });
  world.clock.advanceS(3600);
  assert.equal(await world.control.tick(), 0);
  assert.equal(await world.control.nextBlockDue(), null);
  const { height } = await world.control.mine({ coin: 'BTC', count: 1 });
  assert.equal((await world.network('BTC').health()).height, height);
});

test('invalid input is rejected with the name of its field', async () => {
  const address = await world.address('BTC');
  const pays = [
    ['amount', { coin: 'BTC', address, amount: '0' }],
    ['amount', { coin: 'BTC', address, amount: '0.000000001' }],
    ['amount', { coin: 'BTC', address, amount: '-1' }],
    ['amount', { coin: 'BTC', address, amount: '1e3' }],
    ['amount', { coin: 'BTC', address, amount: '' }],
    ['amount', { coin: 'BTC', address, amount: '1000000000' }],
    ['amount', { coin: 'BTC', address, amount: '9'.repeat(500) }],
    ['address', { coin: 'BTC', address: `${address}q`, amount: '1' }],
    ['address', { coin: 'LTC', address, amount: '1' }],
    ['coin', { coin: 'DOGE' as CoinCode, address, amount: '1' }],
  ] as const;
  for (const [field, input] of pays) {
    await assert.rejects(control.pay(input), { name: 'SandboxInputError', field });
  }
  for (const count of [0, -1, 1.5, Number.NaN, 1001]) {
    await assert.rejects(control.mine({ coin: 'BTC', count }), { name: 'SandboxInputError', field: 'count' });
    await assert.rejects(control.reorg({ coin: 'BTC', depth: count }), {
      name: 'SandboxInputError',
      field: 'depth',
    });
  }
  const { observations } = await world.network('BTC').poll({ cursor: null });
  assert.deepEqual(observations, []);
});

test('concurrent operations on a network lose nothing', async () => {
  const address = await world.address('BTC');
  const network = world.network('BTC');
  const poller = new Poller(network);
  const start = (await network.health()).height;
  const work = Array.from({ length: 60 }, async (_, i) => {
    if (i % 4 === 0) await control.mine({ coin: 'BTC', count: 1 });
    else if (i % 10 === 3) await world.address('BTC');
    else await control.pay({ coin: 'BTC', address, amount: `${i}` });
    if (i % 3 === 0) await poller.poll();
  });
  await Promise.all(work);
  await control.mine({ coin: 'BTC', count: 1 });
  const { height } = await network.health();
  assert.equal(height, start + 16);
  await poller.poll();
  const seen = [...poller.picture.values()];
  const paid = Array.from({ length: 60 }, (_, i) => i).filter((i) => i % 4 !== 0 && i % 10 !== 3);
  assert.deepEqual(
    seen.map(({ amountUnits }) => amountUnits / 100_000_000n).sort((a, b) => Number(a - b)),
    paid.map(BigInt),
  );
  for (const each of seen) assert.equal(each.state, 'included');
});
