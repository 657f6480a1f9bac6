/** Tron when its chain, its node or this service changes under a payment, with a stand-in node. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { verify } from '../../../src/domain/verify/verify.ts';
import type { TopupRow } from '../../../src/store/topups.ts';
import { IS_FULL_RUN, PROPERTY_RUNS } from '../../support/runs.ts';
import { seededRuns } from '../../support/seed.ts';
import { startTron, type TronWorld, tronChains } from './tron-world.ts';

let tron: TronWorld;
before(async () => {
  tron = await startTron();
});
after(async () => {
  await tron.close();
});

async function credited(topup: TopupRow): Promise<bigint> {
  await tron.world.runUntilIdle();
  return (await tron.world.reloadTopup(topup)).credited_cents;
}

describe('a payment on Tron', () => {
  it('is taken back when its block is replaced without it, and credited again when it returns', async () => {
    const topup = await tron.world.createInvoice(50, 'TRX');
    const { deposit_address: to, deposit_units: amount } = topup;
    tron.stub.transfer(to, amount);
    tron.stub.mine(19);
    assert.equal(await credited(topup), 5_000n);
    tron.stub.reorg(20);
    assert.equal(await credited(topup), 5_000n);
    tron.stub.reorg(20, { drop: true });
    assert.equal(await credited(topup), 0n);
    tron.stub.transfer(to, amount);
    tron.stub.mine(19);
    assert.equal(await credited(topup), 5_000n);
    assert.equal(await tron.world.balance(topup), 5_000n);
  });

  it('is worth what it pays in the block where it is, should a contract pay less there', async () => {
    const topup = await tron.world.createInvoice(50, 'USDTTRC');
    const to = topup.deposit_address;
    tron.stub.token([{ to, amount: 50_000_000n }]);
    tron.stub.mine(3);
    await tron.world.runUntilIdle();
    tron.stub.reorg(3, { drop: true });
    tron.stub.token([{ to, amount: 40_000_000n }]);
    tron.stub.mine(19);
    assert.equal(await credited(topup), 4_000n);
  });

  it('stands while the node is put back, and nothing is said of it until the node is as high again', async () => {
    const topup = await tron.world.createInvoice(50, 'TRX');
    tron.stub.transfer(topup.deposit_address, topup.deposit_units);
    tron.stub.mine(20);
    assert.equal(await credited(topup), 5_000n);
    tron.stub.rollBack(25);
    const driver = [...tronChains(tron.stub)({ clock: tron.world.clock, db: tron.world.db })][0]?.[1];
    const row = await tron.world.db.row<{ cursor: string }>(`select cursor from coins where code = 'TRX'`);
    await assert.rejects(driver?.poll({ cursor: row?.cursor ?? null }) ?? Promise.resolve(), {
      name: 'NodeBehind',
    });
    await tron.world.watchJob.run();
    assert.equal((await tron.world.reloadTopup(topup)).credited_cents, 5_000n);
    tron.stub.catchUp();
    tron.stub.mine();
    assert.equal(await credited(topup), 5_000n);
    assert.deepEqual(await tron.world.ledgerEntries(topup).then((all) => all.map(({ type }) => type)), [
      'topup',
    ]);
  });

  it('is found as soon as the node tells what its transaction did, though it did not at first', async () => {
    const topup = await tron.world.createInvoice(50, 'USDTTRC');
    const txid = tron.stub.token([{ to: topup.deposit_address, amount: topup.deposit_units }]);
    tron.stub.withoutInfo.add(txid);
    tron.stub.mine(19);
    await tron.world.watchJob.run();
    assert.deepEqual(await tron.world.deposits(topup), []);
    tron.stub.withoutInfo.clear();
    assert.equal(await credited(topup), 5_000n);
  });
});

type Step =
  | { readonly do: 'pay'; readonly coin: 'TRX' | 'USDTTRC'; readonly inside: boolean }
  | { readonly do: 'mine'; readonly count: number }
  | { readonly do: 'reorg'; readonly depth: number }
  | { readonly do: 'look' | 'die' };

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pay'),
      coin: fc.constantFrom('TRX', 'USDTTRC'),
      inside: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('mine'), count: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reorg'), depth: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('look', 'die') }) },
) as fc.Arbitrary<Step>;

describe('payments on Tron', () => {
  it('are each credited once, whenever drivers die and blocks are replaced', async (t) => {
    const { world, stub } = tron;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const topups = {
          TRX: await world.createInvoice(50, 'TRX'),
          USDTTRC: await world.createInvoice(50, 'USDTTRC'),
        };
        const paid = { TRX: 0n, USDTTRC: 0n };
        for (const step of steps) {
          if (step.do === 'pay') {
            const { deposit_address: to, deposit_units: amount } = topups[step.coin];
            if (step.coin === 'USDTTRC') stub.token([{ to, amount }]);
            else if (step.inside) stub.call([{ to, amount }]);
            else stub.transfer(to, amount);
            paid[step.coin] += 5_000n;
          } else if (step.do === 'mine') stub.mine(step.count);
          else if (step.do === 'reorg') stub.reorg(step.depth);
          else if (step.do === 'look') await world.watchJob.run();
          else await die();
        }
        stub.mine(30);
        await world.runUntilIdle();
        for (const coin of ['TRX', 'USDTTRC'] as const) {
          assert.equal((await world.reloadTopup(topups[coin])).credited_cents, paid[coin], coin);
        }
      }),
      seededRuns(t, IS_FULL_RUN ? PROPERTY_RUNS : 5),
    );
    assert.deepEqual(
      (await verify(world.service)).filter(({ broken }) => broken !== 0n),
      [],
    );
  });

  /** Drivers have read, and are gone before anything was written; others come in their place. */
  async function die(): Promise<void> {
    const { world, stub } = tron;
    const rows = await world.db.rows<{ code: 'TRX' | 'USDTTRC'; cursor: string | null }>(
      'select code, cursor from coins',
    );
    for (const { code, cursor } of rows) await world.chains.get(code)?.poll({ cursor });
    for (const [coin, chain] of tronChains(stub)({ clock: world.clock, db: world.db }))
      world.chains.set(coin, chain);
  }
});
