import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { getPlan } from '../../../../src/domain/catalogue/offers.ts';
import type { CustomerActor } from '../../../../src/domain/context.ts';
import { type Deployed, deploy } from '../../../../src/domain/servers/deploy/deploy.ts';
import type { DeployOrder } from '../../../../src/domain/servers/deploy/prepare.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { formatId } from '../../../../src/kernel/ids.ts';
import { centsToUsd } from '../../../../src/kernel/money.ts';
import { QUOTAS } from '../../../../src/spec/limits.ts';
import { dumpTables } from '../../../support/dump-tables.ts';
import { R1, S1, type TestPlan } from '../../../support/fixtures.ts';
import { startTestService, type TestService } from '../../../support/test-service.ts';

/** Three months of it cost 11.295 dollars before rounding. */
const S2: TestPlan = { ...S1, id: 's2', price_cents_month: 502n };
const PRICE = S1.price_cents_month;

let world: TestService;
let actor: CustomerActor;
let regions = 0;
/** A separate region per test, so that tests do not use each other's stock. */
let regionId: string;

before(async () => {
  world = await startTestService();
});
after(() => world.close());
beforeEach(async () => {
  regionId = `x${regions++}`;
  await world.fixtures.addPlans([regionId], [S1, S2, R1]);
  actor = await world.fixtures.addCustomer(10_000n);
});

const order = (wanted: Partial<DeployOrder> = {}) => world.fixtures.buildOrder({ regionId, ...wanted });
const buy = (wanted: Partial<DeployOrder> = {}): Promise<Deployed> =>
  deploy(world.service, actor, order(wanted));

