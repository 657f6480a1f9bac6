/** Tron payments during changes of the chain, the node, or the service, with a stub node. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { verify } from '../../../../src/domain/verify/verify.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { IS_FULL_RUN, PROPERTY_RUNS } from '../../../support/runs.ts';
import { seededRuns } from '../../../support/seed.ts';
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

describe('Tron reorganizations', () => {
  it('a credit is reversed when its block is replaced, and restored when the payment returns', async () => {
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

  it('a payment by a contract counts with the amount in its current block', async () => {
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

  it('a credit stays while a restored node catches up', async () => {
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

  it('a payment is found once the node returns the outcome of its transaction', async () => {
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
  | { readonly do: 'poll' | 'die' };

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
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('poll', 'die') }) },
) as fc.Arbitrary<Step>;

describe('random scripts on Tron', () => {
  it('each Tron payment is credited once, even if drivers die and blocks are replaced', async (t) => {
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
          else if (step.do === 'poll') await world.watchJob.run();
          else await pollAndDie();
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

  /** Polls with drivers that die before anything is saved, and replaces them. */
  async function pollAndDie(): Promise<void> {
    const { world, stub } = tron;
    const rows = await world.db.rows<{ code: 'TRX' | 'USDTTRC'; cursor: string | null }>(
      'select code, cursor from coins',
    );
    for (const { code, cursor } of rows) await world.chains.get(code)?.poll({ cursor });
    for (const [coin, chain] of tronChains(stub)({ clock: world.clock, db: world.db }))
      world.chains.set(coin, chain);
  }
});
