import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { NodeBehind } from '../../../../src/drivers/chain/cursor.ts';
import type { UtxoChain } from '../../../../src/drivers/chain/utxo/driver.ts';
import { BitcoinStub, createDriver } from './bitcoin-stub.ts';

let node: BitcoinStub;
let chain: UtxoChain;

beforeEach(async () => {
  node = await BitcoinStub.start();
  chain = createDriver(node);
});
afterEach(() => node.close());

describe('payments from a descriptor wallet', () => {
  it('a payment has its exact amount', async () => {
    for (const [amount, units] of [
      ['20999999.97690001', 2_099_999_997_690_001n],
      ['0.00000001', 1n],
      ['1e-8', 1n],
      ['3', 300_000_000n],
    ] as const) {
      node.payments.length = 0;
      const key = node.pay({ amount });
      const [observed] = (await chain.poll({ cursor: null })).observations;
      assert.equal(observed?.amountUnits, units);
      assert.equal(observed?.key, key);
      assert.equal(observed?.state, 'included');
      assert.equal(observed?.confirmations, 1);
      assert.equal(observed?.blockHash, node.hashAt(node.height));
    }
  });

  it('coinbase outputs and outgoing payments are ignored', async () => {
    for (const category of ['generate', 'immature', 'send']) node.pay({ category, amount: '1.00000000' });
    assert.deepEqual((await chain.poll({ cursor: null })).observations, []);
  });

  it('a first poll reports payments of the last day, and deep ones as final', async () => {
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

  it('a poll after a safety check looks back one day, because a wallet may find payments late', async () => {
    const { cursor } = await chain.poll({ cursor: null });
    const late = node.pay({ height: node.height - 100 });
    assert.deepEqual((await chain.poll({ cursor })).observations, []);
    await chain.checkSafety();
    assert.equal((await chain.poll({ cursor })).observations[0]?.key, late);
  });

  it('many payments are reported over several polls without splitting a block', async () => {
    for (let i = 0; i < 1_100; i++) node.pay({ height: node.height - 100 + Math.floor(i / 300) });
    const keys = new Set<string>();
    let cursor: string | null = null;
    const sizes: number[] = [];
    for (let isComplete = false; !isComplete; ) {
      const polled = await chain.poll({ cursor });
      ({ cursor, isComplete } = polled);
      sizes.push(polled.observations.length);
      for (const { key } of polled.observations) keys.add(key);
    }
    assert.deepEqual(sizes, [600, 500]);
    assert.equal(keys.size, 1_100);
    assert.equal(cursor, `800000:${node.hashAt(800_000)}`);
  });

  it('a payment that left the mempool is no longer polled, and rechecked as removed', async () => {
    const key = node.pay({ height: null, inMempool: true });
    const { observations, cursor } = await chain.poll({ cursor: null });
    assert.deepEqual(
      observations.map(({ state, confirmations, blockHash }) => ({ state, confirmations, blockHash })),
      [{ state: 'mempool', confirmations: 0, blockHash: null }],
    );
    for (const payment of node.payments) payment.inMempool = false;
    assert.deepEqual((await chain.poll({ cursor })).observations, []);
    // Its input is unspent again.
    node.answers.set('gettxout', { confirmations: 3 });
    assert.equal((await chain.recheck([key]))[0]?.state, 'removed');
  });

  it('a payment that left a block and is not in the mempool is reported as removed', async () => {
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
      observations.map((each) => [each.key, each.state]),
      [[key, 'removed']],
    );
  });

  it('a payment whose inputs were double-spent is conflicted', async () => {
    const key = node.pay({ height: null });
    assert.equal((await chain.recheck([key]))[0]?.state, 'conflicted');
  });

  it('a payment that the wallet forgot stays while the chain has its output', async () => {
    const included = node.pay({ height: node.height - 4, forgotten: true, amount: '0.5' });
    const waiting = node.pay({ height: null, forgotten: true });
    const missing = `${'b'.repeat(64)}:1`;
    const found = await chain.recheck([included, waiting, missing]);
    assert.deepEqual(
      found.map(({ key, state, confirmations, amountUnits, height, agreed }) => [
        key,
        ...[state, confirmations, amountUnits, height, agreed],
      ]),
      [
        [included, 'included', 5, 50_000_000n, 799_996, true],
        [waiting, 'mempool', 0, 100_000n, null, true],
        // Spent or removed: unknown.
        [missing, 'removed', 0, 0n, null, false],
      ],
    );
  });

  it('a node below the height that was read is waited for', async () => {
    const { cursor } = await chain.poll({ cursor: null });
    const key = node.pay();
    node.height -= 1;
    await assert.rejects(chain.poll({ cursor }), NodeBehind);
    await assert.rejects(chain.recheck([key]), NodeBehind);
  });

  it('an unknown or unreadable cursor block makes a poll look back one day', async () => {
    const key = node.pay({ height: node.height - 100 });
    await chain.poll({ cursor: null });
    const unknown = `800000:${'c'.repeat(64)}`;
    assert.equal((await chain.poll({ cursor: unknown })).observations[0]?.key, key);
    node.unreadableBlock = 'd'.repeat(64);
    const unreadable = `800000:${node.unreadableBlock}`;
    assert.equal((await chain.poll({ cursor: unreadable })).observations[0]?.key, key);
  });
});
