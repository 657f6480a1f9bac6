import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toTransfers } from '../../../../src/drivers/chain/evm/movement.ts';
import type { EvmBlockHead } from '../../../../src/drivers/chain/evm/node.ts';
import {
  movementsFromFrames,
  movementsFromTraces,
} from '../../../../src/drivers/chain/evm/trace-responses.ts';

const hash = (digit: string) => `0x${digit.repeat(64)}`;
const at = (digit: string) => `0x${digit.repeat(40)}`;
const [ALICE, SPLIT, OURS, BUILT_IN, BOMB] = [
  at('a'),
  at('5'),
  at('c'),
  `0x${'1'.padStart(40, '0')}`,
  at('b'),
];
const [PLAIN, SPREAD, FAILED] = [hash('1'), hash('2'), hash('3')];
const BLOCK = hash('e');
const HEAD: EvmBlockHead = {
  height: 7,
  hash: BLOCK,
  parentHash: hash('d'),
  time: new Date(0),
  txids: [PLAIN, SPREAD, FAILED],
};

interface Frame {
  readonly type: 'CALL' | 'DELEGATECALL' | 'STATICCALL' | 'CREATE' | 'SELFDESTRUCT';
  readonly from: string;
  readonly to: string;
  readonly value?: string;
  readonly error?: string;
  readonly calls?: readonly Frame[];
}

/** Three transactions in the format of `callTracer`. */
const FRAMES: readonly Frame[] = [
  { type: 'CALL', from: ALICE, to: OURS, value: '0xde0b6b3a7640000' },
  {
    type: 'CALL',
    from: ALICE,
    to: SPLIT,
    value: '0x64',
    calls: [
      { type: 'STATICCALL', from: SPLIT, to: BUILT_IN },
      { type: 'CALL', from: SPLIT, to: OURS, value: '0xa' },
      {
        type: 'CALL',
        from: SPLIT,
        to: SPLIT,
        value: '0x14',
        error: 'execution reverted',
        calls: [{ type: 'CALL', from: SPLIT, to: OURS, value: '0x14' }],
      },
      {
        type: 'DELEGATECALL',
        from: SPLIT,
        to: BOMB,
        value: '0x64',
        calls: [{ type: 'CALL', from: SPLIT, to: OURS, value: '0xa' }],
      },
      { type: 'DELEGATECALL', from: SPLIT, to: OURS, value: '0x64' },
      { type: 'CREATE', from: SPLIT, to: OURS, value: '0x5' },
      {
        type: 'CALL',
        from: SPLIT,
        to: BOMB,
        value: '0x0',
        calls: [{ type: 'SELFDESTRUCT', from: BOMB, to: OURS, value: '0x1e' }],
      },
      { type: 'CALL', from: SPLIT, to: OURS, value: '0x0' },
    ],
  },
  {
    type: 'CALL',
    from: ALICE,
    to: SPLIT,
    value: '0x9',
    error: 'out of gas',
    calls: [{ type: 'CALL', from: SPLIT, to: OURS, value: '0x9' }],
  },
];

const framesAnswer = () => FRAMES.map((result, i) => ({ txHash: HEAD.txids[i], result }));

/** The same in the format of `trace_block`, without calls of precompiled contracts. */
function tracesAnswer(): Record<string, unknown>[] {
  return FRAMES.flatMap((frame, i) => tracesOf(frame, HEAD.txids[i] ?? '', []));
}

function tracesOf(frame: Frame, txid: string, path: readonly number[]): Record<string, unknown>[] {
  const kept = (frame.calls ?? []).filter(({ to }) => to !== BUILT_IN);
  const trace = {
    action: actionOf(frame),
    blockHash: BLOCK,
    blockNumber: HEAD.height,
    ...(frame.error === undefined ? { result: { gasUsed: '0x0', output: '0x' } } : { error: 'Reverted' }),
    subtraces: kept.length,
    traceAddress: path,
    transactionHash: txid,
    type: { SELFDESTRUCT: 'suicide', CREATE: 'create' }[frame.type as string] ?? 'call',
  };
  return [trace, ...kept.flatMap((call, i) => tracesOf(call, txid, [...path, i]))];
}

function actionOf({ type, from, to, value = '0x0' }: Frame): object {
  if (type === 'SELFDESTRUCT') return { address: from, refundAddress: to, balance: value };
  if (type === 'CREATE') return { from, init: '0x', value, gas: '0x0' };
  return { callType: type.toLowerCase(), from, to, value, input: '0x', gas: '0x0' };
}

const paidToUs = (movements: ReturnType<typeof movementsFromTraces>) =>
  toTransfers(movements)
    .filter(({ address }) => address.toLowerCase() === OURS)
    .map(({ key }) => key.toLowerCase())
    .sort();

const EXPECTED = [
  `${PLAIN}:${OURS}:1000000000000000000:0`,
  `${SPREAD}:${OURS}:10:0`,
  `${SPREAD}:${OURS}:10:1`,
  `${SPREAD}:${OURS}:30:0`,
];

describe('ether movements in a block', () => {
  it('ether moves by calls and destroyed contracts that are not inside a failed call', () => {
    assert.deepEqual(paidToUs(movementsFromFrames(framesAnswer(), HEAD)), EXPECTED);
  });

  it('both trace formats give the same payments with the same keys', () => {
    assert.deepEqual(paidToUs(movementsFromTraces(tracesAnswer(), HEAD)), EXPECTED);
  });

  it('the order of the traces does not matter', () => {
    assert.deepEqual(paidToUs(movementsFromTraces(tracesAnswer().reverse(), HEAD)), EXPECTED);
  });

  it('traces without transaction ids are matched by position', () => {
    const unnamed = framesAnswer().map(({ result }) => ({ result }));
    assert.deepEqual(paidToUs(movementsFromFrames(unnamed, HEAD)), EXPECTED);
    assert.throws(() => movementsFromFrames(framesAnswer().reverse(), HEAD), /different order/);
  });

  it('block rewards are ignored', () => {
    const reward = {
      action: { author: OURS, rewardType: 'block', value: '0x1' },
      blockHash: BLOCK,
      traceAddress: [],
      transactionHash: null,
      type: 'reward',
    };
    assert.deepEqual(paidToUs(movementsFromTraces([...tracesAnswer(), reward], HEAD)), EXPECTED);
  });

  it('a response that leaves out a transaction is rejected', () => {
    const without = tracesAnswer().filter(({ transactionHash }) => transactionHash !== SPREAD);
    assert.throws(() => movementsFromTraces(without, HEAD), /left out 1 of 3/);
    assert.throws(() => movementsFromTraces([], HEAD), /left out 3 of 3/);
    assert.throws(() => movementsFromFrames(framesAnswer().slice(1), HEAD), /traced 2 of 3/);
    assert.throws(() =>
      movementsFromFrames([...framesAnswer().slice(1), { error: 'execution timeout' }], HEAD),
    );
  });

  it('traces of another block are rejected', () => {
    const other = tracesAnswer().map((trace) => ({ ...trace, blockHash: hash('f') }));
    assert.throws(() => movementsFromTraces(other, HEAD), /the chain changed/);
  });

  it('a malformed response is rejected', () => {
    for (const answer of [null, {}, 'x', [null], [{}], [[]]]) {
      assert.throws(() => movementsFromTraces(answer, { ...HEAD, txids: [PLAIN] }), /the node/);
      assert.throws(() => movementsFromFrames(answer, { ...HEAD, txids: [PLAIN] }), /the node/);
    }
  });
});
