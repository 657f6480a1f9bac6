import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { sweepCalendar } from '../../../../src/domain/billing/sweep.ts';
import { stopServer } from '../../../../src/domain/servers/operations/power.ts';
import { ComputeError } from '../../../../src/ports/compute.ts';
import { R1 } from '../../../support/fixtures.ts';
import { ResizeWorld, refused } from './resize-world.ts';

let resizes: ResizeWorld;
before(async () => {
  resizes = await ResizeWorld.open();
});
after(() => resizes.world.close());
beforeEach(() => resizes.reset());
afterEach(async () => {
  mock.restoreAll();
  await resizes.world.assertInvariants();
});

async function stop(): Promise<void> {
  await stopServer(resizes.world.service, resizes.region.actor, resizes.shown);
  await resizes.world.runUntilIdle();
}

/** Makes the driver fail for the rest of the test, or so many times. */
function failing(fault: 'refused' | 'host' | 'transient', times = Number.POSITIVE_INFINITY): void {
  const { compute } = resizes.world.service;
  const real = compute.resize.bind(compute);
  let calls = 0;
  mock.method(compute, 'resize', async (...args: Parameters<typeof real>) => {
    if (calls++ < times) throw new ComputeError(fault, 'no room');
    return await real(...args);
  });
}

describe('a resize', () => {
  it('restarts a running server with the memory of its new plan, and keeps its disk', async () => {
    const shown = await resizes.resize({ plan: 's2', restart: true });
    assert.deepEqual([shown.plan, shown.status, shown.disk_gb], ['s2', 'running', 10]);
    assert.equal(shown.price_usd_cycle, 10);
    await resizes.world.runUntilIdle();
    assert.deepEqual(await resizes.machine(), [2048, 10, 'running']);
    const { plan_id, ram_mb, disk_gb, status } = await resizes.server();
    assert.deepEqual([plan_id, ram_mb, disk_gb, status], ['s2', 2048, 10, 'running']);
    assert.deepEqual(await resizes.events(), ['server.resized', 'billing.charged', 'server.rebooted']);
    assert.deepEqual((await resizes.region.auditedActions()).slice(-2), [
      'server.resize ok',
      'server.resize ok',
    ]);
  });

  it('enlarges the disk only on request, and a stopped server stays stopped', async () => {
    await stop();
    await resizes.resized({ plan: 's2', resize_disk: true });
    assert.deepEqual(await resizes.machine(), [2048, 20, 'stopped']);
    assert.equal((await resizes.server()).disk_gb, 20);
    assert.deepEqual((await resizes.events()).slice(1), ['server.resized', 'billing.charged']);
    assert.deepEqual(await refused(resizes.resize({ plan: 's1' })), ['mismatch', 'plan']);
  });

  it('enlarges the disk of the same plan later, and that costs nothing', async () => {
    await resizes.resized({ plan: 's2' });
    const before = await resizes.region.balance();
    await resizes.resized({ plan: 's2', resize_disk: true });
    assert.deepEqual(await resizes.machine(), [2048, 20, 'running']);
    assert.equal(await resizes.region.balance(), before);
    assert.equal((await resizes.booked()).length, 1);
  });

  it('refunds a smaller plan once the machine has it, and frees the room then', async () => {
    await resizes.resized({ plan: 's2' });
    const before = await resizes.region.balance();
    await resizes.resize({ plan: 's1', restart: true });
    assert.equal(await resizes.region.balance(), before);
    assert.deepEqual(Object.values(await resizes.region.usedHosts()), [2]);
    await resizes.world.runUntilIdle();
    assert.deepEqual(await resizes.machine(), [1024, 10, 'running']);
    assert.deepEqual(Object.values(await resizes.region.usedHosts()), [1]);
    assert.deepEqual(
      (await resizes.booked()).map(({ type }) => type),
      ['charge', 'refund'],
    );
    assert.deepEqual((await resizes.events()).slice(3), ['server.resized', 'server.rebooted']);
  });

  it('renews at the price of the new plan', async () => {
    const { paid_until: end } = await resizes.server();
    await resizes.resized({ plan: 's2' });
    const server = await resizes.server();
    assert.deepEqual([server.paid_until, server.price_cents_cycle], [end, 1000n]);
  });
});

