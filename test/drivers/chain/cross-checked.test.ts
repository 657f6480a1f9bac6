import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { CrossCheckedChain, type SecondNode } from '../../../src/drivers/chain/cross-checked.ts';
import { UnsafeChainError } from '../../../src/ports/chain.ts';
import { ScriptedChain } from '../../support/scripted-chain.ts';
import { ScriptedSecondNode } from '../../support/scripted-second-node.ts';
import { ManualClock } from '../../support/topup-world.ts';

let first: ScriptedChain;
let second: ScriptedSecondNode;
let chain: CrossCheckedChain;
let key: string;
beforeEach(() => {
  first = new ScriptedChain('BTC', new ManualClock());
  second = new ScriptedSecondNode(first);
  chain = new CrossCheckedChain(first, second);
  key = first.pay('an address', 7n);
});

/** Returns the payment, which a poll and a recheck report alike. */
async function pollOnce() {
  const { observations } = await chain.poll({ cursor: null });
  assert.deepEqual(await chain.recheck([key]), observations);
  const [observation] = observations;
  assert.ok(observation);
  return observation;
}

test('a payment that both nodes have in the same block is passed on unchanged', async () => {
  first.mine(3);
  assert.deepEqual(await pollOnce(), first.observe(key));
});

test('the second node is not asked for payments in no block', async () => {
  assert.deepEqual(await pollOnce(), first.observe(key));
  first.forget(key);
  assert.equal((await pollOnce()).state, 'removed');
  assert.deepEqual(second.confirmCalls, []);
});

test('a payment that only the first node has is reported as not agreed', async () => {
  first.mine(2);
  second.missingKeys.add(key);
  assert.deepEqual(await pollOnce(), { ...first.observe(key), agreed: false });
});

test('a payment that the second node has in another block is not agreed', async () => {
  first.mine();
  second.freeze([key]);
  first.reorg(1);
  first.mine(2);
  assert.equal((await pollOnce()).agreed, false);
  second.repair();
  assert.equal((await pollOnce()).agreed, true);
});

test('confirmations are those of the node that has fewer', async () => {
  first.mine();
  second.freeze([key]);
  first.mine(4);
  const { agreed, confirmations, state } = await pollOnce();
  assert.deepEqual([agreed, confirmations, state], [true, 1, 'included']);
});

test('a second node that lags lets a payment become final once it is deep enough there', async () => {
  first.mine(30);
  second.freeze([key]);
  first.mine(20);
  const { confirmations, state } = await pollOnce();
  assert.deepEqual([confirmations, state], [30, 'final']);
});

test('a payment is not final until the second node has it deep enough', async () => {
  first.mine();
  second.freeze([key]);
  first.mine(50);
  assert.equal(first.observe(key).state, 'final');
  assert.equal((await pollOnce()).state, 'included');
  second.missingKeys.add(key);
  assert.equal((await pollOnce()).state, 'included');
  second.repair();
  assert.equal((await pollOnce()).state, 'final');
});

test('a second node that fails agrees to nothing and delays nothing', async () => {
  first.mine();
  second.unresponsive = true;
  assert.deepEqual(await pollOnce(), { ...first.observe(key), agreed: false });
});

test('a second node that hangs times out', { timeout: 5_000 }, async () => {
  first.mine();
  second.confirm = () => new Promise(() => undefined);
  chain = new CrossCheckedChain(first, second, { timeoutMs: 20 });
  assert.equal((await pollOnce()).agreed, false);
});

test('a batch that fails or times out at the second node does not affect the other batches', {
  timeout: 5_000,
}, async () => {
  const keys = [key, ...Array.from({ length: 149 }, () => first.pay('an address', 7n))];
  first.mine();
  const { confirm } = second;
  second.confirm = async (batch) => {
    if (batch.some((each) => each.key === keys[0])) throw new Error('scripted failure');
    if (batch.some((each) => each.key === keys[149])) await new Promise(() => undefined);
    return await confirm.call(second, batch);
  };
  chain = new CrossCheckedChain(first, second, { timeoutMs: 200 });
  const { observations } = await chain.poll({ cursor: null });
  const agreed = keys.map((each) => observations.find((observed) => observed.key === each)?.agreed);
  assert.deepEqual(
    agreed,
    keys.map((_, i) => i >= 50 && i < 100),
  );
});

test('a second node that timed out is skipped for a while and then asked again', {
  timeout: 5_000,
}, async () => {
  first.mine();
  const { confirm } = second;
  let requests = 0;
  second.confirm = async () => {
    requests += 1;
    return await new Promise(() => undefined);
  };
  chain = new CrossCheckedChain(first, second, { timeoutMs: 20 });
  for (let polls = 0; polls < 3; polls++) assert.equal((await pollOnce()).agreed, false);
  assert.equal(requests, 1);
  chain = new CrossCheckedChain(first, second, { timeoutMs: 20, backoffMs: 0 });
  assert.equal((await pollOnce()).agreed, false);
  second.confirm = confirm;
  assert.equal((await pollOnce()).agreed, true);
});

test('findings include those of both nodes, as far as they respond', async () => {
  const note = { level: 'note', message: 'the second node cannot trace' } as const;
  const examined: SecondNode = Object.assign(second, { examine: async () => [note] });
  first.notes = [{ level: 'note', message: 'of the first' }];
  const well = { level: 'ok', message: 'the second node is at block 1000: scripted as well' } as const;
  assert.deepEqual(await chain.examine(0), [...first.notes, well, note]);
  examined.examine = async () => {
    throw new Error('scripted silence');
  };
  assert.deepEqual(await chain.examine(0), [...first.notes, well]);
});

test('an unsafe second node is not asked and agrees to nothing', async () => {
  first.mine();
  second.checkSafety = async () => {
    throw new UnsafeChainError('it is on another network');
  };
  assert.equal((await pollOnce()).agreed, false);
  assert.deepEqual(second.confirmCalls, []);
  await assert.rejects(chain.checkSafety(), UnsafeChainError);
});

test('failures of the first node are failures of the chain', async () => {
  first.failures.poll = 1;
  first.failures.recheck = 1;
  first.failures.checkSafety = 1;
  await assert.rejects(chain.poll({ cursor: null }), /scripted failure of poll/);
  await assert.rejects(chain.recheck([key]), /scripted failure of recheck/);
  await assert.rejects(chain.checkSafety(), /scripted failure of checkSafety/);
});

test('health is that of the first node, and findings report the second node', async () => {
  assert.deepEqual(await chain.health(), await first.health());
  const levels = async () => (await chain.examine(0)).map(({ level, message }) => `${level} ${message}`);
  first.ok = false;
  assert.deepEqual(await levels(), ['fail the second node is at block 1000: scripted as well']);
  first.ok = true;
  second.unresponsive = true;
  assert.deepEqual(await chain.health(), await first.health());
  assert.deepEqual(await levels(), ['fail the second node is unavailable: scripted silence']);
});

test('addresses come from the first node alone', async () => {
  second.unresponsive = true;
  const invoice = { id: 'one', index: 4, amountUnits: 7n };
  assert.deepEqual(await chain.allocate(invoice), await first.allocate(invoice));
});
