import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { UtxoChain } from '../../../../src/drivers/chain/utxo/driver.ts';
import { utxoSecondNode } from '../../../../src/drivers/chain/utxo/second-node.ts';
import { UnsafeChainError } from '../../../../src/ports/chain.ts';
import { BitcoinStub, createDriver, FIRST_ADDRESSES } from './bitcoin-stub.ts';

let node: BitcoinStub;
let chain: UtxoChain;

beforeEach(async () => {
  node = await BitcoinStub.start();
  chain = createDriver(node);
});
afterEach(() => node.close());

describe('Bitcoin health', () => {
  it('health reports the height and the age of the newest block', async () => {
    const health = await chain.health();
    assert.deepEqual([health.ok, health.height, health.detail], [true, 800_000, 'network main, 8 peers']);
    assert.ok(health.tipAt !== null && Math.abs(Date.now() - health.tipAt.getTime()) < 5_000);
  });

  const faults: [string, (stub: BitcoinStub) => void, RegExp][] = [
    [
      'is syncing',
      (stub) => stub.overrideChainInfo({ initialblockdownload: true }),
      /initial block download/,
    ],
    ['is behind', (stub) => stub.overrideChainInfo({ headers: 800_010 }), /10 blocks behind/],
    ['has no peers', (stub) => stub.answers.set('getnetworkinfo', { connections: 0 }), /no peers/],
    [
      'is rescanning its wallet',
      (stub) => stub.overrideWalletInfo({ scanning: { progress: 0.5 } }),
      /old blocks/,
    ],
    [
      'has an old tip',
      (stub) =>
        stub.answers.set('getblockheader', {
          height: 800_000,
          time: Math.floor(Date.now() / 1_000) - 7_260,
          confirmations: 1,
        }),
      /121 minutes old/,
    ],
  ];
  for (const [problem, arrange, pattern] of faults) {
    it(`a node that ${problem} is unhealthy`, async () => {
      arrange(node);
      const health = await chain.health();
      assert.equal(health.ok, false);
      assert.match(health.detail, pattern);
    });
  }

  it('a regtest node with an old tip is healthy', async () => {
    node.overrideChainInfo({ chain: 'regtest', initialblockdownload: true });
    assert.equal((await chain.health()).ok, true);
  });

  it('findings report the gap limit and unwatched addresses', async () => {
    assert.equal((await chain.examine(0))[0]?.level, 'ok');
    await chain.allocate({ id: 'invoice', index: 0, amountUnits: 1n });
    node.pay({ address: node.addressAt(2) });
    const notes = await chain.examine(30);
    assert.deepEqual(
      notes.map(({ level }) => level),
      ['ok', 'note'],
    );
    assert.match(notes[1]?.message ?? '', /gap limit of at least 28/);
    const missing = await chain.examine(1_100);
    assert.equal(missing[0]?.level, 'warn');
    assert.match(missing[0]?.message ?? '', /1 of 2 groups/);
  });
});

describe('second Bitcoin node', () => {
  it('a second node confirms only the same amount to the same address in the same block', async () => {
    const witness = utxoSecondNode({ coin: 'BTC', node: node.node, allowTest: false });
    const key = node.pay({ height: node.height - 2, vout: 3 });
    const [observed] = (await chain.poll({ cursor: null })).observations;
    assert.ok(observed);
    const confirmed = async (change: Partial<typeof observed>) =>
      (await witness.confirm([{ ...observed, ...change }])).get(key) ?? 0;
    assert.equal(await confirmed({}), 3);
    assert.equal(await confirmed({ amountUnits: 1n }), 0);
    assert.equal(await confirmed({ address: FIRST_ADDRESSES[1] }), 0);
    assert.equal(await confirmed({ blockHash: node.hashAt(5) }), 0);
    node.answers.set('getrawtransaction', { in_active_chain: false, confirmations: 0, vout: [] });
    assert.equal(await confirmed({}), 0);
  });

  it('a second node must be on the main network and have no wallet that can spend', async () => {
    const witness = utxoSecondNode({ coin: 'BTC', node: node.node, allowTest: false });
    await witness.checkSafety();
    node.overrideWalletInfo({ private_keys_enabled: true });
    await assert.rejects(witness.checkSafety(), UnsafeChainError);
    node.failWith('listwallets', -32_601, 'Method not found');
    await witness.checkSafety();
    node.overrideChainInfo({ chain: 'test' });
    await assert.rejects(witness.checkSafety(), UnsafeChainError);
  });
});
