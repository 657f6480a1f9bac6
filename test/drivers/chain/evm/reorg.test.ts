/** Ether on a real node during reorganizations. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { FULL_ONLY } from '../../../support/runs.ts';
import { Anvil, hex, NO_ANVIL, type TransactionTemplate } from './anvil.ts';
import { EvmWorld } from './evm-world.ts';

/** Enough for an invoice of less than $1,000. */
const CONFIRMATIONS = 12;

describe('ether during reorganizations', { skip: NO_ANVIL }, () => {
  let anvil: Anvil;
  let evm: EvmWorld;
  let topup: TopupRow;
  before(async () => {
    anvil = await Anvil.start();
    await anvil.mine(30);
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

  const order = async (): Promise<TransactionTemplate> =>
    await anvil.prepare({ to: topup.deposit_address, value: hex(topup.deposit_units) });

  const keys = async () => (await evm.world.deposits(topup)).map(({ key }) => key);

  it('an ether payment is credited once its block is confirmed', FULL_ONLY, async () => {
    await anvil.send(await order());
    await anvil.mine(CONFIRMATIONS - 1);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS - 1}, 0`);
    await anvil.mine();
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS}, 13000`);
    await anvil.mine(60);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), 'final 72, 13000');
  });

  it('an ether payment keeps its key in another block and is credited once', FULL_ONLY, async () => {
    const paid = await order();
    await anvil.send(paid);
    await anvil.mine(3);
    await evm.world.runUntilIdle();
    const before = await keys();
    await anvil.reorg(3, [[paid, 2]]);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), 'included 1, 0');
    await anvil.mine(CONFIRMATIONS - 1);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS}, 13000`);
    assert.deepEqual(await keys(), before);
  });

  it('an ether payment that left the chain before its credit is not credited', FULL_ONLY, async () => {
    await anvil.send(await order());
    await anvil.mine(5);
    await evm.world.runUntilIdle();
    await anvil.reorg(5);
    await anvil.mine(CONFIRMATIONS);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), 'removed 0, 0');
  });

  it('an ether credit is reversed when its payment leaves the chain, and then restored', async () => {
    const paid = await order();
    await anvil.send(paid);
    await anvil.mine(CONFIRMATIONS + 2);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS + 2}, 13000`);
    await anvil.reorg(CONFIRMATIONS + 2);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), 'removed 0, 0');
    await anvil.send(paid);
    await anvil.mine(CONFIRMATIONS);
    await evm.world.runUntilIdle();
    assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS}, 13000`);
    const entries = await evm.world.ledgerEntries(topup);
    assert.deepEqual(
      entries.map(({ cents }) => cents).reduce((sum, cents) => sum + cents),
      13_000n,
    );
  });

  it(
    'an ether credit stays after a restore of the node until the chain is as high as before',
    FULL_ONLY,
    async () => {
      const snapshot = await anvil.request<string>('evm_snapshot');
      await anvil.send(await order());
      await anvil.mine(CONFIRMATIONS);
      await evm.world.runUntilIdle();
      assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS}, 13000`);
      await anvil.request('evm_revert', snapshot);
      for (let polls = 0; polls < 3; polls++) await evm.world.watchJob.run();
      assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS}, 13000`);
      await evm.withRestartedProcess(async (world) => {
        for (let polls = 0; polls < 3; polls++) await world.watchJob.run();
      });
      assert.equal(await evm.summarize(topup), `included ${CONFIRMATIONS}, 13000`);
      await anvil.mine(CONFIRMATIONS);
      await evm.world.runUntilIdle();
      assert.equal(await evm.summarize(topup), 'removed 0, 0');
    },
  );

  it(
    'an ether payment is credited once if each step runs in another process, some twice',
    FULL_ONLY,
    async () => {
      const paid = await order();
      await anvil.send(paid);
      const steps: (() => Promise<void>)[] = [
        () => anvil.mine(CONFIRMATIONS - 3),
        () => anvil.reorg(4),
        () => anvil.reorg(CONFIRMATIONS - 2, [[paid, 1]]),
        () => anvil.mine(CONFIRMATIONS),
        () => anvil.mine(1),
      ];
      const cursors: (string | null)[] = [];
      for (const step of steps) {
        await step();
        await evm.withRestartedProcess((world) => world.runUntilIdle());
        const row = await evm.world.db.row<{ cursor: string }>(`select cursor from coins where code = 'ETH'`);
        cursors.push(row?.cursor ?? null);
      }
      const seen = await evm.summarize(topup);
      assert.match(seen, /^included \d+, 13000$/);
      // As if the process had been killed before it saved its cursor.
      for (const cursor of [null, ...cursors]) {
        await evm.world.db.run(`update coins set cursor = $1 where code = 'ETH'`, [cursor]);
        await evm.withRestartedProcess((world) => world.runUntilIdle());
        assert.equal(await evm.summarize(topup), seen);
      }
      assert.equal((await evm.world.ledgerEntries(topup)).length, 2, 'a credit and a bonus');
    },
  );
});
