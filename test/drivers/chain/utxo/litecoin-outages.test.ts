/** Outages of the service's own Litecoin node reverse no credit. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { NodeBehind } from '../../../../src/drivers/chain/cursor.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { FULL_ONLY } from '../../../support/runs.ts';
import { scratchFolder } from '../../../support/scratch-folder.ts';
import { TopupWorld } from '../../../support/topup-world.ts';
import { NO_LITECOIND } from './litecoin-node.ts';
import { LitecoinWorld, WATCH_WALLET } from './litecoin-world.ts';

const COINS = '0.625';
const CENTS = 5_000n;

describe('outages of the Litecoin node', { skip: FULL_ONLY.skip || NO_LITECOIND }, () => {
  let coins: LitecoinWorld;
  let world: TopupWorld;

  before(async () => {
    coins = await LitecoinWorld.start();
    world = await TopupWorld.start({ chains: () => new Map([['LTC', coins.driver()]]) });
  });
  after(async () => {
    await world?.close();
    await coins?.close();
  });

  async function creditedTopup(): Promise<TopupRow> {
    const topup = await world.createInvoice(50, 'LTC');
    await coins.pay(topup.deposit_address, COINS);
    await coins.mine(2);
    await world.runUntilIdle();
    assert.equal(await world.balance(topup), CENTS);
    return topup;
  }

  /** Polls once, even during a backoff. */
  async function readOnce(): Promise<void> {
    await world.db.run('update coins set retry_at = null');
    await world.watchJob.run();
  }

  async function failures(): Promise<number> {
    const row = await world.db.row<{ failures: number }>(`select failures from coins where code = 'LTC'`);
    return row?.failures ?? 0;
  }

  async function poll() {
    const row = await world.db.row<{ cursor: string }>(`select cursor from coins where code = 'LTC'`);
    return coins.driver().poll({ cursor: row?.cursor ?? null });
  }

  it('a node that lost its newest blocks is waited for and nothing is reversed', async () => {
    const topup = await creditedTopup();
    const tip = await coins.watcher.tip();
    const height = await coins.watcher.height();
    const block = await coins.watcher.call('getblockhash', [height - 1]);
    await coins.watcher.call('invalidateblock', [block]);
    assert.equal(await coins.watcher.height(), height - 2);
    await assert.rejects(poll(), NodeBehind);
    await readOnce();
    assert.equal(await world.balance(topup), CENTS);
    assert.equal(await failures(), 1);
    await coins.watcher.call('reconsiderblock', [block]);
    assert.equal(await coins.watcher.tip(), tip);
    await world.runUntilIdle();
    assert.deepEqual((await world.ledgerEntries(topup)).length, 1);
  });

  it('a node that was down continues where it stopped', async () => {
    const topup = await world.createInvoice(50, 'LTC');
    await coins.watcher.stop();
    await readOnce();
    assert.ok((await failures()) > 0);
    await assert.rejects(world.createInvoice(50, 'LTC'), /unavailable/);
    const txid = String(await coins.payer.call('sendtoaddress', [topup.deposit_address, COINS], 'pay'));
    await coins.mine(2);
    await coins.watcher.start();
    await coins.watcher.connect(coins.payer);
    await world.runUntilIdle();
    assert.equal(await world.balance(topup), CENTS);
    assert.equal((await world.deposits(topup))[0]?.txid, txid);
  });

  it('a killed node may forget blocks, but nothing is reversed', async () => {
    const topup = await creditedTopup();
    const open = await world.createInvoice(50, 'LTC');
    await coins.watcher.kill();
    await coins.watcher.start();
    await readOnce();
    assert.equal(await world.balance(topup), CENTS);
    await coins.payer.call('sendtoaddress', [open.deposit_address, COINS], 'pay');
    await coins.mine(2);
    await coins.watcher.connect(coins.payer);
    await world.runUntilIdle();
    assert.equal((await world.ledgerEntries(topup)).length, 1);
    assert.equal(await world.balance(open), CENTS);
    // A new driver restores the addresses that the wallet forgot.
    const driver = coins.driver({ allocatedCount: 20 });
    assert.equal((await driver.examine(20))[0]?.level, 'ok');
  });

  it('a node restored from a backup is waited for and finds the payments since then', async (t) => {
    const copy = scratchFolder();
    t.after(() => rm(copy, { recursive: true, force: true }));
    await coins.watcher.stop();
    await coins.watcher.copyData(copy);
    await coins.watcher.start();
    await coins.watcher.connect(coins.payer);
    const topup = await creditedTopup();
    const open = await world.createInvoice(50, 'LTC');
    await coins.watcher.stop();
    await coins.watcher.restoreData(copy);
    await coins.watcher.start();
    await assert.rejects(poll(), NodeBehind);
    await readOnce();
    assert.equal(await world.balance(topup), CENTS);
    await coins.payer.call('sendtoaddress', [open.deposit_address, COINS], 'pay');
    await coins.mine(2);
    await coins.watcher.connect(coins.payer);
    await world.runUntilIdle();
    assert.equal(await world.balance(topup), CENTS);
    assert.equal((await world.ledgerEntries(topup)).length, 1);
    assert.equal(await world.balance(open), CENTS);
  });

  it('a new wallet reverses nothing and soon watches all addresses again', async () => {
    const topup = await creditedTopup();
    const open = await world.createInvoice(50, 'LTC');
    const fresh = 'fresh';
    await coins.makeWatchWallet(fresh);
    await coins.watcher.call('unloadwallet', [WATCH_WALLET]);
    world.chains.set('LTC', coins.driver({ wallet: fresh }));
    await coins.mine();
    await world.runUntilIdle();
    assert.equal(await world.balance(topup), CENTS);
    assert.equal((await world.ledgerEntries(topup)).length, 1);
    // No wallet watches its address now.
    await coins.pay(open.deposit_address, COINS);
    await coins.mine(2);
    await world.runUntilIdle();
    assert.equal(await world.balance(open), 0n);
    assert.equal((await coins.driver({ wallet: fresh }).examine(1))[0]?.level, 'warn');
    // The safety check runs every ten minutes and restores the missing addresses.
    const driver = coins.driver({ wallet: fresh, allocatedCount: 8 });
    world.chains.set('LTC', driver);
    await world.runUntilIdle();
    assert.equal(await world.balance(open), CENTS);
    assert.equal((await driver.examine(8))[0]?.level, 'ok');
  });
});
