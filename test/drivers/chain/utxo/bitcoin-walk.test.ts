/** A wallet list that is too long blocks no payment: the chain is then walked block by block. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { UtxoChain } from '../../../../src/drivers/chain/utxo/driver.ts';
import type { Observation } from '../../../../src/ports/chain.ts';
import { FULL_ONLY } from '../../../support/runs.ts';
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

async function readAll(
  from: string | null,
): Promise<{ cursor: string | null; observed: Map<string, Observation>; polls: number }> {
  const observed = new Map<string, Observation>();
  let cursor = from;
  let polls = 0;
  for (let isComplete = false; !isComplete; polls++) {
    const polled = await chain.poll({ cursor });
    ({ cursor, isComplete } = polled);
    for (const each of polled.observations) observed.set(each.key, each);
    assert.ok(polls < 100);
  }
  return { cursor, observed, polls };
}

describe('wallet lists that are too long', () => {
  it('payments are found in their blocks, a few blocks per poll', async () => {
    const { cursor: before } = await chain.poll({ cursor: null });
    node.height += 20;
    const keys = [
      node.pay({ height: node.height - 19, amount: '20999999.97690001' }),
      node.pay({ height: node.height - 7, vout: 3 }),
      node.pay(),
    ];
    node.pay({ address: 'bc1q-of-another-wallet' });
    node.pay({ category: 'generate' });
    for (let i = 0; i < 600; i++) node.pay({ height: node.height - 30, address: 'old' });
    makeListsTooLong();
    const { cursor, observed, polls } = await readAll(before);
    assert.deepEqual([...observed.keys()].filter((key) => keys.includes(key)).sort(), keys.sort());
    assert.deepEqual([cursor, polls], [`${node.height}:${node.hashAt(node.height)}`, 5]);
    const [first] = [...observed.values()].filter(({ height }) => height === node.height - 19);
    assert.equal(first?.amountUnits, 2_099_999_997_690_001n);
    assert.deepEqual([first?.state, first?.confirmations], ['included', 20]);
    assert.equal(first?.blockHash, node.hashAt(node.height - 19));
    assert.ok(first?.blockTime instanceof Date);
    // The list is not requested again at each poll.
    assert.equal(node.countOf('listsinceblock'), 2);
  });

  it('a block with a million empty witness parts, which anyone can create, is read', FULL_ONLY, async () => {
    const { cursor: before } = await chain.poll({ cursor: null });
    node.height += 1;
    const key = node.pay({ witness: Array<string>(1_100_000).fill('') });
    makeListsTooLong();
    const { cursor, observed } = await readAll(before);
    assert.ok(observed.has(key));
    assert.equal(cursor, `${node.height}:${node.hashAt(node.height)}`);
  });

  it('a first poll without a list starts one day back', async () => {
    const key = node.pay({ height: node.height - 143 });
    node.pay({ address: 'bc1q-of-another-wallet' });
    // The wallet's newest entries are empty, too.
    node.answers.set('listtransactions', []);
    makeListsTooLong();
    const { observations, cursor, isComplete } = await chain.poll({ cursor: null });
    assert.deepEqual(
      observations.map((each) => [each.key, each.state]),
      [[key, 'final']],
    );
    assert.deepEqual([cursor, isComplete], [`799860:${node.hashAt(799_860)}`, false]);
  });

  it('unconfirmed payments are read from the newest page of the list', async () => {
    node.pay({ height: null, inMempool: true });
    for (let i = 0; i < 600; i++) node.pay({ height: null, inMempool: true });
    const newest = node.pay({ height: null, inMempool: true });
    const { observed } = await readAll(`${node.height}:${node.hashAt(node.height)}`);
    assert.equal(observed.size, 500);
    assert.equal(observed.get(newest)?.state, 'mempool');
  });

  it('a walk goes back to the fork if the cursor is on an orphaned branch', async () => {
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
    const { observed, cursor } = await readAll(`${node.height}:${orphan}`);
    assert.deepEqual([observed.has(below), observed.has(above)], [false, true]);
    assert.equal(cursor, `${node.height}:${node.hashAt(node.height)}`);
  });

  it('a walk stops at a block that does not build on the previous one', async () => {
    const { cursor } = await chain.poll({ cursor: null });
    node.height += 2;
    makeListsTooLong();
    const { previousblockhash: _, ...block } = {
      previousblockhash: '',
      ...{ hash: '', height: node.height - 1, confirmations: 1, time: 1, tx: [] },
    };
    node.answers.set('getblock', block);
    await assert.rejects(chain.poll({ cursor }), /the chain changed during the read/);
  });

  it('if only the lookback list is too long, the newest entries of the wallet replace it', async () => {
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

describe('wallet rescans', () => {
  it('a rescanning wallet is waited for, in polls and rechecks', async () => {
    const key = node.pay({ forgotten: true });
    const { cursor } = await chain.poll({ cursor: null });
    node.overrideWalletInfo({ scanning: { duration: 70, progress: 0.2 } });
    node.answers.set('gettxout', () => null);
    const rescanning = { name: 'WalletRescanning' };
    await assert.rejects(chain.poll({ cursor }), rescanning);
    await assert.rejects(chain.recheck([key]), rescanning);
    node.overrideWalletInfo({ scanning: false });
    assert.equal((await chain.recheck([key]))[0]?.state, 'removed');
  });
});

describe('double spends', () => {
  it('a payment that a block double-spent is conflicted, although the wallet lists no output', async () => {
    const key = node.pay({ height: null });
    const [txid] = key.split(':');
    node.answers.set('gettransaction', { txid, confirmations: -3, details: [] });
    node.answers.set('gettxout', () => null);
    const [seen] = await chain.recheck([key]);
    assert.deepEqual([seen?.key, seen?.state], [key, 'conflicted']);
  });
});
