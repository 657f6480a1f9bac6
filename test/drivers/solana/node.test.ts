/** What the driver of Solana wants of its node, and what it says of it and of the pool. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CrossCheckedChain } from '../../../src/drivers/chain/cross-checked.ts';
import { SolanaSecondNode } from '../../../src/drivers/chain/solana/second-node.ts';
import { type ChainDriver, UnsafeChainError } from '../../../src/ports/chain.ts';
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

describe('a node of Solana', () => {
  it('must be on the real network and keep lists of transactions', async () => {
    await chain.checkSafety();
    sol.stub.keepsHistory = false;
    await assert.rejects(chain.checkSafety(), /history is not available/);
    sol.stub.genesis = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
    await assert.rejects(chain.checkSafety(), UnsafeChainError);
    await assert.rejects(chain.poll({ cursor: null }), UnsafeChainError);
    await assert.rejects(chain.allocate({ id: 'x', index: 0, amountUnits: 1n }), UnsafeChainError);
  });

  it('is not well while it says so, or its newest final block is old', async () => {
    const stub = await StubSolana.start();
    try {
      const witness = new SolanaSecondNode({ node: stub.node, allowTest: false });
      assert.equal((await witness.health()).ok, true);
      stub.healthProblem = 'Node is behind by 42 slots';
      const health = await witness.health();
      assert.equal(health.ok, false);
      assert.match(health.detail, /behind by 42 slots/);
      const late = await StubSolana.start(() => Date.now() - 6 * 60_000);
      assert.equal((await new SolanaSecondNode({ node: late.node, allowTest: false }).health()).ok, false);
      await late.close();
    } finally {
      await stub.close();
    }
  });

  it('is told with the level of the pool, loudly when it is low', async () => {
    const says = async () =>
      (await chain.examine(0)).map(({ level, message: it }) => `${level}: ${it}`)[0] ?? '';
    assert.match(await says(), /^note: addresses left: 60; given out in the last 7 days: 0$/);
    for (let i = 0; i < 11; i++) await sol.pool.allocate(`01890000-0000-7000-8000-0000000000${i + 10}`);
    assert.match(await says(), /^warn: addresses left: 49; given out in the last 7 days: 11\. Make more/);
    sol.world.clock.advanceMinutes(8 * 24 * 60);
    assert.match(await says(), /in the last 7 days: 0/);
  });

  it('is told with how far back its ledger reaches, loudly when that is less than a week', async () => {
    const reach = async () => (await chain.examine(0)).find(({ message }) => /ledger/.test(message));
    assert.deepEqual(await reach(), { level: 'ok', message: 'the node’s ledger reaches 30.0 days back' });
    sol.stub.ledgerDays = 2;
    const short = await reach();
    assert.equal(short?.level, 'warn');
    assert.match(short?.message ?? '', /reaches 2\.0 days back: .*--limit-ledger-size/);
  });

  it('that gives no list where it should tells nothing, and nothing is taken for read', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    sol.stub.finalize();
    sol.stub.broken = 'getSignaturesForAddress';
    await assert.rejects(chain.poll({ cursor: null }), /no list/);
    sol.stub.broken = '';
    await sol.world.runUntilIdle();
    assert.equal((await sol.world.reloadTopup(topup)).credited_cents, 5_000n);
  });

  it('that dropped a payment of which nobody else knows does not take it back, nor is it credited', async () => {
    const other = await StubSolana.start();
    try {
      const second = new SolanaSecondNode({ node: other.node, allowTest: false });
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

  it('is told to have a gap in its history where an address has money and no transaction', async () => {
    const looks = async () => (await chain.examine(0)).filter(({ level }) => level === 'fail').length;
    const [topup, other] = [
      await sol.world.createInvoice(50, 'SOL'),
      await sol.world.createInvoice(50, 'SOL'),
    ];
    sol.stub.pay(other.deposit_address, other.deposit_units);
    sol.stub.accounts.add(other.deposit_address);
    assert.equal(await looks(), 0);
    sol.stub.accounts.add(topup.deposit_address);
    assert.equal(await looks(), 1);
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    assert.equal(await looks(), 0);
  });
});

describe('a second node of Solana', () => {
  it('agrees to what is final there as well, with the same amount in the same slot', async () => {
    const second = new SolanaSecondNode({ node: sol.stub.node, allowTest: false });
    const topup = await sol.world.createInvoice(50, 'SOL');
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    sol.stub.finalize();
    const [seen] = (await chain.poll({ cursor: null })).observations;
    assert.ok(seen);
    assert.deepEqual([...(await second.confirm([seen]))], [[seen.key, seen.confirmations]]);
    assert.equal((await second.confirm([{ ...seen, amountUnits: 1n }])).size, 0);
    assert.equal((await second.confirm([{ ...seen, blockHash: '1' }])).size, 0);
  });

  it('that does not have a payment yet keeps it uncredited, until it has', async () => {
    const other = await StubSolana.start();
    try {
      const second = new SolanaSecondNode({ node: other.node, allowTest: false });
      sol.world.chains.set('SOL', new CrossCheckedChain(chain, second));
      const topup = await sol.world.createInvoice(50, 'SOL');
      sol.stub.pay(topup.deposit_address, topup.deposit_units);
      sol.stub.finalize();
      await sol.world.runUntilIdle();
      assert.equal((await sol.world.reloadTopup(topup)).credited_cents, 0n);
      const agreeing = new SolanaSecondNode({ node: sol.stub.node, allowTest: false });
      sol.world.chains.set('SOL', new CrossCheckedChain(chain, agreeing));
      sol.stub.finalize();
      await sol.world.runUntilIdle();
      assert.equal((await sol.world.reloadTopup(topup)).credited_cents, 5_000n);
    } finally {
      await other.close();
    }
  });
});
