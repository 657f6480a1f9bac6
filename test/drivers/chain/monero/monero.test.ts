/** The driver, its nodes, and the settlement engine together, on real nodes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CrossCheckedChain } from '../../../../src/drivers/chain/cross-checked.ts';
import { NodeBehind } from '../../../../src/drivers/chain/cursor.ts';
import { MoneroChain } from '../../../../src/drivers/chain/monero/driver.ts';
import { moneroSecondNode } from '../../../../src/drivers/chain/monero/second-node.ts';
import { type ChainDriver, type Observation, UnsafeChainError } from '../../../../src/ports/chain.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { FULL_ONLY } from '../../../support/runs.ts';
import { TopupWorld } from '../../../support/topup-world.ts';
import { type MoneroWorld, startMonero, VIEW_ONLY } from './monero-world.ts';
import { NO_MONERO } from './nodes.ts';

const WITHIN = { timeoutMs: 60_000 };
/** The value of one fortieth of the miner's blocks. */
const USD = 30;
const CENTS = 3000n;

describe('Monero on real nodes', { skip: NO_MONERO || FULL_ONLY.skip }, () => {
  let monero: MoneroWorld;
  let world: TopupWorld;

  before(async () => {
    monero = await startMonero();
    world = await TopupWorld.start({ chains: () => new Map([['XMR', monero.driver()]]) });
  });
  after(async () => {
    await world?.close();
    await monero?.close();
  });

  const settle = () => world.runUntilIdle(WITHIN);
  const invoice = () => world.createInvoice(USD, 'XMR');
  const pay = (topup: TopupRow, amountUnits = topup.deposit_units) =>
    monero.miner.pay([{ address: topup.deposit_address, amountUnits }]);
  const mined = async (count: number) => {
    await monero.mine(count);
    await settle();
  };
  const included = async (txid: string) => {
    await monero.include(txid);
    await settle();
  };
  const describeTopup = async (topup: TopupRow) => {
    const { status, confirmations } = await world.reloadTopup(topup);
    return { status, confirmations, balance: await world.balance(topup) };
  };
  /** Replaces the blocks above `height` with a longer branch of the other node, without payments. */
  const replaceBlocks = async (height: number) => {
    const lost = (await monero.daemon.height()) - height;
    await monero.second.mine(lost + 1, monero.minerAddress);
    await monero.second.relayBlocksTo(monero.daemon);
  };
  const creditedTopup = async () => {
    const topup = await invoice();
    const txid = await pay(topup);
    await included(txid);
    await mined(9);
    assert.equal((await world.reloadTopup(topup)).status, 'credited');
    return { topup, txid };
  };

  it('a Monero payment is seen in the pool and credited at ten confirmations', async () => {
    const topup = await invoice();
    assert.match(topup.deposit_uri, /^monero:8\w{94}\?tx_amount=0\.1875$/);
    const txid = await pay(topup);
    await settle();
    assert.deepEqual(await describeTopup(topup), { status: 'confirming', confirmations: 0, balance: 0n });
    await included(txid);
    assert.deepEqual(await describeTopup(topup), { status: 'confirming', confirmations: 1, balance: 0n });
    await mined(8);
    assert.deepEqual(await describeTopup(topup), { status: 'confirming', confirmations: 9, balance: 0n });
    await mined(1);
    assert.deepEqual(await describeTopup(topup), { status: 'credited', confirmations: 10, balance: CENTS });
    const [deposit] = await world.deposits(topup);
    assert.equal(deposit?.amount_units, topup.deposit_units);
    assert.ok(deposit?.included_at && Math.abs(deposit.included_at.getTime() - Date.now()) < 10 * 60_000);
  });

  it('partial payments, and a transaction that pays two invoices, are credited to each invoice', async () => {
    const [split, other] = [await invoice(), await invoice()];
    const part = split.deposit_units / 3n;
    await pay(split, part);
    const both = await monero.miner.pay([
      { address: split.deposit_address, amountUnits: split.deposit_units - part },
      { address: other.deposit_address, amountUnits: other.deposit_units },
    ]);
    await included(both);
    await mined(9);
    for (const topup of [split, other]) assert.equal(await world.balance(topup), CENTS);
    const [toOther] = await world.deposits(other);
    assert.equal((await world.deposits(split)).length, 2);
    assert.equal(toOther?.txid, both);
  });

  it('a reorganization before the credit restarts the confirmations of a payment', async () => {
    await monero.daemon.relayBlocksTo(monero.second);
    const height = await monero.daemon.height();
    const topup = await invoice();
    const txid = await pay(topup);
    await included(txid);
    await mined(3);
    assert.equal((await describeTopup(topup)).confirmations, 4);
    await replaceBlocks(height);
    await settle();
    assert.deepEqual(await describeTopup(topup), { status: 'confirming', confirmations: 0, balance: 0n });
    assert.deepEqual(
      (await world.deposits(topup)).map(({ state }) => state),
      ['mempool'],
    );
    await included(txid);
    await mined(8);
    assert.deepEqual(await describeTopup(topup), { status: 'confirming', confirmations: 9, balance: 0n });
    await mined(1);
    assert.deepEqual(await describeTopup(topup), { status: 'credited', confirmations: 10, balance: CENTS });
  });

  it('a credit is reversed when its block is lost, and restored once when the payment returns', async () => {
    await monero.daemon.relayBlocksTo(monero.second);
    const height = await monero.daemon.height();
    const { topup, txid } = await creditedTopup();
    const transaction = await monero.daemon.transaction(txid);
    await replaceBlocks(height);
    await monero.daemon.call('flush_txpool', { txids: [txid] });
    await settle();
    assert.deepEqual(await describeTopup(topup), { status: 'confirming', confirmations: 0, balance: 0n });
    assert.deepEqual(
      (await world.deposits(topup)).map(({ state }) => state),
      ['removed'],
    );
    await monero.daemon.send(transaction);
    await included(txid);
    await mined(9);
    assert.deepEqual(await describeTopup(topup), { status: 'credited', confirmations: 10, balance: CENTS });
    const cents = (await world.ledgerEntries(topup)).map((entry) => entry.cents);
    assert.deepEqual(cents, [CENTS, -CENTS, CENTS]);
  });

  it('a node below its wallet or below its previous height is waited for', async () => {
    const { topup } = await creditedTopup();
    const driver = monero.driver();
    const { cursor } = await driver.poll({ cursor: null });
    await monero.daemon.request('/pop_blocks', { nblocks: 4 });
    for (const from of [cursor, null]) {
      await assert.rejects(monero.driver().poll({ cursor: from }), NodeBehind);
    }
    const [deposit] = await world.deposits(topup);
    await assert.rejects(driver.recheck([deposit?.key ?? '']), NodeBehind);
    assert.equal((await driver.health()).ok, false);
    await world.watchJob.run();
    assert.deepEqual(await describeTopup(topup), { status: 'credited', confirmations: 10, balance: CENTS });
    await mined(5);
    assert.deepEqual(
      (await world.ledgerEntries(topup)).map((entry) => entry.cents),
      [CENTS],
    );
    assert.equal((await driver.health()).ok, true);
  });

  it('a killed wallet finds the payments since then, and its addresses are created again', async () => {
    const topup = await invoice();
    const driver = monero.driver();
    // Every 50th address is saved; these two are not.
    await driver.allocate({ id: 'unsaved', index: 98, amountUnits: 1n });
    const lost = await driver.allocate({ id: 'lost', index: 100, amountUnits: 1n });
    await monero.wallet.stop();
    await monero.include(await pay(topup));
    await world.watchJob.run();
    assert.equal((await describeTopup(topup)).status, 'pending');
    await monero.wallet.startWith(VIEW_ONLY);
    await mined(9);
    assert.deepEqual(await describeTopup(topup), { status: 'credited', confirmations: 10, balance: CENTS });
    assert.equal((await driver.examine(101))[0]?.level, 'fail');
    const again = await monero.driver().allocate({ id: 'lost', index: 100, amountUnits: 1n });
    assert.deepEqual(again, lost);
    assert.equal((await driver.examine(101))[0]?.level, 'ok');
  });

  it('a wallet created again finds payments to addresses far beyond its lookahead', async () => {
    const index = 260;
    await world.db.run(`update coins set next_index = $1 where code = 'XMR'`, [index]);
    const topup = await invoice();
    const { key } = await monero.wallet.call<{ key: string }>('query_key', { key_type: 'view_key' });
    await monero.wallet.stop();
    await monero.include(await pay(topup));
    await monero.wallet.startEmpty();
    await monero.wallet.createViewOnly('recreated', monero.address, key);
    await monero.wallet.call('refresh');
    world.chains.set('XMR', monero.driver({ allocatedCount: index + 1 }));
    await settle();
    assert.equal((await describeTopup(topup)).status, 'pending');
    await monero.wallet.call('rescan_blockchain');
    world.chains.set('XMR', monero.driver({ allocatedCount: index + 1 }));
    await mined(9);
    assert.deepEqual(await describeTopup(topup), { status: 'credited', confirmations: 10, balance: CENTS });
  });

  it('a restarted service credits nothing twice, even without its cursor', async () => {
    const { topup } = await creditedTopup();
    for (const cursor of ['kept', null]) {
      if (cursor === null) await world.db.run(`update coins set cursor = null where code = 'XMR'`);
      world.chains.set('XMR', monero.driver());
      await settle();
    }
    assert.deepEqual(
      (await world.ledgerEntries(topup)).map((entry) => entry.cents),
      [CENTS],
    );
    assert.deepEqual((await world.deposits(topup)).length, 1);
  });

  it('a deep Monero payment is final', async () => {
    const { topup } = await creditedTopup();
    await mined(50);
    const [deposit] = await world.deposits(topup);
    assert.equal(deposit?.state, 'final');
  });

  it('a wallet that can spend, a different wallet, and a test network are rejected', async () => {
    const { miner, minerAddress, wallet, daemon, address } = monero;
    const refused = (driver: ChainDriver, why: RegExp) =>
      assert.rejects(
        driver.checkSafety(),
        (error) => error instanceof UnsafeChainError && why.test(error.message),
      );
    await refused(monero.driver({ wallet: miner, address: minerAddress }), /the wallet can spend/);
    await refused(monero.driver({ wallet: miner }), /use the wallet of that address/);
    const options = { wallet: wallet.node, daemon: daemon.node, address };
    await refused(new MoneroChain({ ...options, allowTest: false }), /fakechain/);
    await monero.driver().checkSafety();
  });

  it('a second node agrees to a payment in the same block, with its own confirmations', async () => {
    await monero.daemon.relayBlocksTo(monero.second);
    const witness = moneroSecondNode({ daemon: monero.second.node, allowTest: true });
    const chain = new CrossCheckedChain(monero.driver(), witness);
    await chain.checkSafety();
    const topup = await invoice();
    const txid = await pay(topup);
    await monero.include(txid);
    await monero.mine(1);
    const seen = async (): Promise<Pick<Observation, 'agreed' | 'confirmations'>> => {
      const { observations } = await chain.poll({ cursor: null });
      const found = observations.find((each) => each.txid === txid) ?? assert.fail('it was not reported');
      return { agreed: found.agreed, confirmations: found.confirmations };
    };
    assert.deepEqual(await seen(), { agreed: false, confirmations: 2 });
    await monero.daemon.relayBlocksTo(monero.second);
    await monero.mine(1);
    assert.deepEqual(await seen(), { agreed: true, confirmations: 2 });
    // The same transaction at the same height, but in another block.
    await monero.second.request('/pop_blocks', { nblocks: 2 });
    await monero.second.mine(2, monero.minerAddress);
    assert.deepEqual(await seen(), { agreed: false, confirmations: 3 });
    assert.equal((await chain.health()).ok, true);
  });
});
