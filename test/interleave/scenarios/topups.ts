/** Payments on a chain: each is credited once while it is there, and never when it is not. */
import assert from 'node:assert/strict';
import type { Service } from '../../../src/domain/context.ts';
import { systemActor } from '../../../src/domain/record.ts';
import { setSwitch } from '../../../src/domain/rules/switches.ts';
import { createTopup } from '../../../src/domain/topups/create.ts';
import { cancelTopup } from '../../../src/domain/topups/end.ts';
import { refundTopup } from '../../../src/domain/topups/settlement/refund.ts';
import { releaseTopup } from '../../../src/domain/topups/settlement/withheld.ts';
import { MINUTE_MS, SECOND_MS } from '../../../src/kernel/time.ts';
import type { Rates } from '../../../src/ports/rates.ts';
import { LEASE_S } from '../../../src/store/leases.ts';
import { readBalance } from '../../../src/store/ledger/ledger.ts';
import { listRefunds } from '../../../src/store/topups/refunds.ts';
import { expireTopupsJob } from '../../../src/workers/expire-topups.ts';
import { watchJob } from '../../../src/workers/watch.ts';
import { ScriptedChain } from '../../support/scripted-chain.ts';
import type { Chances } from '../core/events.ts';
import type { Scenario } from '../core/explore.ts';
import { isDone } from '../core/outcomes.ts';
import type { InterleaveWorld } from '../core/world.ts';

const AMOUNT_CENTS = 5_000n;
const CHANCES: Chances = {
  deaths: 1,
  faults: 2,
  jumpsMs: [SECOND_MS, (LEASE_S + 1) * SECOND_MS, 61 * MINUTE_MS],
  jumps: 2,
};
const RUNS = 3;

function ratesOf(world: InterleaveWorld): Rates {
  const at = () => world.clock.now().toISOString();
  return {
    usdPerCoin: async () => ({ usd: '50000', quotes: [{ source: 'test', usd: '50000', at: at() }] }),
    findUnpriced: async () => new Map(),
    eurPerUsd: async () => '0.9',
  } as unknown as Rates;
}

/** A customer with an invoice over bitcoin, and services that read one chain. */
async function prepareTopup(world: InterleaveWorld) {
  const chain = new ScriptedChain('BTC', world.clock, 1);
  const createFault = () => new Error('no answer');
  const service = (): Service => {
    const driver = world.driver(chain, { name: 'chain', createFault });
    return world.service({ chains: new Map([['BTC', driver]]), rates: ratesOf(world) });
  };
  const actor = await world.fixtures.addCustomer();
  const topup = await createTopup(service(), actor, { coin: 'BTC', amountCents: AMOUNT_CENTS });
  return { chain, service, actor, topup };
}

type Script = readonly (readonly [what: string, act: (chain: ScriptedChain) => void])[];

/** Two processes read the chain while it follows a script, the customer cancels, and the invoice expires. */
function settlement(name: string, script: Script, check: (cents: bigint) => void): Scenario {
  return {
    name,
    chances: CHANCES,
    prepare: async (world) => {
      const { chain, service, actor, topup } = await prepareTopup(world);
      const watch = () => async () => {
        const job = watchJob(service());
        for (let runs = 0; runs < RUNS; runs++) await job.run();
      };
      return {
        tasks: {
          'watches-1': watch(),
          'watches-2': watch(),
          chain: async () => {
            await world.step('a customer pays');
            chain.pay(topup.deposit_address, topup.deposit_units);
            for (const [what, act] of script) {
              await world.step(what);
              act(chain);
            }
          },
          cancels: async () => void (await cancelTopup(service(), actor, topup.order_ref)),
          expires: async () => void (await expireTopupsJob(service()).run()),
        },
        finish: async () => {
          chain.mine(12);
          const job = watchJob(service());
          for (let idle = 0; idle < 3; ) {
            idle = (await job.run()) === 0 && !(await job.busy()) ? idle + 1 : 0;
            await world.moveTime((LEASE_S + 1) * SECOND_MS);
          }
        },
        check: async (tasks, db) => {
          const done = tasks.some((task) => task.name === 'chain' && task.state === 'ended');
          if (done) check(await readBalance(db, actor.customerId));
        },
      };
    },
  };
}

/** The price of a late payment is rounded. */
function isAmount(cents: bigint): void {
  assert.ok(cents >= AMOUNT_CENTS - 1n && cents <= AMOUNT_CENTS + 1n, `credited ${cents}`);
}

const reorganized = settlement(
  'payment-reorganized',
  [
    ['a block has it', (chain) => chain.mine()],
    ['three blocks follow', (chain) => chain.mine(3)],
    ['two blocks are replaced', (chain) => chain.reorg(2)],
    ['others follow', (chain) => chain.mine(3)],
  ],
  isAmount,
);

const dropped = settlement(
  'payment-dropped',
  [
    ['a block has it', (chain) => chain.mine()],
    ['four blocks follow', (chain) => chain.mine(4)],
    ['the branch without it wins', (chain) => chain.reorg(5, { drop: true })],
    ['others follow', (chain) => chain.mine(6)],
  ],
  (cents) => assert.equal(cents, 0n),
);

/** A withheld payment that one person refunds, another one credits, and a third one refunds elsewhere. */
const refundAndRelease: Scenario = {
  name: 'refund-and-release',
  chances: CHANCES,
  prepare: async (world) => {
    const { chain, service, actor, topup } = await prepareTopup(world);
    await setSwitch(service(), 'topup-credit', false);
    chain.pay(topup.deposit_address, topup.deposit_units);
    chain.mine(12);
    await world.runJobs([watchJob(service())]);
    const staff = systemActor(world.clock.now());
    const refund = (to: string) => async () =>
      void (await refundTopup(service(), staff, topup.id, { to, approvedBy: 'Ann' }));
    return {
      tasks: {
        'refunds-1': refund('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'),
        'refunds-2': refund('bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdc'),
        releases: async () => void (await releaseTopup(service(), staff, topup.id)),
        watches: async () => void (await watchJob(service()).run()),
      },
      check: async (tasks, db) => {
        const cents = await readBalance(db, actor.customerId);
        const refunds = (await listRefunds(db, topup.id)).length;
        const done = tasks.filter((task) => task.name !== 'watches' && isDone(task));
        const resolved = refunds + (cents > 0n ? 1 : 0);
        // The answer to a commit may be lost.
        assert.ok(resolved <= 1 && resolved >= done.length, `${refunds} refunds and ${cents} cents`);
        if (cents > 0n) isAmount(cents);
      },
    };
  },
};

export const TOPUPS: readonly Scenario[] = [reorganized, dropped, refundAndRelease];
