/** Payments on a real Litecoin network, from the customer's wallet to the ledger. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Sql } from '../../../../src/kernel/sql.ts';
import type { ChainDriver } from '../../../../src/ports/chain.ts';
import type { CoinCode } from '../../../../src/spec/coins.ts';
import { findOwnAddresses } from '../../../../src/store/topups/addresses.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { FULL_ONLY } from '../../../support/runs.ts';
import { TopupWorld } from '../../../support/topup-world.ts';
import { NO_LITECOIND } from './litecoin-node.ts';
import { LitecoinWorld, READ_MODES } from './litecoin-world.ts';

/** For $50 at $80 per coin; such payments need two confirmations. */
const COINS = '0.625';
const UNITS = 62_500_000n;

for (const { how, listMaxBytes } of READ_MODES) {
  describe(`Litecoin top-ups, read ${how}`, { skip: FULL_ONLY.skip || NO_LITECOIND }, () =>
    topups(how, listMaxBytes),
  );
}

function topups(how: string, listMaxBytes: number): void {
  let coins: LitecoinWorld;
  let world: TopupWorld;

  before(async () => {
    coins = await LitecoinWorld.start();
    world = await TopupWorld.start({ chains });
  });
  after(async () => {
    await world?.close();
    await coins?.close();
  });
  // Each step uses a new driver without memory of the previous step.
  beforeEach(restartDriver);

  function chains({ db }: { readonly db: Sql }): ReadonlyMap<CoinCode, ChainDriver> {
    return new Map([
      ['LTC', coins.driver({ own: (addresses) => findOwnAddresses(db, 'LTC', addresses), listMaxBytes })],
    ]);
  }

  function restartDriver(): void {
    for (const [coin, chain] of chains(world)) world.chains.set(coin, chain);
  }

  async function read(): Promise<void> {
    await world.runUntilIdle();
    restartDriver();
    await world.runUntilIdle();
  }

  async function credits(topup: TopupRow): Promise<bigint[]> {
    return (await world.ledgerEntries(topup)).map(({ cents }) => cents);
  }

  async function states(topup: TopupRow): Promise<string[]> {
    return (await world.deposits(topup)).map(({ state }) => state).sort();
  }

  it(`a payment read ${how} appears in the mempool, in a block, and is then credited`, async () => {
    const topup = await world.createInvoice(50, 'LTC');
    assert.match(topup.deposit_address, /^rltc1q/);
    assert.equal(topup.deposit_uri, `litecoin:${topup.deposit_address}?amount=${COINS}`);
    const txid = await coins.pay(topup.deposit_address, COINS);
    await read();
    const [waiting] = await world.deposits(topup);
    assert.equal(waiting?.txid, txid);
    assert.equal(waiting?.amount_units, UNITS);
    assert.equal(waiting?.state, 'mempool');
    assert.equal((await world.reloadTopup(topup)).status, 'confirming');
    await coins.mine();
    await read();
    const [included] = await world.deposits(topup);
    assert.deepEqual([included?.state, included?.confirmations], ['included', 1]);
    assert.equal(included?.block_hash, await coins.payer.tip());
    assert.equal(await world.balance(topup), 0n);
    await coins.mine();
    await read();
    assert.deepEqual(await credits(topup), [5_000n]);
    assert.equal((await world.reloadTopup(topup)).status, 'credited');
  });

  it(`partial payments read ${how} are added up, and dust is worth nothing`, async () => {
    const topup = await world.createInvoice(50, 'LTC');
    await coins.pay(topup.deposit_address, '0.25');
    await coins.pay(topup.deposit_address, '0.375');
    await coins.pay(topup.deposit_address, '0.00005');
    await coins.mine(2);
    await read();
    assert.equal(await world.balance(topup), 5_000n);
    assert.deepEqual(await states(topup), ['included', 'included', 'included']);
  });

  it(`each output of a transaction read ${how} is credited once, even if read again`, async () => {
    const [first, second] = [await world.createInvoice(50, 'LTC'), await world.createInvoice(50, 'LTC')];
    const amounts = { [first.deposit_address]: COINS, [second.deposit_address]: '0.5' };
    const txid = String(await coins.payer.call('sendmany', ['', amounts], 'pay'));
    await coins.relay(txid);
    await coins.mine(2);
    await read();
    // As if nothing had been read yet.
    await world.db.run(`update coins set cursor = null where code = 'LTC'`);
    await read();
    assert.deepEqual(await credits(first), [5_000n]);
    assert.deepEqual(await credits(second), [4_000n]);
  });

  it(`a payment read ${how} that was replaced is credited by its replacement`, async () => {
    const topup = await world.createInvoice(50, 'LTC');
    const first = await coins.pay(topup.deposit_address, COINS);
    await read();
    const { txid } = (await coins.payer.call('bumpfee', [first], 'pay')) as { txid: string };
    await coins.relay(txid);
    await read();
    assert.deepEqual(await states(topup), ['conflicted', 'mempool']);
    await coins.mine(2);
    await read();
    assert.deepEqual(await states(topup), ['conflicted', 'included']);
    assert.deepEqual(await credits(topup), [5_000n]);
  });

  it(`a payment read ${how} that was replaced by one to another address is not credited`, async () => {
    const topup = await world.createInvoice(50, 'LTC');
    const txid = await coins.pay(topup.deposit_address, COINS);
    await read();
    const rival = await coins.rival(txid);
    await coins.payer.call('sendrawtransaction', [rival, 0]);
    await coins.watcher.call('sendrawtransaction', [rival, 0]).catch(() => undefined);
    await read();
    assert.deepEqual(await states(topup), ['conflicted']);
    assert.equal((await world.reloadTopup(topup)).status, 'pending');
    await coins.mine(2);
    await read();
    assert.deepEqual(await states(topup), ['conflicted']);
    assert.deepEqual(await credits(topup), []);
  });

  it(`a payment read ${how} that is reorganized before its credit is credited once`, async () => {
    const topup = await world.createInvoice(50, 'LTC');
    await coins.pay(topup.deposit_address, COINS);
    await coins.watcher.disconnect();
    await coins.mineAtWatcher(1);
    await read();
    assert.deepEqual(await states(topup), ['included']);
    await coins.mineEmpty(2);
    await coins.watcher.connect(coins.payer);
    await read();
    assert.deepEqual(await states(topup), ['mempool']);
    assert.deepEqual(await credits(topup), []);
    await coins.mine(2);
    await read();
    assert.deepEqual(await credits(topup), [5_000n]);
  });

  it(`a credit read ${how} is reversed by a reorganization and restored in the new block`, async () => {
    const topup = await world.createInvoice(50, 'LTC');
    await coins.pay(topup.deposit_address, COINS);
    await coins.watcher.disconnect();
    await coins.mineAtWatcher(2);
    await read();
    assert.deepEqual(await credits(topup), [5_000n]);
    await coins.mineEmpty(3);
    await coins.watcher.connect(coins.payer);
    await read();
    assert.deepEqual(await credits(topup), [5_000n, -5_000n]);
    assert.equal((await world.reloadTopup(topup)).status, 'confirming');
    await coins.mine(2);
    await read();
    assert.deepEqual(await credits(topup), [5_000n, -5_000n, 5_000n]);
    assert.equal(await world.balance(topup), 5_000n);
  });

  it(`a credit read ${how} is reversed permanently if a longer branch double-spent it`, async () => {
    const topup = await world.createInvoice(50, 'LTC');
    const txid = await coins.pay(topup.deposit_address, COINS);
    const rival = await coins.rival(txid);
    await coins.watcher.disconnect();
    await coins.mineAtWatcher(2);
    await read();
    assert.deepEqual(await credits(topup), [5_000n]);
    await coins.payer.call('generateblock', [await coins.addressOfPayer(), [rival]]);
    await coins.mineEmpty(2);
    await coins.watcher.connect(coins.payer);
    await read();
    assert.deepEqual(await states(topup), ['conflicted']);
    assert.deepEqual(await credits(topup), [5_000n, -5_000n]);
    assert.equal((await world.reloadTopup(topup)).status, 'pending');
  });
}
