/** Two real Litecoin nodes of the service that agree, lag, and disagree. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CrossCheckedChain } from '../../../../src/drivers/chain/cross-checked.ts';
import { utxoSecondNode } from '../../../../src/drivers/chain/utxo/second-node.ts';
import { UnsafeChainError } from '../../../../src/ports/chain.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { FULL_ONLY } from '../../../support/runs.ts';
import { TopupWorld } from '../../../support/topup-world.ts';
import { type LitecoinNode, NO_LITECOIND } from './litecoin-node.ts';
import { LitecoinWorld } from './litecoin-world.ts';

const COINS = '0.625';
const CENTS = 5_000n;

describe('second Litecoin node', { skip: FULL_ONLY.skip || NO_LITECOIND }, () => {
  let coins: LitecoinWorld;
  let second: LitecoinNode;
  let world: TopupWorld;

  before(async () => {
    coins = await LitecoinWorld.start();
    second = await coins.addNode();
    await second.connect(coins.payer);
    const witness = utxoSecondNode({ coin: 'LTC', node: second.endpoint(), allowTest: true });
    world = await TopupWorld.start({
      chains: () => new Map([['LTC', new CrossCheckedChain(coins.driver(), witness)]]),
    });
  });
  after(async () => {
    await world?.close();
    await coins?.close();
  });

  async function paidTopup(): Promise<TopupRow> {
    const topup = await world.createInvoice(50, 'LTC');
    await coins.pay(topup.deposit_address, COINS);
    return topup;
  }

  async function deposit(topup: TopupRow) {
    const [first] = await world.deposits(topup);
    return { agreed: first?.agreed, confirmations: first?.confirmations, state: first?.state };
  }

  it('a payment that the second node has is credited', async () => {
    const topup = await paidTopup();
    await coins.mine(2);
    await second.connect(coins.payer);
    await world.runUntilIdle();
    assert.equal(await world.balance(topup), CENTS);
  });

  it('a second node that lags delays the credit until it has the payment deep enough', async () => {
    const topup = await paidTopup();
    await second.disconnect();
    await coins.mine(2);
    await world.runUntilIdle();
    assert.deepEqual(await deposit(topup), { agreed: false, confirmations: 2, state: 'included' });
    assert.equal(await world.balance(topup), 0n);
    await second.connect(coins.payer);
    await coins.mine();
    await world.runUntilIdle();
    assert.equal(await world.balance(topup), CENTS);
  });

  it('a second node on another branch agrees to nothing and reverses no credit', async () => {
    const credited = await paidTopup();
    await coins.mine(2);
    await second.connect(coins.payer);
    await world.runUntilIdle();
    assert.equal(await world.balance(credited), CENTS);
    await second.disconnect();
    const branch = await second.call('getblockhash', [(await second.height()) - 1]);
    await second.call('invalidateblock', [branch]);
    await second.call('generatetoaddress', [1, await coins.addressOfPayer()]);
    const topup = await paidTopup();
    await coins.mine(3);
    await world.runUntilIdle();
    assert.equal((await deposit(topup)).agreed, false);
    assert.equal((await deposit(credited)).agreed, false);
    assert.equal(await world.balance(topup), 0n);
    assert.equal(await world.balance(credited), CENTS);
    await second.call('reconsiderblock', [branch]);
    await second.connect(coins.payer);
    await coins.mine();
    await world.runUntilIdle();
    assert.equal(await world.balance(topup), CENTS);
    assert.equal((await deposit(credited)).agreed, true);
  });

  it('a second node that is down delays credits and nothing else', async () => {
    const topup = await paidTopup();
    await second.stop();
    await coins.mine(2);
    await world.runUntilIdle();
    assert.equal((await deposit(topup)).agreed, false);
    await second.start();
    await second.connect(coins.payer);
    await coins.mine();
    await world.runUntilIdle();
    assert.equal(await world.balance(topup), CENTS);
  });

  it('a second node with a wallet that can spend is rejected', async () => {
    const witness = utxoSecondNode({ coin: 'LTC', node: second.endpoint(), allowTest: true });
    await witness.checkSafety();
    await second.call('createwallet', ['spends']);
    await assert.rejects(witness.checkSafety(), UnsafeChainError);
    const strict = utxoSecondNode({ coin: 'LTC', node: second.endpoint(), allowTest: false });
    await assert.rejects(strict.checkSafety(), UnsafeChainError);
    assert.equal((await witness.health()).ok, true);
  });
});
