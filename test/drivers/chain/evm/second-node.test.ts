/** Confirmations by a second node that cannot trace, temporarily or permanently. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { EvmSecondNode } from '../../../../src/drivers/chain/evm/second-node.ts';
import { parseNodeUrl } from '../../../../src/drivers/chain/node-http.ts';
import type { Observation } from '../../../../src/ports/chain.ts';
import { hashAt, StubNode } from './stub-node.ts';

const CONTRACT = `0x${'5'.repeat(40)}`;
/** Digits only, so that the checksummed form is the same. */
const OURS = `0x${'12345678'.repeat(5)}`;
const txid = (n: number) => `0x${String(n).padStart(64, '0')}`;
const HEIGHT = 90;

let node: StubNode;
before(async () => {
  node = await StubNode.start();
});
after(async () => await node?.close());
beforeEach(() => {
  Object.assign(node, { height: 100, tracing: 'traces', tracedFrom: 0 });
  node.balances.clear();
  node.transactions.clear();
  node.transactions.set(HEIGHT, [
    { hash: txid(1), to: OURS, value: 5n },
    { hash: txid(2), to: CONTRACT, calls: [{ to: OURS, value: 7n }] },
    { hash: txid(3), to: CONTRACT },
  ]);
});

/** Returns a second node that has passed its safety check. */
async function witness(): Promise<EvmSecondNode> {
  const endpoint = parseNodeUrl(node.url);
  const second = new EvmSecondNode({ coin: 'ETH', node: endpoint, contract: CONTRACT, allowTest: false });
  await second.checkSafety();
  return second;
}

function paid(n: number, amountUnits: bigint): Observation {
  return {
    key: `${txid(n)}:${OURS}:${amountUnits}:0`,
    ...{ txid: txid(n), address: OURS, amountUnits, state: 'included', confirmations: 11, agreed: true },
    ...{ height: HEIGHT, blockHash: hashAt(HEIGHT), blockTime: new Date(0) },
  };
}

const PLAIN = paid(1, 5n);
const INNER = paid(2, 7n);
const LIE = paid(3, 10_000n);

const confirmedKeys = async (second: EvmSecondNode, ...all: Observation[]) => [
  ...(await second.confirm(all)).keys(),
];

describe('second Ethereum node', () => {
  it('a second node that can trace agrees to the payments that it finds', async () => {
    assert.deepEqual(await confirmedKeys(await witness(), PLAIN, INNER, LIE), [PLAIN.key, INNER.key]);
  });

  it('a second node whose tracing fails agrees only to declared payments', async () => {
    const second = await witness();
    node.tracedFrom = HEIGHT + 1;
    assert.deepEqual(await confirmedKeys(second, PLAIN, INNER, LIE), [PLAIN.key]);
    node.tracedFrom = 1_000;
    assert.deepEqual(await confirmedKeys(second, PLAIN, INNER, LIE), [PLAIN.key]);
  });

  it('a second node agrees to a payment in an old block by the balance, and not without it', async () => {
    Object.assign(node, { height: HEIGHT + 200, tracedFrom: HEIGHT + 100 });
    assert.deepEqual(await confirmedKeys(await witness(), PLAIN, INNER, LIE), [PLAIN.key]);
    node.balances.set(`${HEIGHT - 1} ${OURS}`, 100n);
    node.balances.set(`${HEIGHT} ${OURS}`, 112n);
    assert.deepEqual(await confirmedKeys(await witness(), PLAIN, INNER, LIE), [PLAIN.key, INNER.key]);
  });

  it('a second node that cannot trace agrees up to the balance increase, in any order', async () => {
    node.tracing = 'none';
    node.balances.set(`${HEIGHT - 1} ${OURS}`, 100n);
    node.balances.set(`${HEIGHT} ${OURS}`, 112n);
    assert.deepEqual(await confirmedKeys(await witness(), LIE, INNER, PLAIN), [PLAIN.key, INNER.key]);
    // Of the increase of 12, INNER uses up 7.
    const second = await witness();
    assert.deepEqual(await confirmedKeys(second, INNER), [INNER.key]);
    assert.deepEqual(await confirmedKeys(second, paid(3, 6n)), []);
    assert.deepEqual(await confirmedKeys(second, INNER), [INNER.key]);
    assert.deepEqual(await confirmedKeys(second, paid(3, 5n)), [paid(3, 5n).key]);
  });

  it('a second node that cannot trace is reported in its findings', async () => {
    assert.deepEqual(await (await witness()).examine(), []);
    node.tracing = 'none';
    assert.match(
      (await (await witness()).examine()).map(({ message }) => message).join(),
      /second node cannot trace/,
    );
  });
});
