import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import fc from 'fast-check';
import type { CustomerActor } from '../../../../src/domain/context.ts';
import { deploy } from '../../../../src/domain/servers/deploy/deploy.ts';
import type { DeployOrder } from '../../../../src/domain/servers/deploy/prepare.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { KeyedMutex } from '../../../../src/kernel/keyed-mutex.ts';
import type { Sql } from '../../../../src/kernel/sql.ts';
import { QUOTAS } from '../../../../src/spec/limits.ts';
import { R1, S1 } from '../../../support/fixtures.ts';
import { PROPERTY_RUNS } from '../../../support/runs.ts';
import { startTestService, type TestService } from '../../../support/test-service.ts';

const CALLERS = 60;
const PRICE = S1.price_cents_month;
/** A property is sixty deploys and a check of all invariants: a few runs are enough. */
const runs = { numRuns: Math.ceil(PROPERTY_RUNS / 5) };

describe('concurrent deploys', () => {
  let world: TestService;
  let regions = 0;
  before(async () => {
    world = await startTestService({ poolSize: 24 });
    await world.fixtures.addPlans(['par'], [S1, R1]);
  });
  after(() => world.close());

  /** Deploys all orders at once, each in a process of its own; counts the outcomes. */
  async function race(
    orders: readonly { actor: CustomerActor; order: DeployOrder }[],
    finish?: (tx: Sql) => Promise<void>,
  ): Promise<Record<string, number>> {
    const ends: Record<string, number> = {};
    await Promise.all(
      orders.map(async ({ actor, order }) => {
        const service = { ...world.service, orders: new KeyedMutex() };
        const end = await deploy(service, actor, order, { finish }).then(
          () => 'deployed',
          (error: unknown) => {
            if (error instanceof Failure) return error.code;
            throw error;
          },
        );
        ends[end] = (ends[end] ?? 0) + 1;
      }),
    );
    return ends;
  }

  /** Adds a region with hosts for that many servers each, and that many addresses and /64s. */
  async function region(rooms: readonly number[], four: number, six = four): Promise<string> {
    const id = `x${regions++}`;
    await world.fixtures.addPlans([id], [S1, R1]);
    await world.fixtures.addHosts(rooms, id);
    await world.fixtures.addAddresses(four, six, id);
    return id;
  }

  /** Adds round trips to the deploy's transaction, like a request that stores its response. */
  async function saveResponse(tx: Sql): Promise<void> {
    for (let n = 0; n < 3; n++) await tx.rows('select 1');
  }

  it('a balance for seven servers buys exactly seven of sixty concurrent orders', async () => {
    const leftover = fc.bigInt({ min: 0n, max: PRICE - 1n });
    const rooms = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(leftover, rooms, fc.boolean(), async (cents, hosts, saves) => {
        // Capacity for one more than the balance pays for, so that only money runs out.
        const regionId = await region([8, ...hosts], 10);
        const actor = await world.fixtures.addCustomer(7n * PRICE + cents);
        const order = { actor, order: world.fixtures.buildOrder({ regionId }) };
        const ends = await race(Array(CALLERS).fill(order), saves ? saveResponse : undefined);
        assert.deepEqual(ends, { deployed: 7, insufficient_balance: CALLERS - 7 });
        await world.assertInvariants();
      }),
      runs,
    );
  });

  it('concurrent orders succeed as long as capacity and balances last', async () => {
    const few = fc.integer({ min: 0, max: 12 });
    const customers = fc.array(few, { minLength: 1, maxLength: 4 });
    const rooms = fc.array(few, { minLength: 1, maxLength: 4 });
    const some = fc.integer({ min: 1, max: 30 });
    await fc.assert(
      fc.asyncProperty(customers, rooms, some, some, fc.boolean(), async (means, hosts, four, six, saves) => {
        const regionId = await region(hosts, four, six);
        const actors = await Promise.all(means.map((n) => world.fixtures.addCustomer(BigInt(n) * PRICE)));
        const orders = Array.from({ length: CALLERS }, (_, n) => {
          const actor = actors[n % actors.length];
          assert.ok(actor);
          return { actor, order: world.fixtures.buildOrder({ regionId }) };
        });
        const ends = await race(orders, saves ? saveResponse : undefined);
        const room = hosts.reduce((sum, n) => sum + n, 0);
        const money = means.reduce((sum, n) => sum + n, 0);
        assert.equal(ends.deployed ?? 0, Math.min(money, room, four, six));
        assert.deepEqual(
          Object.keys(ends).filter(
            (end) => !['deployed', 'insufficient_balance', 'out_of_stock'].includes(end),
          ),
          [],
        );
        await world.assertInvariants();
      }),
      runs,
    );
  });

  it('each dedicated machine is sold once', async () => {
    const regionId = await region([], 20);
    await world.fixtures.addMachines(5, R1, regionId);
    const actor = await world.fixtures.addCustomer(20n * R1.price_cents_month);
    const order = { actor, order: world.fixtures.buildOrder({ regionId, plan: R1 }) };
    assert.deepEqual(await race(Array(20).fill(order)), { deployed: 5, out_of_stock: 15 });
    await world.assertInvariants();
  });

  it('a customer receives exactly as many servers as the quota allows', async () => {
    const regionId = await region([100], 100);
    const actor = await world.fixtures.addCustomer(100n * PRICE);
    const order = { actor, order: world.fixtures.buildOrder({ regionId }) };
    const ends = await race(Array(QUOTAS.servers + 10).fill(order));
    assert.deepEqual(ends, { deployed: QUOTAS.servers, limit_reached: 10 });
    await world.assertInvariants();
  });

  it('two servers never share an address, a /64, or a public number', async () => {
    const row = await world.db.row(
      `select count(*)::int as n, count(distinct a.addr)::int as four,
              count(distinct p.prefix)::int as six, count(distinct s.public_no)::int as numbers
         from servers s
         join ipv4_addresses a on a.server_id = s.id
         join ipv6_prefixes p on p.server_id = s.id`,
    );
    const { n, ...others } = row as Record<string, number>;
    assert.ok(n);
    assert.deepEqual(others, { four: n, six: n, numbers: n });
  });

  it('a customer whose orders wait leaves the connections to the others', async () => {
    const regionId = await region([CALLERS], CALLERS);
    const [busy, other] = await Promise.all([1, 2].map(() => world.fixtures.addCustomer(100n * PRICE)));
    assert.ok(busy && other);
    const buy = (actor: CustomerActor) =>
      deploy(world.service, actor, world.fixtures.buildOrder({ regionId }));
    let waiting: Promise<unknown>[] = [];
    await world.db.transaction(async (tx) => {
      await tx.run('select from balances where customer_id = $1 for update', [busy.customerId]);
      // More than the pool has connections.
      waiting = Array.from({ length: CALLERS / 2 }, () => buy(busy));
      await buy(other);
    });
    await Promise.all(waiting);
    await world.assertInvariants();
  });

  it('a deploy that fails with a deadlock is retried', async () => {
    for (const code of ['40P01', '40001']) {
      const regionId = await region([10], 2);
      const actor = await world.fixtures.addCustomer(PRICE);
      let deadlocks = 0;
      const db = new Proxy(world.service.db, {
        get: (target, name) => {
          if (name !== 'row' || deadlocks > 0) return Reflect.get(target, name);
          return async () => {
            deadlocks += 1;
            throw Object.assign(new Error('deadlock detected'), { code });
          };
        },
      });
      await deploy({ ...world.service, db }, actor, world.fixtures.buildOrder({ regionId }));
      assert.equal(deadlocks, 1);
    }
    await world.assertInvariants();
  });

  it('a deploy waits while a transaction that may roll back locks the last address', async () => {
    mock.method(Math, 'random', () => 0);
    const queries = mock.method(world.service.db, 'row');
    try {
      const regionId = await region([10], 1);
      const actor = await world.fixtures.addCustomer(PRICE);
      let waiting: Promise<unknown> = Promise.resolve();
      await world.db.transaction(async (tx) => {
        await tx.run('select 1 from ipv4_addresses where region_id = $1 for update', [regionId]);
        const before = queries.mock.callCount();
        waiting = deploy(world.service, actor, world.fixtures.buildOrder({ regionId }));
        while (queries.mock.callCount() < before + 100) await new Promise((resolve) => setImmediate(resolve));
      });
      await waiting;
      await world.assertInvariants();
    } finally {
      mock.restoreAll();
    }
  });
});
