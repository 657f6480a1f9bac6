/** Ether during an outage of the node, and after a transaction was replaced. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { FULL_ONLY } from '../../../support/runs.ts';
import { Anvil, hex, NO_ANVIL } from './anvil.ts';
import { EvmWorld } from './evm-world.ts';

const CONFIRMATIONS = 12;

describe('ether', { skip: NO_ANVIL || FULL_ONLY.skip }, () => {
  let anvil: Anvil;
  let evm: EvmWorld;
  let topup: TopupRow;
  before(async () => {
    anvil = await Anvil.start();
  });
  after(async () => {
    await anvil?.close();
  });
  beforeEach(async () => {
    evm = await EvmWorld.start(anvil);
    topup = await evm.invoice(100);
  });
  afterEach(async () => {
    await evm?.close();
  });

  const poll = async () => {
    for (let polls = 0; polls < 3; polls++) await evm.world.watchJob.run();
  };

  it('a payment during an outage is credited when the node is back', async () => {
    await evm.world.runUntilIdle();
    await anvil.pay(topup.deposit_address, topup.deposit_units);
    await anvil.mine(5);
    await anvil.stop('SIGINT');
    await poll();
    assert.equal(await evm.summarize(topup), '0');
    await anvil.start();
    await anvil.mine(CONFIRMATIONS);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS + 5}, 13000`);
  });

  it('a credit stays while the node is down, and while it has not caught up', async () => {
    await anvil.pay(topup.deposit_address, topup.deposit_units);
    await anvil.mine(CONFIRMATIONS);
    await evm.world.runUntilIdle();
    await anvil.stop('SIGINT');
    await poll();
    await anvil.start();
    await anvil.mine();
    await evm.world.runUntilIdle();
    // The node has not saved the block since then.
    await anvil.stop('SIGKILL');
    await poll();
    await anvil.start();
    await poll();
    assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS + 1}, 13000`);
    await anvil.mine();
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS + 1}, 13000`);
  });

  it('a credit is reversed if another transaction replaced the payment', async () => {
    const paid = await anvil.prepare({ to: topup.deposit_address, value: hex(topup.deposit_units) });
    await anvil.send(paid);
    await anvil.mine(CONFIRMATIONS);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS}, 13000`);
    await anvil.reorg(CONFIRMATIONS, [[{ ...paid, to: anvil.account(9) }, 0]]);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), 'removed 0, 0');
    await assert.rejects(anvil.send(paid), /nonce/);
  });
});
