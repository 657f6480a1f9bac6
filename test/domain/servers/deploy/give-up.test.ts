import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { formatId } from '../../../../src/kernel/ids.ts';
import { ComputeError } from '../../../../src/ports/compute.ts';
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
afterEach(() => mock.restoreAll());

describe('a server that no host can create', () => {
  beforeEach(() => world.faults.set({ driver: 'compute', operation: 'ensure', times: 3 }));

  it('a server that no host can create is refunded and removed, and frees its addresses', async () => {
    const id = await region.order();
    assert.deepEqual(await region.freeAddresses(), { four: 4, six: 4 });
    await world.runUntilIdle();
    assert.ok(await region.isGone(id));
    assert.equal(await region.machine(id), undefined);
    assert.equal(await region.balance(), BALANCE);
    assert.deepEqual(await region.usedHosts(), {});
    assert.deepEqual(await region.freeAddresses(), { four: 5, six: 5 });
    const count = await world.db.row('select servers from balances where customer_id = $1', [
      region.customerId,
    ]);
    assert.deepEqual(count, { servers: 0 });
    await world.assertInvariants();
  });

  it('a failed server is consistent in events, audit log, and ledger', async () => {
    const id = await region.order();
    await world.runUntilIdle();
    assert.deepEqual(await region.events(), ['server.created', 'billing.charged', 'server.destroyed']);
    const actions = ['server.create ok', 'server.fail error', 'server.remove ok'];
    assert.deepEqual(await region.auditedActions(), actions);
    const last = await world.db.row<{ data: { server: Record<string, unknown> } }>(
      `select data from events where customer_id = $1 and type = 'server.destroyed'`,
      [region.customerId],
    );
    const { id: shown, status, ipv4 } = last?.data.server ?? {};
    assert.deepEqual(
      { shown, status, ipv4 },
      { shown: formatId('server', id), status: 'destroying', ipv4: null },
    );
    const entries = await world.db.rows(
      `select type, amount_cents, credit_account = customer_id as given, balance_after_cents as left
         from transfers where resource_id = $1 order by id`,
      [id],
    );
    assert.deepEqual(entries, [
      { type: 'charge', amount_cents: 500n, given: false, left: 9_500n },
      { type: 'refund', amount_cents: 500n, given: true, left: 10_000n },
    ]);
  });

  it('a refunded server stays destroying until its machine is confirmed as removed', async () => {
    const id = await region.order();
    const { compute } = world.service;
    const remove = compute.remove.bind(compute);
    let silent = true;
    mock.method(compute, 'remove', async (machineId: string) => {
      if (silent && (await region.server(machineId)).status === 'destroying') throw new Error('no answer');
      await remove(machineId);
    });
    for (let n = 0; n < 12; n++) {
      world.clock.advanceS(30);
      await region.runDueWork();
    }
    assert.equal((await region.server(id)).status, 'destroying');
    assert.equal(await region.balance(), BALANCE);
    assert.deepEqual(await region.freeAddresses(), { four: 4, six: 4 });
    silent = false;
    await world.runUntilIdle();
    assert.ok(await region.isGone(id));
    assert.deepEqual(await region.freeAddresses(), { four: 5, six: 5 });
    await world.assertInvariants();
  });

  it('a refunded customer can order again with the same money', async () => {
    await region.order();
    await world.runUntilIdle();
    const again = await region.order();
    await world.runUntilIdle();
    assert.equal((await region.server(again)).status, 'running');
    assert.equal(await region.balance(), 9_500n);
  });
});

describe('a server that the driver refuses', () => {
  it('a refused server is refunded without trying another host', async () => {
    const id = await region.order();
    const ensure = mock.method(world.service.compute, 'ensure', async () => {
      throw new ComputeError('refused', 'no such image');
    });
    await world.runUntilIdle();
    assert.equal(ensure.mock.callCount(), 1);
    assert.ok(await region.isGone(id));
    assert.equal(await region.balance(), BALANCE);
    assert.deepEqual(await region.usedHosts(), {});
    await world.assertInvariants();
  });

  it('a refused server is given up only after its host confirms that the machine is absent', async () => {
    const id = await region.order();
    mock.method(world.service.compute, 'ensure', async () => {
      throw new ComputeError('refused', 'no such image');
    });
    mock.method(world.service.compute, 'remove', async () => {
      throw new ComputeError('transient', 'no answer');
    });
    for (let n = 0; n < 3; n++) {
      await region.runDueWork();
      world.clock.advanceS(30);
    }
    const row = await world.db.row('select step, attempts from operations where server_id = $1', [id]);
    assert.deepEqual(row, { step: 'give_up', attempts: 3 });
    assert.equal(await region.balance(), 9_500n);
    mock.restoreAll();
    await world.runUntilIdle();
    assert.equal(await region.balance(), BALANCE);
    await world.assertInvariants();
  });
});

describe('a server that is removed after it ran', () => {
  it('a removed server frees its host at once, and its addresses rest for seven days', async () => {
    const id = await region.order();
    await world.runUntilIdle();
    await world.db.run(`update servers set status = 'destroying' where id = $1`, [id]);
    await world.db.run(
      `insert into operations (id, server_id, kind, step, placed_at, due_at, created_at)
       values ($1, $1, 'destroy', 'remove', $2, $2, $2)`,
      [id, world.clock.now()],
    );
    await world.runUntilIdle();
    assert.ok(await region.isGone(id));
    assert.equal(await region.machine(id), undefined);
    assert.deepEqual(await region.usedHosts(), {});
    world.clock.advanceS(7 * 86_400 - 1);
    assert.deepEqual(await region.freeAddresses(), { four: 4, six: 4 });
    world.clock.advanceS(1);
    assert.deepEqual(await region.freeAddresses(), { four: 5, six: 5 });
    assert.equal(await region.balance(), 9_500n);
    await world.assertInvariants();
  });
});
