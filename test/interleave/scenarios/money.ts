/** Money: what one balance buys, and what comes back to it. */
import assert from 'node:assert/strict';
import { createCoupon } from '../../../src/domain/billing/coupons/manage.ts';
import { redeemCoupon } from '../../../src/domain/billing/coupons/redeem.ts';
import { sweepCalendar } from '../../../src/domain/billing/sweep.ts';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { credit } from '../../../src/domain/ledger/transfer.ts';
import { deploy } from '../../../src/domain/servers/deploy/deploy.ts';
import { destroyServer } from '../../../src/domain/servers/operations/destroy.ts';
import { resizeServer } from '../../../src/domain/servers/resize/resize.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import { readBalance } from '../../../src/store/ledger/ledger.ts';
import { S1 } from '../../support/fixtures.ts';
import type { Scenario } from '../core/explore.ts';
import { isDone } from '../core/outcomes.ts';
import { type InterleaveWorld, S2 } from '../core/world.ts';

const PRICE = S1.price_cents_month;

async function pay(world: InterleaveWorld, { customerId }: CustomerActor, cents: bigint, fact: string) {
  const movement = { customerId, account: 'adjustments', amountCents: cents, fact } as const;
  await credit(world.db, { ...movement, type: 'adjustment', description: 'test' }, world.clock.now());
}

function deployAs(world: InterleaveWorld, actor: CustomerActor, name: string) {
  return async () => {
    const service = world.service();
    return (await deploy(service, actor, world.fixtures.buildOrder({ name }))).server.name;
  };
}

/** Three orders, and a balance for two. */
const deploysOnOneBalance: Scenario = {
  name: 'deploys-on-one-balance',
  prepare: async (world) => {
    const actor = await world.fixtures.addCustomer(2n * PRICE + 100n);
    const names = ['web-1', 'web-2', 'web-3'];
    return {
      tasks: Object.fromEntries(names.map((name) => [name, deployAs(world, actor, name)])),
      check: async (tasks, db) => {
        assert.equal(tasks.filter(isDone).length, 2);
        assert.equal(await readBalance(db, actor.customerId), 100n);
      },
    };
  },
};

/** The cycle has ended, and two processes renew the server while its customer deletes and resizes it. */
const renewalDeleteResize: Scenario = {
  name: 'renewal-delete-resize',
  prepare: async (world) => {
    const { actor, shownId, serverId } = world.owner;
    // Enough for the renewal or for the larger plan, but not for both.
    await pay(world, actor, PRICE + 200n, 'test:owner');
    const renew = () => async () => void (await sweepCalendar(world.service()));
    await world.moveTime(28.5 * DAY_MS);
    return {
      tasks: {
        'renews-1': renew(),
        'renews-2': renew(),
        deletes: async () => void (await destroyServer(world.service(), actor, shownId)),
        resizes: async () =>
          void (await resizeServer(world.service(), actor, shownId, { plan: S2.id, restart: true })),
      },
      check: async (_, db) => {
        const cycles = await db.rows(
          `select fact from transfers where resource_id = $1 and type = 'charge' and fact like 'cycle:%'`,
          [serverId],
        );
        assert.ok(cycles.length <= 2, `charged for ${cycles.length} cycles`);
        assert.ok((await readBalance(db, actor.customerId)) >= 0n);
      },
    };
  },
};

/** A server that has never run is deleted twice, while the refund pays for others and money comes in. */
const refundAndCredit: Scenario = {
  name: 'refund-and-credit',
  prepare: async (world) => {
    const actor = await world.fixtures.addCustomer(PRICE);
    const order = world.fixtures.buildOrder({ name: 'refunded' });
    const { server } = await deploy(world.service(), actor, order);
    const shownId = formatId('server', server.id);
    const destroy = () => async () => void (await destroyServer(world.service(), actor, shownId));
    return {
      tasks: {
        'deletes-1': destroy(),
        'deletes-2': destroy(),
        deploys: deployAs(world, actor, 'web-1'),
        pays: async () => {
          await world.service().db.transaction(async (tx) => {
            const { customerId } = actor;
            const movement = {
              customerId,
              account: 'adjustments',
              amountCents: PRICE,
              fact: 'test:in',
            } as const;
            await credit(tx, { ...movement, type: 'adjustment', description: 'test' }, world.clock.now());
          });
        },
      },
      check: async (tasks, db) => {
        const deployed = tasks.find(({ name }) => name === 'deploys');
        const expected = 2n * PRICE - (deployed && isDone(deployed) ? PRICE : 0n);
        assert.equal(await readBalance(db, actor.customerId), expected);
      },
    };
  },
};

/** Two uses are left for three customers, of whom one tries twice. */
const couponUsedUp: Scenario = {
  name: 'coupon-used-up',
  prepare: async (world) => {
    const service = world.service();
    await createCoupon(service, { coupon_code: 'WELCOME', amount_usd: '5', max_uses: 2 });
    const actors = [
      await world.fixtures.addCustomer(),
      await world.fixtures.addCustomer(),
      await world.fixtures.addCustomer(),
    ] as const;
    const redeem = (actor: CustomerActor) => async () =>
      void (await redeemCoupon(world.service(), actor, 'welcome'));
    const [one, two, three] = actors;
    return {
      tasks: { one: redeem(one), again: redeem(one), two: redeem(two), three: redeem(three) },
      check: async (tasks, db) => {
        assert.equal(tasks.filter(isDone).length, 2);
        const balances = await Promise.all(actors.map(({ customerId }) => readBalance(db, customerId)));
        assert.deepEqual(balances.sort(), [0n, 500n, 500n]);
      },
    };
  },
};

export const MONEY: readonly Scenario[] = [
  deploysOnOneBalance,
  renewalDeleteResize,
  refundAndCredit,
  couponUsedUp,
];
