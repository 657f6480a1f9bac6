import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { restoreServer } from '../../../../src/domain/servers/operations/reinstall.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { formatId, newId } from '../../../../src/kernel/ids.ts';
import { ComputeError } from '../../../../src/ports/compute.ts';
import { R1 } from '../../../support/fixtures.ts';
import type { TestService } from '../../../support/test-service.ts';
import { RegionWorld } from '../region-world.ts';

let region: RegionWorld;
let world: TestService;
let id: string;
let shown: string;

before(async () => {
  region = await RegionWorld.open();
  world = region.world;
});
after(() => world.close());
beforeEach(async () => {
  await region.reset();
  ({ id, shown } = await region.running());
});
afterEach(async () => {
  mock.restoreAll();
  await world.db.run('delete from snapshots');
  await world.assertInvariants();
});

const status = async () => (await region.server(id)).status;
const newEvents = async () => (await region.events()).slice(3);

async function refused(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => assert.fail('the request succeeded'),
    (error: unknown) => {
      assert.ok(error instanceof Failure, String(error));
      return `${error.code} ${error.extras.field ?? ''}`.trim();
    },
  );
}

describe('restore', () => {
  async function snapshot(
    row: { serverId?: string; customerId?: string; status?: string; region?: string; diskGb?: number } = {},
  ) {
    const snapshotId = newId(world.clock.now());
    const server = await region.server(id);
    await world.db.run(
      `insert into snapshots (id, customer_id, server_id, region_id, disk_gb, image_id, generation, name,
                              size_gb, status, created_at)
       values ($snapshotId, $customerId, $serverId, $region, $diskGb, $image_id, 1, 'snap', 1,
               $status, $now)`,
      {
        snapshotId,
        customerId: row.customerId ?? region.customerId,
        serverId: row.serverId ?? id,
        region: row.region ?? server.region_id,
        diskGb: row.diskGb ?? server.disk_gb,
        image_id: server.image_id,
        status: row.status ?? 'ready',
        now: world.clock.now(),
      },
    );
    return { id: snapshotId, shown: formatId('snapshot', snapshotId) };
  }
  const restore = (snapshotShown: string, server = shown) =>
    restoreServer(world.service, region.actor, server, snapshotShown);

  it('a restore puts the snapshot on a new disk and completes like a rebuild', async () => {
    const taken = await snapshot();
    await world.service.compute.snapshot(id, taken.id);
    world.clock.advanceS(60);
    const response = await restore(taken.shown);
    assert.equal(response.status, 'installing');
    await world.runUntilIdle();
    assert.deepEqual((await region.machine(id))?.disks, [2]);
    assert.deepEqual([await status(), await newEvents()], ['running', ['server.rebuilt']]);
  });

  it('a restore refuses a snapshot that is unknown, not ready, in another region, or too large', async () => {
    const foreign = await snapshot({ customerId: (await world.fixtures.addCustomer()).customerId });
    const cases = [
      ['snap_nonsense', 'unknown_reference snapshot'],
      [foreign.shown, 'unknown_reference snapshot'],
      [(await snapshot({ status: 'creating' })).shown, 'conflict_state'],
      [(await snapshot({ status: 'error' })).shown, 'conflict_state'],
      [(await snapshot({ diskGb: 11 })).shown, 'invalid_value snapshot'],
    ] as const;
    for (const [wanted, reason] of cases) assert.equal(await refused(restore(wanted)), reason);
    await world.fixtures.addPlans(['elsewhere']);
    assert.equal(
      await refused(restore((await snapshot({ region: 'elsewhere' })).shown)),
      'invalid_value snapshot',
    );
  });

  it('a restore that the driver refuses leaves the server as it was', async () => {
    const missing = await snapshot();
    await restore(missing.shown);
    await world.runUntilIdle();
    assert.deepEqual([await status(), (await region.machine(id))?.disks], ['running', [1]]);
    assert.ok((await region.auditedActions()).includes('server.restore error'));
  });

  it('a long restore survives occasional host faults', async () => {
    const taken = await snapshot();
    const { compute } = world.service;
    await compute.snapshot(id, taken.id);
    world.clock.advanceS(60);
    const call = compute.restore.bind(compute);
    const faults = ['transient', 'transient', 'host', 'transient', 'transient', 'host', 'transient'] as const;
    let calls = 0;
    mock.method(compute, 'restore', async (...args: Parameters<typeof call>) => {
      const fault = faults[calls++];
      if (fault) throw new ComputeError(fault, 'not now');
      await call(...args);
    });
    await restore(taken.shown);
    await world.runUntilIdle();
    assert.equal(calls, faults.length + 1);
    assert.deepEqual([await newEvents(), (await region.machine(id))?.disks], [['server.rebuilt'], [2]]);
  });

  it('a restore that its host repeatedly cannot do is rolled back at the driver', async () => {
    const { compute } = world.service;
    let calls = 0;
    mock.method(compute, 'restore', async () => {
      calls += 1;
      throw new ComputeError(calls % 2 === 0 ? 'host' : 'transient', 'not now');
    });
    const power = mock.method(compute, 'power');
    await restore((await snapshot()).shown);
    await world.runUntilIdle();
    assert.equal(calls, 10);
    assert.deepEqual(
      power.mock.calls.map(({ arguments: args }) => args),
      [[id, 'on']],
    );
    assert.deepEqual([await status(), (await region.machine(id))?.disks], ['running', [1]]);
  });

  it('a restore is unavailable on hardware without snapshots', async () => {
    await world.fixtures.addMachines(1, R1, region.regionId);
    const dedicated = await region.running({ plan: { ...R1, price_cents_month: 100n } });
    assert.equal(await refused(restore((await snapshot()).shown, dedicated.shown)), 'unavailable snapshot');
  });
});
