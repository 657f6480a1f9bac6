import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { ensureMachine } from '../../../../src/domain/servers/deploy/provision.ts';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { rebootServer, stopServer } from '../../../../src/domain/servers/operations/power.ts';
import { rebuildServer } from '../../../../src/domain/servers/operations/reinstall.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { formatId, newId } from '../../../../src/kernel/ids.ts';
import { claimOperations } from '../../../../src/store/servers/operations.ts';
import { operateJob } from '../../../../src/workers/operate.ts';
import type { TestService } from '../../../support/test-service.ts';
import { BALANCE, RegionWorld } from '../region-world.ts';

let region: RegionWorld;
let world: TestService;

before(async () => {
  region = await RegionWorld.open();
  world = region.world;
});
after(() => world.close());
beforeEach(() => region.reset());
afterEach(async () => {
  mock.restoreAll();
  await world.assertInvariants();
});

const destroy = (id: string) => destroyServer(world.service, region.actor, formatId('server', id));

async function assertNotFound(work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => error instanceof Failure && error.code === 'not_found');
}

describe('destroyServer', () => {
  it('a destroyed server is destroying until its machine is removed, then not found', async () => {
    const { id } = await region.running();
    for (const { status, refund_usd } of [await destroy(id), await destroy(id)])
      assert.deepEqual([status, refund_usd], ['destroying', 0]);
    assert.notEqual(await region.machine(id), undefined);
    await world.runUntilIdle();
    assert.equal(await region.machine(id), undefined);
    await assertNotFound(destroy(id));
    assert.deepEqual((await region.events()).slice(2), ['server.running', 'server.destroyed']);
    assert.deepEqual(await region.usedHosts(), {});
    assert.deepEqual(await region.freeAddresses(), { four: 4, six: 4 });
    assert.equal(await region.balance(), BALANCE - 500n);
  });

  it('a server destroyed before it ran is refunded in full, and its addresses are free at once', async () => {
    for (const lead of [async () => undefined, () => region.runDueWork()]) {
      const id = await region.order();
      await lead();
      // A repeated request returns the same refund.
      for (const { status, refund_usd } of [await destroy(id), await destroy(id)])
        assert.deepEqual([status, refund_usd], ['destroying', 5]);
      assert.equal(await region.balance(), BALANCE);
      await world.runUntilIdle();
      assert.ok(await region.isGone(id));
      assert.equal(await region.machine(id), undefined);
      assert.deepEqual(await region.freeAddresses(), { four: 5, six: 5 });
    }
    assert.ok(!(await region.events()).includes('server.running'));
  });

  it('a server can be destroyed in any status and during any operation', async () => {
    const started = async (act: (shown: string) => Promise<unknown>, rounds: number) => {
      const { id, shown } = await region.running();
      await act(shown);
      for (let n = 0; n < rounds; n++) {
        await region.runDueWork();
        world.clock.advanceS(1);
      }
      return id;
    };
    const { service } = world;
    const leads = [
      () => started((shown) => stopServer(service, region.actor, shown), 1),
      () => started((shown) => rebootServer(service, region.actor, shown, { hard: false }), 2),
      async () => {
        const key = await region.sshKey('ssh-ed25519 AAAAkey');
        return await started(
          (shown) => rebuildServer(service, region.actor, shown, { ssh_keys: [key.shown] }),
          1,
        );
      },
      async () => {
        const { id } = await region.running();
        const suspend = `update servers set status = 'suspended', suspended_reason = 'operator'
                          where id = $1`;
        await world.db.run(suspend, [id]);
        return id;
      },
    ];
    for (const lead of leads) {
      const id = await lead();
      const shown = await destroy(id);
      assert.deepEqual([shown.status, shown.suspended_reason], ['destroying', null]);
      await world.runUntilIdle();
      assert.ok(await region.isGone(id));
      assert.equal(await region.machine(id), undefined);
    }
    assert.ok(!(await region.events()).includes('server.rebuilt'));
  });

  it('a server is not found for another customer or under a wrong id', async () => {
    const { id, shown } = await region.running();
    await assertNotFound(destroyServer(world.service, await world.fixtures.addCustomer(), shown));
    await assertNotFound(destroyServer(world.service, region.actor, 'srv_nonsense'));
    await assertNotFound(destroy(newId(new Date())));
    assert.equal((await region.server(id)).status, 'running');
  });

  it('a destroyed server leaves its firewall groups', async () => {
    const { id } = await region.running();
    const groupId = newId(world.clock.now());
    await world.db.run(
      `insert into firewall_groups (id, customer_id, name, default_action, created_at)
       values ($1, $2, 'g', 'drop', now())`,
      [groupId, region.customerId],
    );
    await world.db.run(`insert into firewall_attachments (server_id, group_id) values ($1, $2)`, [
      id,
      groupId,
    ]);
    await destroy(id);
    assert.deepEqual(await world.db.rows('select * from firewall_attachments'), []);
    await world.runUntilIdle();
  });
});

