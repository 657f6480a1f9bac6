/** The migration that fills in what was taken back from top-ups before `reversed_cents`. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { migrationFiles } from '../../../src/store/migrate.ts';
import type { TopupRow } from '../../../src/store/topups/topups.ts';
import { TopupWorld } from '../../support/topup-world.ts';

const MIGRATION = '0041_earlier_reversals';
const WORTH_100 = 200_000n;

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());

/** Runs the chain on, at a time of its own. */
async function settle(): Promise<void> {
  world.clock.advanceMinutes(1);
  await world.runUntilIdle();
}

/** Creates an invoice over 100.00, which this many payments of 100.00 credit, one after the other. */
async function credited(payments = 1): Promise<{ topup: TopupRow; keys: string[] }> {
  const topup = await world.createInvoice(100);
  const keys: string[] = [];
  for (let i = 0; i < payments; i++) {
    keys.push(world.btc.pay(topup.deposit_address, WORTH_100));
    world.btc.mine();
    await settle();
  }
  return { topup, keys };
}

test('a top-up that an earlier version took back gets the amount and time of the ledger', async () => {
  const lost = await credited();
  world.btc.reorg(1, { drop: true });
  await settle();
  const returned = await credited();
  world.btc.reorg(1);
  await settle();
  world.btc.mine();
  await settle();
  const partly = await credited(3);
  world.btc.reorg(2);
  world.btc.replace(partly.keys[1] ?? '');
  await settle();
  world.btc.mine();
  await settle();
  const never = await credited();
  const all = [lost, returned, partly, never].map(({ topup }) => topup);
  const read = async () =>
    await Promise.all(
      all.map(async (topup) => {
        const { reversed_cents: cents, reversed_at: at } = await world.reloadTopup(topup);
        return { cents, at };
      }),
    );
  const recorded = await read();
  assert.deepEqual(
    recorded.map(({ cents }) => cents > 0n),
    [true, false, true, false],
  );

  await world.db.run('update topups set reversed_cents = 0, reversed_at = null');
  const backfill = migrationFiles().find(({ name }) => name === MIGRATION)?.text ?? assert.fail();
  for (const _ of ['once', 'again']) {
    await world.db.run(backfill);
    assert.deepEqual(await read(), recorded);
  }
  // A later reversal counts from there.
  await world.db.run('update topups set reversed_cents = 1, reversed_at = now() where id = $1', [all[0]?.id]);
  await world.db.run(backfill);
  assert.deepEqual(await read(), recorded);
});
