/** A wallet of Bitcoin that was lost and made anew, after the money was swept. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { AccountKey } from '../../../src/drivers/chain/account-key.ts';
import { UtxoChain } from '../../../src/drivers/chain/utxo/driver.ts';
import { formatUnits } from '../../../src/kernel/money.ts';
import { findOwnAddresses } from '../../../src/store/own-addresses.ts';
import { TopupWorld } from '../../support/topup-world.ts';
import { BitcoinStub, ZPUB } from './bitcoin-stub.ts';

let node: BitcoinStub;
let world: TopupWorld;
before(async () => {
  node = await BitcoinStub.start();
  world = await TopupWorld.start({
    chains: ({ db }) => {
      const own = (addresses: readonly string[]) => findOwnAddresses(db, 'BTC', addresses);
      const account = AccountKey.parse(ZPUB);
      return new Map([
        ['BTC', new UtxoChain({ coin: 'BTC', node: node.node, account, own, allowTest: false })],
      ]);
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
  await world.settle();
}

it('of what is spent nobody can say where it is, so no credit is taken back', async () => {
  const topup = await world.invoice(100);
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
