/** Blocks that someone made too long to trace. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { EvmChain } from '../../../../src/drivers/chain/evm/driver.ts';
import { NodeError, parseNodeUrl } from '../../../../src/drivers/chain/node-http.ts';
import type { Observation, OwnAddressLookup } from '../../../../src/ports/chain.ts';
import { findOwnAddresses } from '../../../../src/store/topups/addresses.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { FULL_ONLY } from '../../../support/runs.ts';
import { TopupWorld } from '../../../support/topup-world.ts';
import { Anvil, hex, NO_ANVIL } from './anvil.ts';
import { WORDY } from './contracts.ts';
import { EvmWorld } from './evm-world.ts';
import { methodNotFound, type RpcError, RpcProxy } from './rpc-proxy.ts';
import { TEST_ACCOUNT } from './stub-account.ts';
import { StubNode, type StubTransaction } from './stub-node.ts';

const MIB = 1024 ** 2;
const CONTRACT = `0x${'5'.repeat(40)}`;
const txid = (n: number) => `0x${String(n).padStart(64, '0')}`;

let node: StubNode;
let ours: string;
let unreadable: string[];
before(async () => {
  node = await StubNode.start();
  ours = (await chain().allocate({ id: 'one', index: 0, amountUnits: 1n })).address;
});
after(async () => await node?.close());
beforeEach(() => {
  Object.assign(node, { height: 100, tracing: 'traces', tracedFrom: 0, replays: true });
  node.transactions.clear();
  unreadable = [];
});

function chain(
  own: OwnAddressLookup = async (addresses) => new Set(addresses.filter((each) => each === ours)),
): EvmChain {
  return new EvmChain({
    ...{
      coin: 'ETH',
      node: parseNodeUrl(node.url),
      account: TEST_ACCOUNT,
      contract: CONTRACT,
      allowTest: false,
    },
    own,
    onUnreadable: (line) => void unreadable.push(line),
  });
}

const paying = (n: number, units: bigint, more: Partial<StubTransaction> = {}): StubTransaction => ({
  ...{ hash: txid(n), to: CONTRACT },
  calls: [{ to: ours.toLowerCase(), value: units }],
  ...more,
});

async function read(driver = chain()): Promise<Observation[]> {
  const all: Observation[] = [];
  let cursor: string | null = null;
  for (let isComplete = false; !isComplete; ) {
    const polled = await driver.poll({ cursor });
    ({ cursor, isComplete } = polled);
    all.push(...polled.observations);
  }
  return all;
}

const paid = (observations: readonly Observation[]) =>
  observations.map(({ txid, amountUnits, height }) => `${Number(txid)} ${amountUnits} ${height}`);

/** Its trace is 65 MiB long, like that of a loop that passes much data to a contract. */
const BOMB = { inputBytes: 32.5 * MIB };
/** The node reports that the trace is too long. */
const LONG = { isTooLong: true };

