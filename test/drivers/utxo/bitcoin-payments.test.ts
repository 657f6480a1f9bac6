import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { NodeBehind } from '../../../src/drivers/chain/node-behind.ts';
import type { UtxoChain } from '../../../src/drivers/chain/utxo/driver.ts';
import { BitcoinStub, createDriver } from './bitcoin-stub.ts';

let node: BitcoinStub;
let chain: UtxoChain;

beforeEach(async () => {
  node = await BitcoinStub.start();
  chain = createDriver(node);
});
afterEach(() => node.close());

describe('payments from a descriptor wallet', () => {
  it('are told with their amount to the last digit', async () => {
    for (const [amount, units] of [
      ['20999999.97690001', 2_099_999_997_690_001n],
      ['0.00000001', 1n],
      ['1e-8', 1n],
      ['3', 300_000_000n],
    ] as const) {
      node.payments.length = 0;
      const key = node.pay({ amount });
      const [told] = (await chain.poll({ cursor: null })).observations;
      assert.equal(told?.amountUnits, units);
      assert.equal(told?.key, key);
      assert.equal(told?.state, 'included');
      assert.equal(told?.confirmations, 1);
      assert.equal(told?.blockHash, node.hashAt(node.height));
    }
  });

  it('are neither newly made coins nor what was sent', async () => {
    for (const category of ['generate', 'immature', 'send']) node.pay({ category, amount: '1.00000000' });
    assert.deepEqual((await chain.poll({ cursor: null })).observations, []);
  });

  it('of a day ago are told at the first look, and old ones with the depth that changes no more', async () => {
    const old = node.pay({ height: node.height - 143 });
    node.pay({ height: node.height - 144 });
    const { observations, cursor } = await chain.poll({ cursor: null });
    assert.deepEqual(
      observations.map(({ key, state, confirmations }) => ({ key, state, confirmations })),
      [{ key: old, state: 'final', confirmations: 144 }],
    );
    assert.equal(cursor, `800000:${node.hashAt(800_000)}`);
    const again = await chain.poll({ cursor });
    assert.deepEqual(again, { cursor, observations: [], isComplete: true });
  });

  it('are looked for a day back once after each proof, for a wallet may have found them late', async () => {
    const { cursor } = await chain.poll({ cursor: null });
    const late = node.pay({ height: node.height - 100 });
    assert.deepEqual((await chain.poll({ cursor })).observations, []);
    await chain.checkSafety();
    assert.equal((await chain.poll({ cursor })).observations[0]?.key, late);
  });

  it('of many blocks are told in parts, and no block is cut', async () => {
    for (let i = 0; i < 1_100; i++) node.pay({ height: node.height - 100 + Math.floor(i / 300) });
    const told = new Set<string>();
    let cursor: string | null = null;
    const sizes: number[] = [];
    for (let isComplete = false; !isComplete; ) {
      const polled = await chain.poll({ cursor });
      ({ cursor, isComplete } = polled);
      sizes.push(polled.observations.length);
      for (const { key } of polled.observations) told.add(key);
    }
    assert.deepEqual(sizes, [600, 500]);
    assert.equal(told.size, 1_100);
    assert.equal(cursor, `800000:${node.hashAt(800_000)}`);
  });

  it('wait in the mempool; one that is gone is no longer told, and when asked for is removed', async () => {
    const key = node.pay({ height: null, inMempool: true });
    const { observations, cursor } = await chain.poll({ cursor: null });
    assert.deepEqual(
      observations.map(({ state, confirmations, blockHash }) => ({ state, confirmations, blockHash })),
      [{ state: 'mempool', confirmations: 0, blockHash: null }],
    );
    for (const payment of node.payments) payment.inMempool = false;
    assert.deepEqual((await chain.poll({ cursor })).observations, []);
    // What it spends is there to be spent again.
    node.answers.set('gettxout', { confirmations: 3 });
    assert.equal((await chain.recheck([key]))[0]?.state, 'removed');
  });

  it('that left a block, and that the mempool did not take back, are told as removed', async () => {
    const key = node.pay({ height: null });
    const { cursor } = await chain.poll({ cursor: null });
    const { txid, address, amount } = node.payments[0] ?? assert.fail();
    const left = {
      txid,
      address,
      amount: `amount:${amount}`,
      category: 'receive',
      vout: 0,
      confirmations: 0,
    };
    const lastblock = node.hashAt(node.height);
    node.answers.set('listsinceblock', { transactions: [left], removed: [left], lastblock });
    node.answers.set('gettxout', { confirmations: 3 });
    const { observations } = await chain.poll({ cursor });
    assert.deepEqual(
      observations.map((told) => [told.key, told.state]),
      [[key, 'removed']],
    );
  });

  it('whose coins were spent otherwise are conflicted', async () => {
    const key = node.pay({ height: null });
    assert.equal((await chain.recheck([key]))[0]?.state, 'conflicted');
  });

  it('that the wallet has forgotten stand as long as the chain has them', async () => {
    const included = node.pay({ height: node.height - 4, forgotten: true, amount: '0.5' });
    const waiting = node.pay({ height: null, forgotten: true });
    const gone = `${'b'.repeat(64)}:1`;
    const found = await chain.recheck([included, waiting, gone]);
    assert.deepEqual(
      found.map(({ key, state, confirmations, amountUnits, height, agreed }) => [
        key,
        ...[state, confirmations, amountUnits, height, agreed],
      ]),
      [
        [included, 'included', 5, 50_000_000n, 799_996, true],
        [waiting, 'mempool', 0, 100_000n, null, true],
        // It was spent, or is gone: nobody can tell.
        [gone, 'removed', 0, 0n, null, false],
      ],
    );
  });

  it('wait for a node that is lower than it was read', async () => {
    const { cursor } = await chain.poll({ cursor: null });
    const key = node.pay();
    node.height -= 1;
    await assert.rejects(chain.poll({ cursor }), NodeBehind);
    await assert.rejects(chain.recheck([key]), NodeBehind);
  });

  it('are read from a day back where the node does not know the last block, or not what was in it', async () => {
    const key = node.pay({ height: node.height - 100 });
    await chain.poll({ cursor: null });
    const unknown = `800000:${'c'.repeat(64)}`;
    assert.equal((await chain.poll({ cursor: unknown })).observations[0]?.key, key);
    node.unreadableBlock = 'd'.repeat(64);
    const unreadable = `800000:${node.unreadableBlock}`;
    assert.equal((await chain.poll({ cursor: unreadable })).observations[0]?.key, key);
  });
});
