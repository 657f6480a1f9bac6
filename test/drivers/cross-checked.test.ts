import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { CrossCheckedChain, type SecondNode } from '../../src/drivers/chain/cross-checked.ts';
import { UnsafeChainError } from '../../src/ports/chain.ts';
import { ScriptedChain } from '../support/scripted-chain.ts';
import { ScriptedSecondNode } from '../support/scripted-second-node.ts';
import { ManualClock } from '../support/topup-world.ts';

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

/** The payment, as a poll and a question for it tell it alike. */
async function pollOnce() {
  const { observations } = await chain.poll({ cursor: null });
  assert.deepEqual(await chain.recheck([key]), observations);
  const [observation] = observations;
  assert.ok(observation);
  return observation;
}

test('what both have in the same block is told as the first one tells it', async () => {
  first.mine(3);
  assert.deepEqual(await pollOnce(), first.observe(key));
});

test('the second node is not asked for what is in no block', async () => {
  assert.deepEqual(await pollOnce(), first.observe(key));
  first.forget(key);
  assert.equal((await pollOnce()).state, 'removed');
  assert.deepEqual(second.confirmCalls, []);
});

test('what the second node lacks is told as not agreed, where the first one has it', async () => {
  first.mine(2);
  second.missingKeys.add(key);
  assert.deepEqual(await pollOnce(), { ...first.observe(key), agreed: false });
});

test('what the second node has in another block is not agreed', async () => {
  first.mine();
  second.freeze([key]);
  first.reorg(1);
  first.mine(2);
  assert.equal((await pollOnce()).agreed, false);
  second.repair();
  assert.equal((await pollOnce()).agreed, true);
});

test('the confirmations are those of the node that has fewer', async () => {
  first.mine();
  second.freeze([key]);
  first.mine(4);
  const { agreed, confirmations, state } = await pollOnce();
  assert.deepEqual([agreed, confirmations, state], [true, 1, 'included']);
});

test('a second node that is always behind keeps nothing from being final that is deep enough there', async () => {
  first.mine(30);
  second.freeze([key]);
  first.mine(20);
  const { confirmations, state } = await pollOnce();
  assert.deepEqual([confirmations, state], [30, 'final']);
});

test('nothing is final until the second node has it deep enough', async () => {
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

test('a second node that fails agrees to nothing, and holds nothing up', async () => {
  first.mine();
  second.unresponsive = true;
  assert.deepEqual(await pollOnce(), { ...first.observe(key), agreed: false });
});

test('a second node that hangs is given up on', { timeout: 5_000 }, async () => {
  first.mine();
  second.confirm = () => new Promise(() => undefined);
  chain = new CrossCheckedChain(first, second, { patienceMs: 20 });
  assert.equal((await pollOnce()).agreed, false);
});

test('of many payments it is asked in parts, and a part that fails, or comes too late, keeps no other waiting', {
  timeout: 5_000,
}, async () => {
  const keys = [key, ...Array.from({ length: 149 }, () => first.pay('an address', 7n))];
  first.mine();
  const { confirm } = second;
  second.confirm = async (some) => {
    if (some.some((each) => each.key === keys[0])) throw new Error('it stumbles');
    if (some.some((each) => each.key === keys[149])) await new Promise(() => undefined);
    return await confirm.call(second, some);
  };
  chain = new CrossCheckedChain(first, second, { patienceMs: 200 });
  const { observations } = await chain.poll({ cursor: null });
  const agreed = keys.map((each) => observations.find((told) => told.key === each)?.agreed);
  assert.deepEqual(
    agreed,
    keys.map((_, i) => i >= 50 && i < 100),
  );
});

test('a second node that let one wait in vain is not waited for again at once, but later', {
  timeout: 5_000,
}, async () => {
  first.mine();
  const { confirm } = second;
  let questions = 0;
  second.confirm = async () => {
    questions += 1;
    return await new Promise(() => undefined);
  };
  chain = new CrossCheckedChain(first, second, { patienceMs: 20 });
  for (let looks = 0; looks < 3; looks++) assert.equal((await pollOnce()).agreed, false);
  assert.equal(questions, 1);
  chain = new CrossCheckedChain(first, second, { patienceMs: 20, restsMs: 0 });
  assert.equal((await pollOnce()).agreed, false);
  second.confirm = confirm;
  assert.equal((await pollOnce()).agreed, true);
});

test('what is to be known of a coin is what is to be known of both nodes, as far as they answer', async () => {
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

test('a second node that must not be used is not asked, and agrees to nothing', async () => {
  first.mine();
  second.checkSafety = async () => {
    throw new UnsafeChainError('it is on another network');
  };
  assert.equal((await pollOnce()).agreed, false);
  assert.deepEqual(second.confirmCalls, []);
  await assert.rejects(chain.checkSafety(), UnsafeChainError);
});

test('the first node’s failures are the chain’s', async () => {
  first.failures.poll = 1;
  first.failures.recheck = 1;
  first.failures.checkSafety = 1;
  await assert.rejects(chain.poll({ cursor: null }), /scripted failure of poll/);
  await assert.rejects(chain.recheck([key]), /scripted failure of recheck/);
  await assert.rejects(chain.checkSafety(), /scripted failure of checkSafety/);
});

test('its health is that of the first node; how the second one is can be known as well', async () => {
  assert.deepEqual(await chain.health(), await first.health());
  const levels = async () => (await chain.examine(0)).map(({ level, message }) => `${level} ${message}`);
  first.ok = false;
  assert.deepEqual(await levels(), ['fail the second node is at block 1000: scripted as well']);
  first.ok = true;
  second.unresponsive = true;
  assert.deepEqual(await chain.health(), await first.health());
  assert.deepEqual(await levels(), ['fail the second node cannot be asked: scripted silence']);
});

test('addresses are the first node’s alone', async () => {
  second.unresponsive = true;
  const invoice = { id: 'one', index: 4, amountUnits: 7n };
  assert.deepEqual(await chain.allocate(invoice), await first.allocate(invoice));
});