describe('a resize that fails', () => {
  for (const fault of ['refused', 'host'] as const) {
    it(`puts back the plan and the money, and the server runs again (${fault})`, async () => {
      const before = await resizes.server();
      const balance = await resizes.region.balance();
      failing(fault, 1);
      await resizes.resized({ plan: 's2', resize_disk: true });
      const { updated_at: _, ...now } = await resizes.server();
      const { updated_at: __, ...then } = before;
      assert.deepEqual(now, then);
      assert.equal(await resizes.region.balance(), balance);
      assert.deepEqual(await resizes.machine(), [1024, 10, 'running']);
      assert.deepEqual(Object.values(await resizes.region.usedHosts()), [1]);
      assert.deepEqual(
        (await resizes.booked()).map(({ type }) => type),
        ['charge', 'refund'],
      );
      assert.deepEqual(await resizes.events(), [
        'server.resized',
        'billing.charged',
        'server.resized',
        'server.rebooted',
      ]);
      assert.ok((await resizes.region.auditedActions()).includes('server.resize error'));
    });
  }

  it('books nothing if the plan was a smaller one', async () => {
    await resizes.resized({ plan: 's2' });
    const balance = await resizes.region.balance();
    const before = await resizes.server();
    failing('refused', 1);
    await resizes.resized({ plan: 's1' });
    assert.equal(await resizes.region.balance(), balance);
    const after = await resizes.server();
    assert.deepEqual(
      [after.plan_id, after.ram_mb, after.paid_cents, after.paid_from],
      [before.plan_id, before.ram_mb, before.paid_cents, before.paid_from],
    );
  });

  it('goes back if the machine does not start with its new size', async () => {
    const { compute } = resizes.world.service;
    const power = compute.power.bind(compute);
    let starts = 0;
    mock.method(compute, 'power', async (id: string, action: 'on' | 'off' | 'acpi' | 'reset') => {
      if (action === 'on' && starts++ < 4) throw new ComputeError('host', 'out of memory');
      await power(id, action);
    });
    const balance = await resizes.region.balance();
    await resizes.resized({ plan: 's2', resize_disk: true });
    // A disk never shrinks.
    assert.deepEqual(await resizes.machine(), [1024, 20, 'running']);
    const { plan_id, disk_gb } = await resizes.server();
    assert.deepEqual([plan_id, disk_gb], ['s1', 20]);
    assert.equal(await resizes.region.balance(), balance);
  });

  it('returns what a renewal in the meantime charged too much', async () => {
    failing('transient');
    await resizes.resize({ plan: 's2', restart: true });
    for (let n = 0; n < 8; n++) {
      await resizes.region.runDueWork();
      resizes.world.clock.advanceS(1);
    }
    const { paid_until: end } = await resizes.server();
    resizes.world.clock.moveTo(new Date(end.getTime() + 1000));
    for (let n = 0; n < 100 && (await sweepCalendar(resizes.world.service)) > 0; n++);
    mock.restoreAll();
    failing('refused', 1);
    await resizes.world.runUntilIdle();
    const entries = await resizes.booked();
    const sum = entries.reduce((all, { type, cents }) => all + (type === 'charge' ? cents : -cents), 0n);
    // A second cycle of s1.
    assert.equal(sum, 500n);
    assert.equal((await resizes.server()).price_cents_cycle, 500n);
  });

  it('waits for a silent host', async () => {
    const host = await resizes.hostOf();
    await resizes.world.simulator.setHostDown(host, true);
    await resizes.resize({ plan: 's2', restart: true });
    for (let n = 0; n < 5; n++) {
      resizes.world.clock.advanceS(30);
      await resizes.region.runDueWork();
    }
    await resizes.world.simulator.setHostDown(host, false);
    await resizes.world.runUntilIdle();
    assert.deepEqual(await resizes.machine(), [2048, 10, 'running']);
  });
});

describe('a resize is refused', () => {
  it('in a wrong state, with the field that decides', async () => {
    assert.deepEqual(await refused(resizes.resize({ plan: 's2' })), ['wrong_state', 'restart']);
    await resizes.world.db.run(`update servers set status = 'installing' where id = $1`, [resizes.id]);
    assert.deepEqual(await refused(resizes.resize({ plan: 's2', restart: true })), ['wrong_state', 'status']);
    await resizes.world.db.run(`update servers set status = 'running' where id = $1`, [resizes.id]);
    await resizes.resize({ plan: 's2', restart: true });
    assert.deepEqual(await refused(resizes.resize({ plan: 's3', restart: true })), [
      'conflict_state',
      undefined,
    ]);
    await resizes.world.runUntilIdle();
  });

  it('to a plan that the server cannot have', async () => {
    const { db, fixtures } = resizes.world;
    const to = (plan: string) => refused(resizes.resize({ plan, restart: true }));
    assert.deepEqual(await to('s9'), ['unknown_reference', 'plan']);
    assert.deepEqual(await to('s1'), ['invalid_value', 'plan']);
    assert.deepEqual(await to(R1.id), ['mismatch', 'plan']);
    await db.run(`update plans set active = false where id = 's2'`);
    assert.deepEqual(await to('s2'), ['unavailable', 'plan']);
    await db.run(`delete from plan_regions where plan_id = 's3' and region_id = $1`, [
      resizes.region.regionId,
    ]);
    assert.deepEqual(await to('s3'), ['mismatch', 'plan']);
    await fixtures.addPlans([resizes.region.regionId], []);
    assert.deepEqual(await resizes.booked(), []);
  });

  it('without room anywhere, and changes nothing', async () => {
    await resizes.world.db.run('update hosts set reserve_ram_mb = ram_mb where region_id = $1', [
      resizes.region.regionId,
    ]);
    const before = await resizes.server();
    assert.deepEqual(await refused(resizes.resize({ plan: 's2', restart: true })), [
      'out_of_stock',
      undefined,
    ]);
    assert.deepEqual(await resizes.server(), before);
  });

  it('without the balance for it, or above a price that the request accepts', async () => {
    const { db } = resizes.world;
    assert.deepEqual(await refused(resizes.resize({ plan: 's2', restart: true, max_price_usd: 1 })), [
      'price_changed',
      'max_price_usd',
    ]);
    await db.run('update balances set balance_cents = 10 where customer_id = $1', [
      resizes.region.customerId,
    ]);
    assert.deepEqual(await refused(resizes.resize({ plan: 's2', restart: true })), [
      'insufficient_balance',
      undefined,
    ]);
    await db.run('update balances set balance_cents = 9500 where customer_id = $1', [
      resizes.region.customerId,
    ]);
  });
});
