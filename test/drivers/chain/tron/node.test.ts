/** Requirements of the Tron driver for its node, and its findings about the node. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CrossCheckedChain } from '../../../../src/drivers/chain/cross-checked.ts';
import { tronSecondNode } from '../../../../src/drivers/chain/tron/driver.ts';
import { TronNode } from '../../../../src/drivers/chain/tron/node.ts';
import { transfersOf } from '../../../../src/drivers/chain/tron/payments.ts';
import { UnsafeChainError } from '../../../../src/ports/chain.ts';
import { MAIN_NET, StubTron, USDT } from './stub-node.ts';
import { tronChain } from './tron-world.ts';

const OTHER_TOKEN = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH';
const nextTo = (id: string) => ({ id, index: 0, amountUnits: 1n });

let stub: StubTron;
beforeEach(async () => {
  stub = await StubTron.start(() => Date.now() - 10_000);
  stub.mine(40);
});
afterEach(async () => {
  await stub.close();
});

describe('Tron addresses', () => {
  it('addresses match those of wallets, with even indexes for TRX and odd ones for USDT', async () => {
    const trx = tronChain(stub, 'TRX');
    const first = await trx.allocate(nextTo('a'));
    assert.equal(first.address, 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH');
    assert.equal(first.uri, first.address);
    assert.deepEqual(await trx.allocate(nextTo('a')), first);
    const all = new Set<string>();
    for (let index = 0; index < 20; index++) {
      for (const coin of ['TRX', 'USDTTRC'] as const) {
        all.add((await tronChain(stub, coin).allocate({ ...nextTo('b'), index })).address);
      }
    }
    assert.equal(all.size, 40);
  });
});

describe('Tron nodes', () => {
  it('blocks that are too large together are requested in parts', async () => {
    const between = stub.between.bind(stub);
    const spans: number[] = [];
    stub.between = (from, to) => {
      spans.push(to - from);
      return to - from > 3 ? { block: Array<number>(1_000_001).fill(0) } : between(from, to);
    };
    const blocks = await new TronNode(stub.node).blocks(11, 20);
    assert.deepEqual(
      blocks.map(({ height }) => height),
      [11, 12, 13, 14, 15, 16, 17, 18, 19, 20],
    );
    assert.deepEqual(spans, [10, 5, 3, 2, 5, 3, 2]);
  });

  it('a node must be on the main network unless test networks are allowed', async () => {
    const other = await StubTron.start(() => Date.now(), MAIN_NET.replace('1ebf', '2ebf'));
    try {
      await assert.rejects(tronChain(other, 'TRX').checkSafety(), UnsafeChainError);
      await assert.rejects(tronChain(other, 'TRX').allocate(nextTo('a')), UnsafeChainError);
      await assert.rejects(tronChain(other, 'TRX').poll({ cursor: null }), UnsafeChainError);
      await tronChain(other, 'TRX', { allowTest: true }).checkSafety();
    } finally {
      await other.close();
    }
    await tronChain(stub, 'TRX').checkSafety();
  });

  it('a contract other than the known USDT must be a token with six decimals', async () => {
    await tronChain(stub, 'USDTTRC').checkSafety();
    const chain = tronChain(stub, 'USDTTRC', { contract: OTHER_TOKEN });
    await chain.checkSafety();
    stub.decimals = 18;
    await assert.rejects(chain.checkSafety(), UnsafeChainError);
    stub.decimals = null;
    await assert.rejects(chain.checkSafety(), /vm\.supportConstant/);
    const wrong = tronChain(stub, 'USDTTRC', { contract: `${USDT.slice(0, -1)}u` });
    await assert.rejects(wrong.checkSafety(), UnsafeChainError);
  });

  it('a node with an old tip or no peers is unhealthy', async () => {
    const chain = tronChain(stub, 'TRX');
    assert.equal((await chain.health()).ok, true);
    assert.equal((await chain.health()).height, 40);
    stub.peers = 0;
    assert.equal((await chain.health()).ok, false);
    assert.equal((await tronChain(stub, 'TRX', { allowTest: true }).health()).ok, true);
    stub.notFoundPaths.add('/wallet/getnodeinfo');
    assert.equal((await chain.health()).ok, true);
    const late = await StubTron.start(() => Date.now() - 6 * 60_000);
    try {
      late.mine();
      const health = await tronChain(late, 'TRX').health();
      assert.equal(health.ok, false);
      assert.match(health.detail, /minutes old/);
    } finally {
      await late.close();
    }
  });

  it('findings report whether the node seems to save internal transactions', async () => {
    const to = OTHER_TOKEN;
    const findings = async () =>
      (await tronChain(stub, 'TRX').examine(3)).map(({ level, message }) => `${level}: ${message}`);
    assert.match((await findings()).join(' '), /up to index 4.*note: this network has too little traffic/);
    stub.savesInternal = false;
    for (let i = 0; i < 60; i++) stub.call([{ to, amount: 1n }]);
    stub.mine();
    assert.match((await findings()).join(' '), /warn: .*vm\.saveInternalTx/);
    stub.savesInternal = true;
    assert.match((await findings()).join(' '), /ok: the node reports payments made by contracts/);
  });

  it('a node without an API for final blocks is accepted', async () => {
    const own = async (addresses: readonly string[]) => new Set(addresses);
    const chain = tronChain(stub, 'TRX', { own });
    stub.transfer(OTHER_TOKEN, 5n);
    stub.mine(29);
    for (const path of ['/walletsolidity/getnowblock', '/wallet/getnodeinfo']) {
      stub.notFoundPaths.add(path);
      let cursor: string | null = null;
      const states: string[] = [];
      for (let isComplete = false; !isComplete; ) {
        const polled = await chain.poll({ cursor });
        states.push(...polled.observations.map(({ state }) => state));
        ({ cursor, isComplete } = polled);
      }
      assert.deepEqual(states, ['final'], path);
    }
  });
});

describe('Tron transaction outcomes', () => {
  it('a missing part of an outcome is empty, and a malformed part is rejected', () => {
    const transfers = (outcome: object) =>
      transfersOf('USDTTRC', 'a'.repeat(40), {
        txid: 'x',
        transaction: {},
        outcome: { receipt: { result: 'SUCCESS' }, ...outcome },
      });
    assert.deepEqual(transfers({}), []);
    assert.throws(() => transfers({ log: { 0: {} } }), /logs: the node returned no valid list/);
    assert.throws(() => transfers({ log: [{ topics: 'ddf2' }] }), /topics: the node returned no valid list/);
    assert.throws(() => transfers({ receipt: 'SUCCESS' }), /receipt: the node returned no valid object/);
  });
});

describe('second Tron node', () => {
  it('a second node agrees only to the same payment in the same block', async () => {
    const own = async (addresses: readonly string[]) => new Set(addresses);
    const first = tronChain(stub, 'TRX', { own });
    const second = tronSecondNode({ coin: 'TRX', node: stub.node, contract: USDT, allowTest: false });
    stub.transfer(OTHER_TOKEN, 5n);
    stub.mine(3);
    const { observations } = await first.poll({
      cursor: `40:${(stub.headAt(40) as { blockID: string }).blockID}`,
    });
    const [seen] = observations;
    assert.ok(seen);
    assert.deepEqual([...(await second.confirm([seen]))], [[seen.key, 3]]);
    assert.equal((await second.confirm([{ ...seen, blockHash: 'another' }])).size, 0);
    assert.equal((await second.confirm([{ ...seen, key: seen.key.replace(':5:', ':6:') }])).size, 0);
    stub.reorg(3, { drop: true });
    assert.equal((await second.confirm([seen])).size, 0);
    const chain = new CrossCheckedChain(first, second);
    await chain.checkSafety();
    assert.deepEqual(
      (await chain.recheck([seen.key])).map(({ state }) => state),
      ['removed'],
    );
  });
});
