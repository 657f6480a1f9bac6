/** More payments than one list can hold stop nobody's: the chain is walked block by block then. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { UtxoChain } from '../../../src/drivers/chain/utxo/driver.ts';
import type { Observation } from '../../../src/ports/chain.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { BitcoinStub, createDriver } from './bitcoin-stub.ts';

const LONG = 9 * 1024 ** 2;

let node: BitcoinStub;
let chain: UtxoChain;

beforeEach(async () => {
  node = await BitcoinStub.start();
  chain = createDriver(node);
});
afterEach(() => node.close());

function makeListsTooLong(): void {
  const lastblock = node.hashAt(node.height);
  node.answers.set('listsinceblock', { transactions: [], removed: [], lastblock, comment: 'x'.repeat(LONG) });
}

async function readOn(
  from: string | null,
): Promise<{ cursor: string | null; told: Map<string, Observation>; polls: number }> {
  const told = new Map<string, Observation>();
  let cursor = from;
  let polls = 0;
  for (let isComplete = false; !isComplete; polls++) {
    const polled = await chain.poll({ cursor });
    ({ cursor, isComplete } = polled);
    for (const each of polled.observations) told.set(each.key, each);
    assert.ok(polls < 100);
  }
  return { cursor, told, polls };
}

describe('a list of payments that is too long', () => {
  it('keeps none of them back: they are found in their blocks, a few blocks a poll', async () => {
    const { cursor: before } = await chain.poll({ cursor: null });
    node.height += 20;
    const keys = [
      node.pay({ height: node.height - 19, amount: '20999999.97690001' }),
      node.pay({ height: node.height - 7, vout: 3 }),
      node.pay(),
    ];
    node.pay({ address: 'bc1q-of-somebody-else' });
    node.pay({ category: 'generate' });
    for (let i = 0; i < 600; i++) node.pay({ height: node.height - 30, address: 'old' });
    makeListsTooLong();
    const { cursor, told, polls } = await readOn(before);
    assert.deepEqual([...told.keys()].filter((key) => keys.includes(key)).sort(), keys.sort());
    assert.deepEqual([cursor, polls], [`${node.height}:${node.hashAt(node.height)}`, 5]);
    const [first] = [...told.values()].filter(({ height }) => height === node.height - 19);
    assert.equal(first?.amountUnits, 2_099_999_997_690_001n);
    assert.deepEqual([first?.state, first?.confirmations], ['included', 20]);
    assert.equal(first?.blockHash, node.hashAt(node.height - 19));
    assert.ok(first?.blockTime instanceof Date);
    // It is not asked for again at each poll.
    assert.equal(node.countOf('listsinceblock'), 2);
  });

  it(
    'and a block of a million empty parts of signatures, which anybody can make, keep none back',
    FULL_ONLY,
    async () => {
      const { cursor: before } = await chain.poll({ cursor: null });
      node.height += 1;
      const key = node.pay({ witness: Array<string>(1_100_000).fill('') });
      makeListsTooLong();
      const { cursor, told } = await readOn(before);
      assert.ok(told.has(key));
      assert.equal(cursor, `${node.height}:${node.hashAt(node.height)}`);
    },
  );

  it('is not needed at the first look either, which begins a day back', async () => {
    const key = node.pay({ height: node.height - 143 });
    node.pay({ address: 'bc1q-of-somebody-else' });
    // The wallet knows no more of it than its list.
    node.answers.set('listtransactions', []);
    makeListsTooLong();
    const { observations, cursor, isComplete } = await chain.poll({ cursor: null });
    assert.deepEqual(
      observations.map((told) => [told.key, told.state]),
      [[key, 'final']],
    );
    assert.deepEqual([cursor, isComplete], [`799860:${node.hashAt(799_860)}`, false]);
  });

  it('leaves what waits to a page of the newest', async () => {
    node.pay({ height: null, inMempool: true });
    for (let i = 0; i < 600; i++) node.pay({ height: null, inMempool: true });
    const newest = node.pay({ height: null, inMempool: true });
    const { told } = await readOn(`${node.height}:${node.hashAt(node.height)}`);
    assert.equal(told.size, 500);
    assert.equal(told.get(newest)?.state, 'mempool');
  });

  it('goes back to the fork where the last block that was read is none any more', async () => {
    const orphan = 'e'.repeat(64);
    const parent = 'd'.repeat(64);
    const header = { time: 1, confirmations: -1, previousblockhash: node.hashAt(node.height - 2) };
    const known = new Map<string, object>([
      [orphan, { ...header, height: node.height, previousblockhash: parent }],
      [parent, { ...header, height: node.height - 1 }],
      [node.hashAt(node.height - 2), { ...header, height: node.height - 2, confirmations: 3 }],
    ]);
    node.answers.set('getblockheader', (hash: string) => known.get(hash));
    const below = node.pay({ height: node.height - 2 });
    const above = node.pay({ height: node.height - 1 });
    for (let i = 0; i < 600; i++) node.pay({ height: node.height - 30, address: 'old' });
    makeListsTooLong();
    const { told, cursor } = await readOn(`${node.height}:${orphan}`);
    assert.deepEqual([told.has(below), told.has(above)], [false, true]);
    assert.equal(cursor, `${node.height}:${node.hashAt(node.height)}`);
  });

  it('is not read on where a block is not on top of the one before', async () => {
    const { cursor } = await chain.poll({ cursor: null });
    node.height += 2;
    makeListsTooLong();
    const { previousblockhash: _, ...block } = {
      previousblockhash: '',
      ...{ hash: '', height: node.height - 1, confirmations: 1, time: 1, tx: [] },
    };
    node.answers.set('getblock', block);
    await assert.rejects(chain.poll({ cursor }), /changed while it was read/);
  });

  it('of a day back alone leaves the rest as it is, and what the wallet found last is told', async () => {
    const { cursor } = await chain.poll({ cursor: null });
    const late = node.pay({ height: node.height - 100 });
    await chain.checkSafety();
    const empty = { transactions: [], removed: [], lastblock: node.hashAt(node.height) };
    node.answers.set('listsinceblock', (hash: string) =>
      hash === node.hashAt(node.height) ? empty : { ...empty, comment: 'x'.repeat(LONG) },
    );
    const { observations } = await chain.poll({ cursor });
    assert.deepEqual(
      observations.map(({ key }) => key),
      [late],
    );
    assert.equal(node.countOf('getblock'), 0);
  });
});

describe('a wallet that reads old blocks again', () => {
  it('is waited for: neither a look nor a second one says anything until it is done', async () => {
    const key = node.pay({ forgotten: true });
    const { cursor } = await chain.poll({ cursor: null });
    node.overrideWalletInfo({ scanning: { duration: 70, progress: 0.2 } });
    node.answers.set('gettxout', () => null);
    const waited = { name: 'WalletScans' };
    await assert.rejects(chain.poll({ cursor }), waited);
    await assert.rejects(chain.recheck([key]), waited);
    node.overrideWalletInfo({ scanning: false });
    assert.equal((await chain.recheck([key]))[0]?.state, 'removed');
  });
});

describe('a payment whose coins a block spent otherwise', () => {
  it('is conflicted, though the wallet tells no output of it any more', async () => {
    const key = node.pay({ height: null });
    const [txid] = key.split(':');
    node.answers.set('gettransaction', { txid, confirmations: -3, details: [] });
    node.answers.set('gettxout', () => null);
    const [seen] = await chain.recheck([key]);
    assert.deepEqual([seen?.key, seen?.state], [key, 'conflicted']);
  });
});
