/** What chains call final is asked for no more: it must be deep enough for any amount by then. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { applyObservations } from '../../src/domain/topups/observations.ts';
import { removedObservation } from '../../src/drivers/chain/removed-observation.ts';
import type { Observation } from '../../src/ports/chain.ts';
import { COIN_CODES, confirmationsNeeded, maxConfirmations } from '../../src/spec/coins.ts';
import { LIMITS } from '../../src/spec/limits.ts';
import { ScriptedChain } from '../support/scripted-chain.ts';
import { TopupWorld } from '../support/topup-world.ts';

/** A chain whose blocks are final as soon as they are there. */
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

it('no amount needs more confirmations than the most that its coin asks for', () => {
  for (const code of COIN_CODES) {
    assert.equal(confirmationsNeeded(code, LIMITS.topupMaxCents * 10n), maxConfirmations(code), code);
  }
});

it('a payment that is final with too few confirmations is looked at until it has enough', async () => {
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

it('what a node may only have forgotten stays as it was told, once it was in a block', async () => {
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

it('what a node forgot that was in no block is gone', async () => {
  const topup = await world.createInvoice(100);
  const key = world.btc.pay(topup.deposit_address, topup.deposit_units);
  await world.runUntilIdle();
  await applyObservations(world.service, 'BTC', [{ ...removedObservation(key), agreed: false }]);
  assert.equal((await world.deposits(topup))[0]?.state, 'removed');
});
