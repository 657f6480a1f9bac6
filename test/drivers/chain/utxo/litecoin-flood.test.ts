/** More payments than one list can hold: the coin keeps working, and all payments are reported. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Observation } from '../../../../src/ports/chain.ts';
import { FULL_ONLY } from '../../../support/runs.ts';
import { NO_LITECOIND } from './litecoin-node.ts';
import { LitecoinWorld, PAYER_WALLET } from './litecoin-world.ts';

const PARTS = 600;

describe('floods of Litecoin payments', { skip: FULL_ONLY.skip || NO_LITECOIND }, () => {
  let coins: LitecoinWorld;
  before(async () => {
    coins = await LitecoinWorld.start();
  });
  after(async () => {
    await coins?.close();
  });

  it('a flood is reported up to a page while unconfirmed, and completely once it is in a block', async () => {
    const own = new Set<string>();
    const driver = coins.driver({
      own: async (addresses) => new Set(addresses.filter((each) => own.has(each))),
    });
    for (let index = 0; index < PARTS; index++) {
      own.add((await driver.allocate({ id: `${index}`, index, amountUnits: 1n })).address);
    }
    const { cursor } = await driver.poll({ cursor: null });
    const amounts = Object.fromEntries([...own].map((address) => [address, '0.0001']));
    const txid = String(await coins.payer.call('sendmany', ['', amounts], PAYER_WALLET));
    await coins.relay(txid);
    const waiting = await driver.poll({ cursor });
    assert.deepEqual([waiting.observations.length, waiting.isComplete, waiting.cursor], [500, true, cursor]);
    assert.ok(
      waiting.observations.every(({ state, amountUnits }) => state === 'mempool' && amountUnits === 10_000n),
    );
    await coins.mine(6);
    const observed = new Map<string, Observation>();
    let at = cursor;
    for (let isComplete = false; !isComplete; ) {
      const polled = await driver.poll({ cursor: at });
      ({ cursor: at, isComplete } = polled);
      for (const each of polled.observations) observed.set(each.key, each);
    }
    assert.deepEqual(new Set([...observed.values()].map(({ address }) => address)), own);
    assert.ok(
      [...observed.values()].every(({ state, confirmations }) => state === 'included' && confirmations === 6),
    );
    assert.equal(at, `${await coins.watcher.height()}:${await coins.watcher.tip()}`);
    // A new driver reads them from the wallet's list, with the same result.
    const again = await coins.driver().poll({ cursor });
    assert.deepEqual(new Map(again.observations.map((each) => [each.key, each])), observed);
  });
});
