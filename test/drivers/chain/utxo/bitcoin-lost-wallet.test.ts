/** Bitcoin with a real database: payments that the wallet no longer knows. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { AccountKey } from '../../../../src/drivers/chain/account-key.ts';
import { UtxoChain, type UtxoOptions } from '../../../../src/drivers/chain/utxo/driver.ts';
import { formatUnits } from '../../../../src/kernel/money.ts';
import { findOwnAddresses, findPaidAddresses } from '../../../../src/store/topups/addresses.ts';
import { TopupWorld } from '../../../support/topup-world.ts';
import { BitcoinStub, ZPUB } from './bitcoin-stub.ts';

let node: BitcoinStub;
let world: TopupWorld;
before(async () => {
  node = await BitcoinStub.start();
  world = await TopupWorld.start({
    chains: ({ db }) => {
      const options: UtxoOptions = {
        ...{ coin: 'BTC', node: node.node, account: AccountKey.parse(ZPUB), allowTest: false },
        own: (addresses) => findOwnAddresses(db, 'BTC', addresses),
        paid: (addresses) => findPaidAddresses(db, 'BTC', addresses),
      };
      return new Map([['BTC', new UtxoChain(options)]]);
    },
  });
});
after(async () => {
  await world?.close();
  await node?.close();
});

async function mine(): Promise<void> {
  node.height += 1;
  world.clock.advanceMinutes(10);
  await world.runUntilIdle();
}

it('a credit stays if a new wallet does not know the payment and its output was spent', async () => {
  const topup = await world.createInvoice(100);
  node.pay({ address: topup.deposit_address, amount: formatUnits(topup.deposit_units, 8) });
  for (let i = 0; i < 3; i++) await mine();
  assert.equal(await world.balance(topup), 13_000n);
  for (const payment of node.payments) payment.forgotten = true;
  node.answers.set('gettxout', () => null);
  for (let i = 0; i < 3; i++) await mine();
  assert.equal(await world.balance(topup), 13_000n);
  assert.equal((await world.deposits(topup))[0]?.state, 'included');
  assert.ok(node.countOf('gettxout') > 0);
});

it('the gap limit is computed without the wallet', async () => {
  await world.createInvoice(100);
  await world.createInvoice(100);
  const notes = await world.chains.get('BTC')?.examine(3);
  assert.match(notes?.at(-1)?.message ?? '', /of 3 assigned addresses, at most 2 in a row are unpaid/);
});