describe('blocks with an oversized trace', () => {
  for (const [tracing, long] of [
    ['traces', BOMB],
    ['frames', LONG],
  ] as const) {
    const whenLong = long === BOMB ? FULL_ONLY : {};
    it(
      `an oversized block hides no payments, in it or after it, on a node with ${tracing}`,
      whenLong,
      async () => {
        node.tracing = tracing;
        node.transactions.set(98, [paying(1, 7n), paying(3, 9n, long), paying(4, 8n)]);
        node.transactions.set(99, [paying(5, 6n)]);
        const driver = chain();
        const observed = await read(driver);
        assert.deepEqual(paid(observed), ['1 7 98', '3 9 98', '4 8 98', '5 6 99']);
        assert.deepEqual(unreadable, []);
        assert.deepEqual(await driver.recheck(observed.map(({ key }) => key)), observed);
      },
    );
  }

  it('an untraceable transaction counts with its declared payment and is logged', async () => {
    node.replays = false;
    node.transactions.set(98, [paying(1, 7n, LONG), paying(2, 0n, { ...LONG, to: ours, value: 5n })]);
    node.transactions.set(99, [paying(3, 6n)]);
    assert.deepEqual(paid(await read()), ['2 5 98', '3 6 99']);
    assert.match(unreadable.join('\n'), /too long to trace/);
    assert.equal(unreadable.length, 2);
  });

  it('an oversized block is not skipped if the node has another problem', async () => {
    node.transactions.set(98, [paying(1, 7n), paying(2, 0n, LONG)]);
    const { answer } = node.proxy;
    const failing = { error: { code: -32_000, message: 'missing trie node' } };
    node.proxy.answer = ({ method, ...call }) =>
      /trace_.*Transaction|trace_transaction/.test(method) && call.params[0] === txid(1)
        ? failing
        : answer({ method, ...call });
    try {
      await assert.rejects(read(), NodeError);
    } finally {
      node.proxy.answer = answer;
    }
    assert.deepEqual(paid(await read()), ['1 7 98']);
  });

  it('a block or transaction that the node fails to trace is read after a few attempts', async () => {
    node.transactions.set(98, [paying(1, 7n), paying(2, 8n)]);
    const { answer } = node.proxy;
    const attemptsWith = async (errors: Readonly<Record<string, object>>) => {
      node.proxy.answer = (call) => {
        const error =
          call.params[0] === txid(2) || Number(call.params[0]) === 98 ? errors[call.method] : undefined;
        return error ? ({ error } as RpcError) : answer(call);
      };
      const driver = chain();
      await driver.checkSafety();
      for (let attempts = 1; ; attempts++) {
        try {
          return [attempts, ...paid(await read(driver))];
        } catch (error) {
          if (!(error instanceof NodeError) || attempts === 5) throw error;
        }
      }
    };
    const timeout = { code: -32_000, message: 'execution timeout' };
    try {
      assert.deepEqual(await attemptsWith({ trace_block: timeout, trace_transaction: timeout }), [
        3,
        '1 7 98',
        '2 8 98',
      ]);
    } finally {
      node.proxy.answer = answer;
    }
  });

  it('an aborted read of an oversized block resumes where it stopped', async () => {
    node.transactions.set(98, [paying(1, 7n), paying(2, 8n), paying(3, 9n, LONG)]);
    const { answer } = node.proxy;
    const busy = { error: { code: -32_000, message: 'execution timeout' } };
    node.proxy.answer = (call) =>
      call.method === 'trace_transaction' && call.params[0] === txid(3) ? busy : answer(call);
    const driver = chain();
    try {
      await assert.rejects(read(driver), NodeError);
    } finally {
      node.proxy.answer = answer;
    }
    node.proxy.calls.length = 0;
    assert.deepEqual(paid(await read(driver)), ['1 7 98', '2 8 98', '3 9 98']);
    const again = node.proxy.calls.filter(({ method }) => method === 'trace_transaction');
    assert.deepEqual(
      again.map(({ params }) => params[0]),
      [txid(3)],
    );
    // The whole block is not requested again: a slow node could use up the whole poll for that.
    const whole = node.proxy.calls.filter(
      ({ method, params }) => method === 'trace_block' && Number(params[0]) === 98,
    );
    assert.equal(whole.length, 0);
  });

  it('an oversized newest block does not fail the safety check', async () => {
    node.transactions.set(100, [paying(1, 7n, LONG)]);
    await chain().checkSafety();
  });
});