describe('a removal that takes over a server during a driver call', () => {
  /** Destroys the server during the driver call, and lets the call end after a second worker has run. */
  async function destroyedDuring(verb: 'ensure' | 'rebuild', id: string): Promise<string[]> {
    const order: string[] = [];
    const { compute } = world.service;
    const call = compute[verb].bind(compute);
    const remove = compute.remove.bind(compute);
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    mock.method(compute, 'remove', async (machine: string) => {
      order.push('remove');
      await remove(machine);
    });
    mock.method(compute, verb, async (spec: Parameters<typeof call>[0]) => {
      entered.resolve();
      await leave.promise;
      order.push(verb);
      await call(spec);
    });
    const first = region.runDueWork();
    await entered.promise;
    await destroy(id);
    assert.equal(await operateJob(world.service).run(), 0, 'a second worker must find nothing to do');
    assert.deepEqual(order, []);
    leave.resolve();
    await first;
    await world.runUntilIdle();
    return order;
  }

  it('a removal starts after the install call ends, and leaves no machine behind', async () => {
    const id = await region.order();
    assert.deepEqual(await destroyedDuring('ensure', id), ['ensure', 'remove']);
    assert.ok(await region.isGone(id));
    assert.equal(await region.machine(id), undefined);
    assert.equal(await region.balance(), BALANCE);
    assert.deepEqual(await region.events(), ['server.created', 'billing.charged', 'server.destroyed']);
  });

  it('a removal starts after the rebuild call ends', async () => {
    const { id, shown } = await region.running();
    const key = await region.sshKey('ssh-ed25519 AAAAkey');
    await rebuildServer(world.service, region.actor, shown, { ssh_keys: [key.shown] });
    assert.deepEqual(await destroyedDuring('rebuild', id), ['rebuild', 'remove']);
    assert.equal(await region.machine(id), undefined);
    assert.deepEqual((await region.events()).slice(2), ['server.running', 'server.destroyed']);
  });

  it('a removal starts when a dead worker’s lease expires, and the late worker makes no call', async () => {
    const id = await region.order();
    const { compute } = world.service;
    const ensure = mock.method(compute, 'ensure');
    // The worker sleeps between its claim and its call.
    const wakeUp = Promise.withResolvers<void>();
    const asleep = Promise.withResolvers<void>();
    const db = new Proxy(world.service.db, {
      get: (target, name) => {
        if (name !== 'row') return Reflect.get(target, name);
        return async (text: string, values: unknown[]) => {
          if (text.includes('leased_until > clock_timestamp()') && text.includes('lease_id = $2')) {
            asleep.resolve();
            await wakeUp.promise;
          }
          return await target.row(text, values);
        };
      },
    });
    const [held] = await claimOperations(world.db, {
      leaseId: newId(new Date()),
      now: world.clock.now(),
      leaseS: 60,
      limit: 1,
    });
    assert.equal(held?.server_id, id);
    const late = ensureMachine({ ...world.service, db }, held).catch(
      (error: Error) => error.constructor.name,
    );
    await asleep.promise;
    await destroy(id);
    await region.runDueWork();
    assert.equal((await region.server(id)).status, 'destroying');
    await world.db.run(`update operations set leased_until = clock_timestamp() - interval '1 second'`);
    await world.runUntilIdle();
    assert.ok(await region.isGone(id));
    wakeUp.resolve();
    assert.equal(await late, 'LeaseLost');
    assert.equal(ensure.mock.callCount(), 0);
  });
});
