/**
 * Payments out of Litecoin's extension blocks, which arrive in a transaction of the miner that differs in
 * each block.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { findOwnAddresses } from '../../../../src/store/topups/addresses.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { FULL_ONLY } from '../../../support/runs.ts';
import { TopupWorld } from '../../../support/topup-world.ts';
import { NO_LITECOIND } from './litecoin-node.ts';
import { LitecoinWorld, PAYER_WALLET, READ_MODES } from './litecoin-world.ts';

/** The last block without an extension block; the next one must move coins into it. */
const LAST_WITHOUT = 431;
const HIDDEN = 'hidden';

for (const { how, listMaxBytes } of READ_MODES) {
  const title = `payments from Litecoin’s extension blocks, read ${how}`;
  describe(title, { skip: FULL_ONLY.skip || NO_LITECOIND }, () => payments(how, listMaxBytes));
}

function payments(how: string, listMaxBytes: number): void {
  let coins: LitecoinWorld;
  let world: TopupWorld;

  before(async () => {
    coins = await LitecoinWorld.start({ extensionBlocks: true });
    await coins.payer.call('createwallet', [HIDDEN]);
    await coins.mine(LAST_WITHOUT - (await coins.payer.height()));
    const hidden = await coins.payer.call('getnewaddress', ['', 'mweb'], HIDDEN);
    for (let i = 0; i < 3; i++) await coins.payer.call('sendtoaddress', [hidden, '5'], PAYER_WALLET);
    await coins.mine(2);
    world = await TopupWorld.start({
      chains: ({ db }) =>
        new Map([
          ['LTC', coins.driver({ own: (addresses) => findOwnAddresses(db, 'LTC', addresses), listMaxBytes })],
        ]),
    });
  });
  after(async () => {
    await world?.close();
    await coins?.close();
  });

  async function pay(topup: TopupRow): Promise<string> {
    const txid = String(await coins.payer.call('sendtoaddress', [topup.deposit_address, '0.625'], HIDDEN));
    await coins.relay(txid);
    return txid;
  }

  async function credits(topup: TopupRow): Promise<bigint[]> {
    return (await world.ledgerEntries(topup)).map(({ cents }) => cents);
  }

  it(`an MWEB payment read ${how} is credited once, although the wallet lists it twice`, async () => {
    const topup = await world.createInvoice(50, 'LTC');
    const txid = await pay(topup);
    await world.runUntilIdle();
    assert.deepEqual(await world.deposits(topup), []);
    await coins.mine();
    await world.runUntilIdle();
    const [deposit] = await world.deposits(topup);
    assert.notEqual(deposit?.txid, txid);
    assert.deepEqual([deposit?.amount_units, deposit?.confirmations], [62_500_000n, 1]);
    await coins.mine(10);
    await world.db.run(`update coins set cursor = null where code = 'LTC'`);
    await world.runUntilIdle();
    assert.deepEqual(await credits(topup), [5_000n]);
    assert.equal((await world.deposits(topup)).length, 1);
  });

  it(`an MWEB payment read ${how} is reversed with its block and credited again in another`, async () => {
    const topup = await world.createInvoice(50, 'LTC');
    await coins.watcher.disconnect();
    await coins.mine(3);
    await pay(topup);
    await coins.mineAtWatcher(2);
    await world.runUntilIdle();
    assert.deepEqual(await credits(topup), [5_000n]);
    await coins.watcher.connect(coins.payer);
    await world.runUntilIdle();
    assert.deepEqual(await credits(topup), [5_000n, -5_000n]);
    await coins.mine(2);
    await world.runUntilIdle();
    assert.deepEqual(await credits(topup), [5_000n, -5_000n, 5_000n]);
    assert.equal((await world.deposits(topup)).length, 2);
  });
}