describe('top-ups around an oversized block', () => {
  it('a top-up is credited if it was paid in an oversized block or after it', async () => {
    const world = await TopupWorld.start({
      chains: ({ db }) => new Map([['ETH', chain((addresses) => findOwnAddresses(db, 'ETH', addresses))]]),
    });
    try {
      const [within, later] = [await world.createInvoice(100, 'ETH'), await world.createInvoice(100, 'ETH')];
      const payment = (n: number, topup: TopupRow, more = {}) => {
        const calls = [{ to: topup.deposit_address.toLowerCase(), value: topup.deposit_units }];
        return paying(n, 0n, { calls, ...more });
      };
      node.transactions.set(85, [payment(1, within, LONG)]);
      node.transactions.set(86, [payment(2, later)]);
      await world.runUntilIdle();
      for (const topup of [within, later]) assert.equal(await world.balance(topup), 13_000n);
    } finally {
      await world.close();
    }
  });
});

describe('oversized receipts', () => {
  it('receipts that are too long together are requested in parts', async () => {
    node.transactions.set(
      98,
      Array.from({ length: 5 }, (_, i) => paying(i, 1n, { logBytes: 1.8 * MIB })),
    );
    const driver = chain();
    const observed = await read(driver);
    assert.equal(observed.length, 5);
    assert.deepEqual(await driver.recheck(observed.map(({ key }) => key)), observed);
  });
});

describe('payments in blocks that are no longer traceable', () => {
  it('an untraceable payment by a contract stays included, but neither agreed nor final', async () => {
    node.transactions.set(98, [paying(1, 7n), { hash: txid(2), to: ours.toLowerCase(), value: 5n }]);
    const [inner, plain] = await read();
    assert.ok(inner && plain);
    Object.assign(node, { height: 300, tracedFrom: 200 });
    const again = await chain().recheck([inner.key, plain.key, `${txid(3)}:${ours}:7:0`]);
    assert.deepEqual(
      again.map(({ state, agreed, confirmations, amountUnits }) => [
        state,
        agreed,
        confirmations,
        amountUnits,
      ]),
      [
        ['included', false, 203, 7n],
        ['final', true, 203, 5n],
        ['removed', true, 0, 0n],
      ],
    );
    assert.equal(again[0]?.blockHash, inner.blockHash);
    assert.equal(again[0]?.address, ours);
  });
});

describe('Ethereum requests', () => {
  it('a poll and a recheck request the newest block once each', async () => {
    node.transactions.set(98, [paying(1, 7n)]);
    const driver = chain();
    const [observed] = await read(driver);
    const tipRequests = () =>
      node.proxy.calls.filter(({ method, params }) => /ByNumber/.test(method) && params[0] === 'latest')
        .length;
    const before = tipRequests();
    await driver.recheck([observed?.key ?? '']);
    assert.equal(tipRequests() - before, 1);
  });
});

describe('real blocks with an oversized trace', { skip: NO_ANVIL || FULL_ONLY.skip }, () => {
  for (const tracing of ['traces', 'frames'] as const) {
    it(`a real block with a 70 MiB trace blocks no top-up on a node with ${tracing}`, async () => {
      const anvil = await Anvil.start();
      const proxy = await RpcProxy.start(anvil.url);
      proxy.answer = ({ method }) =>
        tracing === 'frames' && /^trace_/.test(method) ? methodNotFound(method) : undefined;
      const evm = await EvmWorld.start(anvil, { url: proxy.url });
      try {
        const wordy = await anvil.deploy(WORDY);
        const [within, later] = [await evm.invoice(100), await evm.invoice(100)];
        const data = `0x${within.deposit_address.slice(2).toLowerCase().padStart(64, '0')}`;
        await anvil.send(await anvil.prepare({ to: wordy, value: hex(within.deposit_units), data }));
        await anvil.mine();
        await anvil.pay(later.deposit_address, later.deposit_units);
        await anvil.mine(12);
        // On a busy machine, the node needs its time for such a trace.
        await evm.world.runUntilIdle({ timeoutMs: 60_000 });
        assert.equal(await evm.summarize(within), 'included 13, 13000');
        assert.equal(await evm.summarize(later), 'included 12, 13000');
      } finally {
        await evm.close();
        await proxy.close();
        await anvil.close();
      }
    });
  }
});
