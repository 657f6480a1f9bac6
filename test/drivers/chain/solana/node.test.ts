/** Requirements of the Solana driver for its node, and its findings about the node and the pool. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CrossCheckedChain } from '../../../../src/drivers/chain/cross-checked.ts';
import { solanaSecondNode } from '../../../../src/drivers/chain/solana/second-node.ts';
import { type ChainDriver, UnsafeChainError } from '../../../../src/ports/chain.ts';
import { type SolanaWorld, startSolana } from './solana-world.ts';
import { StubSolana } from './stub-node.ts';

let sol: SolanaWorld;
let chain: ChainDriver;
beforeEach(async () => {
  sol = await startSolana({ addresses: 60 });
  chain = sol.world.chains.get('SOL') ?? assert.fail();
});
afterEach(async () => {
  await sol.close();
});

describe('Solana nodes', () => {
  it('a node must be on the main network and have an address index', async () => {
    await chain.checkSafety();
    sol.stub.keepsHistory = false;
    await assert.rejects(chain.checkSafety(), /history is not available/);
    sol.stub.genesis = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
    await assert.rejects(chain.checkSafety(), UnsafeChainError);
    await assert.rejects(chain.poll({ cursor: null }), UnsafeChainError);
    await assert.rejects(chain.allocate({ id: 'x', index: 0, amountUnits: 1n }), UnsafeChainError);
  });

  it('a node is unhealthy if it says so or its newest final block is old', async () => {
    const stub = await StubSolana.start();
    try {
      const witness = solanaSecondNode({ node: stub.node, allowTest: false });
      assert.equal((await witness.health()).ok, true);
      stub.healthProblem = 'Node is behind by 42 slots';
      const health = await witness.health();
      assert.equal(health.ok, false);
      assert.match(health.detail, /behind by 42 slots/);
      const late = await StubSolana.start(() => Date.now() - 6 * 60_000);
      assert.equal((await solanaSecondNode({ node: late.node, allowTest: false }).health()).ok, false);
      await late.close();
    } finally {
      await stub.close();
    }
  });

  it('findings report the level of the pool, as a problem when it is low', async () => {
    const finding = async () =>
      (await chain.examine(0)).map(({ level, message }) => `${level}: ${message}`)[0] ?? '';
    assert.match(await finding(), /^note: free addresses: 60; assigned in the last 7 days: 0$/);
    for (let i = 0; i < 11; i++) await sol.pool.allocate(`01890000-0000-7000-8000-0000000000${i + 10}`);
    assert.match(
      await finding(),
      /^warn: free addresses: 49; assigned in the last 7 days: 11\. Create more offline/,
    );
    sol.world.clock.advanceMinutes(8 * 24 * 60);
    assert.match(await finding(), /in the last 7 days: 0/);
  });

  it('findings report the history of the node, as a problem below one week', async () => {
    const history = async () => (await chain.examine(0)).find(({ message }) => /of history/.test(message));
    assert.deepEqual(await history(), { level: 'ok', message: 'the node has 30.0 days of history' });
    sol.stub.ledgerDays = 2;
    const short = await history();
    assert.equal(short?.level, 'warn');
    assert.match(short?.message ?? '', /2\.0 days of history: .*--limit-ledger-size/);
  });

  it('a malformed list fails the poll and does not advance any mark', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    sol.stub.finalize();
    sol.stub.broken = 'getSignaturesForAddress';
    await assert.rejects(chain.poll({ cursor: null }), /no valid list/);
    sol.stub.broken = '';
    await sol.world.runUntilIdle();
    assert.equal((await sol.world.reloadTopup(topup)).credited_cents, 5_000n);
  });

  it('a payment that the node pruned before it was agreed is neither removed nor credited', async () => {
    const other = await StubSolana.start();
    try {
      const second = solanaSecondNode({ node: other.node, allowTest: false });
      sol.world.chains.set('SOL', new CrossCheckedChain(chain, second));
      const topup = await sol.world.createInvoice(50, 'SOL');
      const key = `${sol.stub.pay(topup.deposit_address, topup.deposit_units)}:${topup.deposit_address}`;
      sol.stub.finalize();
      await sol.world.runUntilIdle();
      sol.stub.pruneOldest(1);
      sol.stub.finalize();
      const [seen] = await chain.recheck([key]);
      assert.deepEqual([seen?.state, seen?.agreed], ['removed', false]);
      await sol.world.runUntilIdle();
      const [deposit] = await sol.world.deposits(topup);
      assert.deepEqual([deposit?.state, deposit?.agreed, deposit?.credited_cents], ['included', false, null]);
      assert.equal((await sol.world.reloadTopup(topup)).status, 'confirming');
    } finally {
      await other.close();
    }
  });

  it('an address with a balance but no transactions is reported as a gap in the history', async () => {
    const problems = async () => (await chain.examine(0)).filter(({ level }) => level === 'fail').length;
    const [topup, other] = [
      await sol.world.createInvoice(50, 'SOL'),
      await sol.world.createInvoice(50, 'SOL'),
    ];
    sol.stub.pay(other.deposit_address, other.deposit_units);
    sol.stub.accounts.add(other.deposit_address);
    assert.equal(await problems(), 0);
    sol.stub.accounts.add(topup.deposit_address);
    assert.equal(await problems(), 1);
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    assert.equal(await problems(), 0);
  });
});

describe('second Solana node', () => {
  it('a second node agrees to a final payment with the same amount in the same slot', async () => {
    const second = solanaSecondNode({ node: sol.stub.node, allowTest: false });
    const topup = await sol.world.createInvoice(50, 'SOL');
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    sol.stub.finalize();
    const [seen] = (await chain.poll({ cursor: null })).observations;
    assert.ok(seen);
    assert.deepEqual([...(await second.confirm([seen]))], [[seen.key, seen.confirmations]]);
    assert.equal((await second.confirm([{ ...seen, amountUnits: 1n }])).size, 0);
    assert.equal((await second.confirm([{ ...seen, blockHash: '1' }])).size, 0);
  });

  it('a payment is not credited until the second node has it', async () => {
    const other = await StubSolana.start();
    try {
      const second = solanaSecondNode({ node: other.node, allowTest: false });
      sol.world.chains.set('SOL', new CrossCheckedChain(chain, second));
      const topup = await sol.world.createInvoice(50, 'SOL');
      sol.stub.pay(topup.deposit_address, topup.deposit_units);
      sol.stub.finalize();
      await sol.world.runUntilIdle();
      assert.equal((await sol.world.reloadTopup(topup)).credited_cents, 0n);
      const agreeing = solanaSecondNode({ node: sol.stub.node, allowTest: false });
      sol.world.chains.set('SOL', new CrossCheckedChain(chain, agreeing));
      sol.stub.finalize();
      await sol.world.runUntilIdle();
      assert.equal((await sol.world.reloadTopup(topup)).credited_cents, 5_000n);
    } finally {
      await other.close();
    }
  });
});
