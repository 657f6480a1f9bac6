/** Final payments are never queried again, so they must be deep enough for any amount by then. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { applyObservations } from '../../../../src/domain/topups/settlement/observations.ts';
import { removedObservation } from '../../../../src/drivers/chain/payment-keys.ts';
import type { Observation } from '../../../../src/ports/chain.ts';
import { COIN_CODES, confirmationsNeeded, maxConfirmations } from '../../../../src/spec/coins.ts';
import { LIMITS } from '../../../../src/spec/limits.ts';
import { ScriptedChain } from '../../../support/scripted-chain.ts';
import { TopupWorld } from '../../../support/topup-world.ts';

/** A chain whose blocks are final at once. */
class HastyChain extends ScriptedChain {
  override observe(key: string): Observation {
    const observation = super.observe(key);
    return observation.state === 'included' ? { ...observation, state: 'final' } : observation;
  }
}

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start({ chains: ({ clock }) => new Map([['BTC', new HastyChain('BTC', clock)]]) });
});
after(async () => {
  await world.close();
});

it('no amount needs more confirmations than the maximum of its coin', () => {
  for (const code of COIN_CODES) {
    assert.equal(confirmationsNeeded(code, LIMITS.topupMaxCents * 10n), maxConfirmations(code), code);
  }
});

it('a final payment with too few confirmations is tracked until it has enough', async () => {
  const topup = await world.createInvoice(6_000);
  world.btc.pay(topup.deposit_address, topup.deposit_units);
  world.btc.mine();
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).credited_cents, 0n);
  assert.equal((await world.deposits(topup))[0]?.state, 'included');
  world.btc.mine(2);
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).credited_cents, 600_000n);
  assert.equal((await world.deposits(topup))[0]?.state, 'final');
});

it('a payment in a block does not change when a single node forgets it', async () => {
  const topup = await world.createInvoice(100);
  const key = world.btc.pay(topup.deposit_address, topup.deposit_units);
  const forgotten = { ...removedObservation(key), agreed: false };
  await world.runUntilIdle();
  world.btc.mine(50);
  await world.runUntilIdle();
  const before = await world.deposits(topup);
  await applyObservations(world.service, 'BTC', [forgotten]);
  assert.deepEqual(await world.deposits(topup), before);
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
  await applyObservations(world.service, 'BTC', [removedObservation(key)]);
  assert.equal((await world.deposits(topup))[0]?.state, 'removed');
});

it('a payment in no block is removed when a node forgets it', async () => {
  const topup = await world.createInvoice(100);
  const key = world.btc.pay(topup.deposit_address, topup.deposit_units);
  await world.runUntilIdle();
  await applyObservations(world.service, 'BTC', [{ ...removedObservation(key), agreed: false }]);
  assert.equal((await world.deposits(topup))[0]?.state, 'removed');
});
