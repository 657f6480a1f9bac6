/** Payments and non-payments on Tron, from the invoice to the ledger, with a stub node. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { startTron, type TronWorld } from './tron-world.ts';

let tron: TronWorld;
before(async () => {
  tron = await startTron();
});
after(async () => {
  await tron.close();
});

/** Returns the invoice's credit in cents after this many blocks; null if no payment was seen. */
async function creditedAfter(topup: TopupRow, blocks: number): Promise<bigint | null> {
  tron.stub.mine(blocks);
  await tron.world.runUntilIdle();
  const seen = (await tron.world.deposits(topup)).length > 0;
  return seen ? (await tron.world.reloadTopup(topup)).credited_cents : null;
}

describe('TRX payments', () => {
  it('a plain TRX transfer is credited after 19 blocks', async () => {
    const topup = await tron.world.createInvoice(50, 'TRX');
    tron.stub.transfer(topup.deposit_address, topup.deposit_units);
    assert.equal(await creditedAfter(topup, 18), 0n);
    assert.equal((await tron.world.reloadTopup(topup)).status, 'confirming');
    assert.equal(await creditedAfter(topup, 1), 5_000n);
    const [deposit] = await tron.world.deposits(topup);
    assert.equal(deposit?.state, 'included');
    await creditedAfter(topup, 30);
    assert.equal((await tron.world.deposits(topup))[0]?.state, 'final');
  });

  it('each TRX payment by a contract in one transaction is credited', async () => {
    const topup = await tron.world.createInvoice(60, 'TRX');
    const half = topup.deposit_units / 2n;
    const to = topup.deposit_address;
    tron.stub.call([
      { to, amount: half },
      { to, amount: half, note: 'suicide' },
    ]);
    assert.equal(await creditedAfter(topup, 19), 6_000n);
    assert.equal((await tron.world.deposits(topup)).length, 2);
  });

  it('a large TRX payment needs more blocks', async () => {
    const topup = await tron.world.createInvoice(6_000, 'TRX');
    tron.stub.transfer(topup.deposit_address, topup.deposit_units);
    assert.equal(await creditedAfter(topup, 23), 0n);
    assert.equal(await creditedAfter(topup, 1), 600_000n);
  });

  it('failed, rejected, delegated, or zero transfers and other tokens are not TRX payments', async () => {
    const topup = await tron.world.createInvoice(70, 'TRX');
    const { deposit_address: to, deposit_units: amount } = topup;
    const { stub } = tron;
    stub.transfer(to, amount, 'OUT_OF_ENERGY');
    stub.transfer(to, 0n);
    stub.call([{ to, amount, rejected: true }]);
    stub.call([{ to, amount }], 'REVERT');
    stub.call([{ to, amount, note: 'delegateResourceOfEnergy' }]);
    stub.call([{ to, amount, tokenId: '1002000' }]);
    stub.call([{ to }]);
    stub.token([{ to, amount }]);
    assert.equal(await creditedAfter(topup, 20), null);
  });
});

describe('USDT payments on Tron', () => {
  it('a USDT payment on Tron is credited from the logs of the contract', async () => {
    const topup = await tron.world.createInvoice(80, 'USDTTRC');
    tron.stub.token([{ to: topup.deposit_address, amount: topup.deposit_units }]);
    assert.equal(await creditedAfter(topup, 19), 8_000n);
    const [deposit] = await tron.world.deposits(topup);
    assert.equal(deposit?.amount_units, 80_000_000n);
    assert.equal(deposit?.key, `${deposit?.txid}:${topup.deposit_address}:80000000:0`);
  });

  it('identical USDT payments in one transaction are all credited', async () => {
    const topup = await tron.world.createInvoice(90, 'USDTTRC');
    const log = { to: topup.deposit_address, amount: 45_000_000n };
    tron.stub.token([log, { ...log, amount: 1n }, log]);
    assert.equal(await creditedAfter(topup, 19), 9_000n);
    assert.equal((await tron.world.deposits(topup)).length, 3);
  });

  it('other tokens, reverted or zero transfers, and TRX are not USDT payments', async () => {
    const topup = await tron.world.createInvoice(30, 'USDTTRC');
    const { deposit_address: to, deposit_units: amount } = topup;
    tron.stub.token([{ to, amount, contract: 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH' }]);
    tron.stub.token([{ to, amount }], 'REVERT');
    tron.stub.token([{ to, amount: 0n }]);
    tron.stub.transfer(to, amount);
    assert.equal(await creditedAfter(topup, 20), null);
  });
});