/** Asserts that the attempt is refused and changes nothing; returns the refusal. */
async function refusal(attempt: () => Promise<unknown>): Promise<Failure> {
  const before = await dumpTables(world.db);
  const error: unknown = await attempt().then(
    () => assert.fail('the attempt succeeded'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure, String(error));
  assert.deepEqual(await dumpTables(world.db), before);
  return error;
}

describe('a deploy', () => {
  beforeEach(async () => {
    await world.fixtures.addHosts([5], regionId);
    await world.fixtures.addAddresses(5, 5, regionId);
  });

  it('a deploy is one commit: server, charge, address, host, audit row, events, and operation', async () => {
    const { server, balanceAfterCents } = await buy({ tags: ['a'], labels: { b: 'c' } });
    assert.equal(balanceAfterCents, 10_000n - PRICE);
    const all = await world.db.row(
      `select s.status, s.name, s.tags, s.labels, s.price_cents_cycle, s.anchor_day, s.eur_per_usd,
              b.balance_cents, b.servers, h.used_ram_mb, h.used_disk_gb, o.kind, o.step, t.type,
              t.amount_cents, t.fact, t.description,
              u.action, u.result, u.actor_session = $2 as mine, u.ip_country, u.request_id,
              (select count(*)::int from ipv4_addresses where server_id = s.id) as four,
              (select count(*)::int from ipv6_prefixes where server_id = s.id) as six
         from servers s
         join balances b on b.customer_id = s.customer_id
         join hosts h on h.id = s.host_id
         join operations o on o.server_id = s.id
         join transfers t on t.resource_id = s.id
         join audit_events u on u.customer_id = s.customer_id
        where s.id = $1`,
      [server.id, actor.sessionId],
    );
    assert.deepEqual(all, {
      status: 'provisioning',
      name: 'web-1',
      tags: ['a'],
      labels: { b: 'c' },
      price_cents_cycle: PRICE,
      anchor_day: 31,
      eur_per_usd: '0.92',
      balance_cents: 10_000n - PRICE,
      servers: 1,
      used_ram_mb: S1.ram_mb,
      used_disk_gb: S1.disk_gb,
      kind: 'provision',
      step: 'ensure',
      type: 'charge',
      amount_cents: PRICE,
      fact: `cycle:${server.id}:1`,
      description: `s1 in ${regionId}, 1 month`,
      action: 'server.create',
      result: 'ok',
      mine: true,
      ip_country: 'IS',
      request_id: actor.requestId,
      four: 1,
      six: 1,
    });
    await world.assertInvariants();
  });

  it('a deploy records the server event and then the charge event, each with the full object', async () => {
    const { server } = await buy({ plan: S2, billingMonths: 3 });
    const events = await world.db.rows<{ type: string; data: Record<string, Record<string, unknown>> }>(
      'select type, data from events where customer_id = $1 order by place',
      [actor.customerId],
    );
    const created = events.find(({ type }) => type === 'server.created')?.data.server;
    const charged = events.find(({ type }) => type === 'billing.charged')?.data.ledger_entry;
    assert.deepEqual(
      events.map(({ type }) => type),
      ['server.created', 'billing.charged'],
    );
    const transfer = await world.db.row<{ id: string }>('select id from transfers where resource_id = $1', [
      server.id,
    ]);
    const now = '2030-01-31T12:00:00Z';
    assert.deepEqual(created, {
      id: formatId('server', server.id),
      object: 'server',
      action: created?.action,
      name: 'web-1',
      status: 'provisioning',
      plan: 's2',
      region: regionId,
      image: formatId('image', server.image_id),
      iso: null,
      boot: 'disk',
      disk_gb: server.disk_gb,
      ipv4: null,
      ipv6: null,
      ssh_keys: [],
      tags: [],
      labels: {},
      protection: { delete: false, rebuild: false },
      billing_months: 3,
      auto_renew: true,
      paid_until: '2030-04-30T12:00:00Z',
      price_usd_cycle: 11.3,
      suspended_reason: null,
      created_at: now,
      updated_at: now,
    });
    assert.deepEqual(charged, {
      id: formatId('ledgerEntry', transfer?.id ?? ''),
      object: 'ledger_entry',
      type: 'charge',
      amount_usd: -11.3,
      balance_after_usd: 88.7,
      resource: formatId('server', server.id),
      description: `s2 in ${regionId}, 3 months`,
      created_at: now,
    });
  });

  it('a deploy with other writes commits together with them or not at all', async () => {
    const mine = new Error('the response could not be stored');
    const before = await dumpTables(world.db);
    await assert.rejects(
      deploy(world.service, actor, order(), {
        finish: async (tx, deployed) => {
          assert.ok(await tx.row('select 1 from servers where id = $1', [deployed.server.id]));
          throw mine;
        },
      }),
      mine,
    );
    assert.deepEqual(await dumpTables(world.db), before);

    await deploy(world.service, actor, order(), {
      finish: async (tx, { server, balanceAfterCents }) => {
        assert.equal(balanceAfterCents, 10_000n - PRICE);
        await tx.run(`update servers set name = 'with-it' where id = $1`, [server.id]);
      },
    });
    assert.deepEqual(
      await world.db.rows('select name from servers where customer_id = $1', [actor.customerId]),
      [{ name: 'with-it' }],
    );
  });

  it('a deploy wakes the workers once it is committed', async () => {
    let wakes = 0;
    const service = {
      ...world.service,
      wake: () => {
        wakes += 1;
      },
    };
    await deploy(service, actor, order());
    assert.equal(wakes, 1);
    await refusal(() => deploy(service, actor, order({ regionId: 'none' })));
    assert.equal(wakes, 1);
  });

  it('a deploy takes the address that has been free for the longest time', async () => {
    const free = await world.db.rows<{ addr: string }>(
      'select host(addr) as addr from ipv4_addresses where region_id = $1 order by addr',
      [regionId],
    );
    await world.db.run(`update ipv4_addresses set free_from = free_from - interval '1 day' where addr = $1`, [
      free[3]?.addr,
    ]);
    const { server } = await buy();
    assert.deepEqual(
      await world.db.row('select host(addr) as addr from ipv4_addresses where server_id = $1', [server.id]),
      free[3],
    );
  });

  it('a deploy can use the last cent of a balance, but not one cent more', async () => {
    const exact = await world.fixtures.addCustomer(PRICE);
    assert.equal((await deploy(world.service, exact, order())).balanceAfterCents, 0n);
    const short = await world.fixtures.addCustomer(PRICE - 1n);
    const failure = await refusal(() => deploy(world.service, short, order()));
    assert.equal(failure.code, 'insufficient_balance');
    assert.deepEqual(failure.extras, { have: 4.99, need: 5, deficit: 0.01 });
  });

  it('a deploy is refused to a customer whose balance a reversal made negative', async () => {
    await world.db.run('update balances set balance_cents = -1 where customer_id = $1', [actor.customerId]);
    const failure = await refusal(() => buy());
    assert.deepEqual(failure.extras, { have: -0.01, need: 5, deficit: 5.01 });
    await world.db.run('update balances set balance_cents = 10000 where customer_id = $1', [
      actor.customerId,
    ]);
  });

  it('a deploy is refused to a frozen customer before any other reason', async () => {
    await world.db.run('update customers set frozen_at = now() where id = $1', [actor.customerId]);
    assert.equal((await refusal(() => buy())).code, 'account_frozen');
    assert.equal((await refusal(() => buy({ regionId: 'none' }))).code, 'account_frozen');
  });

  it('a deploy beyond the server quota is refused', async () => {
    const servers = (count: number) =>
      world.db.run('update balances set servers = $2 where customer_id = $1', [actor.customerId, count]);
    await servers(QUOTAS.servers);
    const failure = await refusal(() => buy());
    assert.equal(failure.code, 'limit_reached');
    assert.deepEqual(failure.extras, { limit: QUOTAS.servers, used: QUOTAS.servers });
    await servers(QUOTAS.servers - 1);
    assert.ok(await buy());
  });

  it('a deploy is refused where the plan is not sold, even with free capacity', async () => {
    await world.db.run(`delete from plan_regions where plan_id = 's1' and region_id = $1`, [regionId]);
    assert.equal((await refusal(() => buy())).code, 'out_of_stock');
  });

  it('a deploy reports missing stock before a missing balance', async () => {
    const poor = await world.fixtures.addCustomer(0n);
    assert.equal(
      (await refusal(() => deploy(world.service, poor, order({ regionId: 'none' })))).code,
      'out_of_stock',
    );
  });
});

describe('billing cycle', () => {
  it('a cycle is charged at the price that its plan shows', async () => {
    await world.fixtures.addHosts([20], regionId);
    await world.fixtures.addAddresses(12, 12, regionId);
    actor = await world.fixtures.addCustomer(100_000n);
    // The discounts leave less than half a cent in the first case, and exactly half a cent in the others.
    for (const monthCents of [501n, 505n, 502n]) {
      const plan = { ...S2, price_cents_month: monthCents };
      await world.db.run('update plans set price_cents_month = $1 where id = $2', [monthCents, plan.id]);
      for (const { billing_months: billingMonths, price_usd } of (await getPlan(world.service, plan.id))
        .cycles) {
        const { server } = await buy({ plan, billingMonths });
        assert.equal(centsToUsd(server.price_cents_cycle), price_usd);
      }
    }
  });

  it('a cycle ends on its anchor day, or on the last day of a shorter month', async () => {
    await world.fixtures.addHosts([5], regionId);
    await world.fixtures.addAddresses(5, 5, regionId);
    world.clock.moveTo(new Date('2032-01-31T10:00:00Z'));
    for (const [billingMonths, end] of [
      [1, '2032-02-29'],
      [3, '2032-04-30'],
      [6, '2032-07-31'],
      [12, '2033-01-31'],
    ] as const) {
      const { server } = await buy({ billingMonths });
      assert.equal(server.paid_until.toISOString(), `${end}T10:00:00.000Z`);
    }
  });
});
