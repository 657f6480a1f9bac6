/** Payments and non-payments on Solana, from the invoice to the ledger, with a stub node. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { Failure } from '../../../../src/kernel/fail.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { type SolanaWorld, startSolana, walletAddresses } from './solana-world.ts';

let sol: SolanaWorld;

async function reload(topup: TopupRow): Promise<TopupRow> {
  await sol.world.runUntilIdle();
  return await sol.world.reloadTopup(topup);
}

describe('SOL payments', () => {
  before(async () => {
    sol = await startSolana({ addresses: 40 });
  });
  after(async () => {
    await sol.close();
  });

  it('a SOL payment is seen when it is confirmed and credited when it is final', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    assert.equal(topup.deposit_uri, `solana:${topup.deposit_address}?amount=0.333333334`);
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    const seen = await reload(topup);
    assert.deepEqual([seen.status, seen.confirmations, seen.credited_cents], ['confirming', 0, 0n]);
    sol.stub.finalize();
    const paid = await reload(topup);
    assert.deepEqual([paid.status, paid.credited_cents], ['credited', 5_000n]);
  });

  it('a large SOL payment is also credited when it is final', async () => {
    const topup = await sol.world.createInvoice(9_000, 'SOL');
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    sol.stub.finalize();
    assert.equal((await reload(topup)).credited_cents, 900_000n);
  });

  it('a SOL payment with address lookup tables is credited, and so are several payments', async () => {
    const topup = await sol.world.createInvoice(60, 'SOL');
    sol.stub.pay(topup.deposit_address, topup.deposit_units / 2n, { byTable: true });
    sol.stub.pay(topup.deposit_address, topup.deposit_units / 2n);
    sol.stub.finalize();
    assert.equal((await reload(topup)).credited_cents, 6_000n);
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    sol.stub.finalize();
    assert.equal((await reload(topup)).credited_cents, 12_000n);
  });

  it('a SOL transaction that failed, paid nothing, or took something is not credited', async () => {
    const topup = await sol.world.createInvoice(60, 'SOL');
    const { deposit_address: to, deposit_units: units } = topup;
    sol.stub.pay(to, units, { failed: true });
    sol.stub.pay(to, 0n);
    sol.stub.pay(to, units, { spends: true });
    sol.stub.finalize();
    assert.equal((await reload(topup)).status, 'pending');
    assert.deepEqual(await sol.world.deposits(topup), []);
  });

  it('a SOL payment that was confirmed and then dropped is not credited', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    assert.equal((await reload(topup)).status, 'confirming');
    sol.stub.drop();
    sol.stub.finalize();
    assert.equal((await reload(topup)).status, 'pending');
  });

  it('a SOL payment years after the invoice is found when its address is scanned in rotation', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    await reload(topup);
    sol.world.clock.advanceMinutes(2 * 365 * 24 * 60);
    for (let i = 0; i < 5; i++) await sol.world.createInvoice(40, 'SOL');
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    sol.stub.finalize();
    assert.equal((await reload(topup)).credited_cents, 5_000n);
  });

  it('a SOL credit stays while a restored node catches up', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    sol.stub.finalize();
    assert.equal((await reload(topup)).credited_cents, 5_000n);
    const undoRollback = sol.stub.rollBack(10);
    const row = await sol.world.db.row<{ cursor: string }>(`select cursor from coins where code = 'SOL'`);
    sol.restart();
    const behind = { name: 'NodeBehind' };
    const poll = sol.world.chains.get('SOL')?.poll({ cursor: row?.cursor ?? null });
    await assert.rejects(poll ?? Promise.resolve(), behind);
    undoRollback();
    const other = await sol.world.createInvoice(30, 'SOL');
    sol.stub.pay(other.deposit_address, other.deposit_units);
    sol.stub.finalize();
    assert.equal((await reload(other)).credited_cents, 3_000n);
    assert.equal((await reload(topup)).credited_cents, 5_000n);
  });

  it('a final SOL payment is read once', async () => {
    const topup = await sol.world.createInvoice(50, 'SOL');
    sol.stub.pay(topup.deposit_address, topup.deposit_units);
    sol.stub.finalize();
    await reload(topup);
    await sol.world.watchJob.run();
    const reads = () => sol.stub.requests.filter((method) => method === 'getTransaction').length;
    const before = reads();
    await sol.world.watchJob.run();
    await sol.world.watchJob.run();
    assert.equal(reads(), before);
  });
});

describe('the Solana address pool', () => {
  beforeEach(async () => {
    sol = await startSolana();
  });
  afterEach(async () => {
    await sol.close();
  });

  it('an empty pool refuses an invoice with 422 unavailable', async () => {
    for (let i = 0; i < 20; i++) await sol.world.createInvoice(30, 'SOL');
    const refused = (error: unknown) => error instanceof Failure && error.code === 'unavailable';
    await assert.rejects(sol.world.createInvoice(30, 'SOL'), refused);
  });

  it('an address that was used before is not assigned and its payments are not credited', async () => {
    const [first = '', second = '', third = ''] = walletAddresses('pool', 3);
    sol.stub.pay(first, 5_000_000_000n);
    sol.stub.finalize();
    sol.stub.accounts.add(second);
    const topup = await sol.world.createInvoice(50, 'SOL');
    assert.equal(topup.deposit_address, third);
    sol.stub.pay(first, 5_000_000_000n);
    sol.stub.finalize();
    assert.equal((await reload(topup)).credited_cents, 0n);
    assert.equal(await sol.pool.countFree(1_000), 17);
  });

  it('an invoice always has the same address from the pool, paid or not', async () => {
    const chain = sol.world.chains.get('SOL');
    const invoice = { id: '01890000-0000-7000-8000-000000000001', index: 0, amountUnits: 5n };
    const first = await chain?.allocate(invoice);
    sol.stub.pay(first?.address ?? '', 5n);
    sol.stub.finalize();
    assert.deepEqual(await chain?.allocate(invoice), first);
    sol.restart();
    assert.deepEqual(await sol.world.chains.get('SOL')?.allocate(invoice), first);
  });
});
