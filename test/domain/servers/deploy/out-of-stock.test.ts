import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CustomerActor } from '../../../../src/domain/context.ts';
import { type Deployed, deploy } from '../../../../src/domain/servers/deploy/deploy.ts';
import type { DeployOrder } from '../../../../src/domain/servers/deploy/prepare.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { dumpTables } from '../../../support/dump-tables.ts';
import { R1, S1 } from '../../../support/fixtures.ts';
import { startTestService, type TestService } from '../../../support/test-service.ts';

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
  await world.fixtures.addPlans([regionId], [S1, R1]);
  actor = await world.fixtures.addCustomer(10_000n);
});

const buy = (wanted: Partial<DeployOrder> = {}): Promise<Deployed> =>
  deploy(world.service, actor, world.fixtures.buildOrder({ regionId, ...wanted }));

/** Asserts that a deploy is refused as out of stock and changes nothing. */
async function assertOutOfStock(wanted: Partial<DeployOrder> = {}): Promise<void> {
  const before = await dumpTables(world.db);
  await assert.rejects(
    buy(wanted),
    (error: unknown) => error instanceof Failure && error.code === 'out_of_stock',
  );
  assert.deepEqual(await dumpTables(world.db), before);
}

describe('out of stock', () => {
  const addStock = async (rooms: readonly number[], four: number, six: number) => {
    await world.fixtures.addHosts(rooms, regionId);
    await world.fixtures.addAddresses(four, six, regionId);
  };

  it('a deploy is out of stock without an IPv4 address', async () => {
    await addStock([5], 0, 5);
    await assertOutOfStock();
  });

  it('a deploy is out of stock without a /64', async () => {
    await addStock([5], 5, 0);
    await assertOutOfStock();
  });

  it('a deploy is out of stock without a host', async () => {
    await addStock([], 5, 5);
    await assertOutOfStock();
  });

  it('a deploy is out of stock when no host has enough memory, or none has enough disk', async () => {
    await addStock([0, 0], 5, 5);
    await assertOutOfStock();
    await world.db.run('update hosts set ram_mb = ram_mb * 100 where region_id = $1', [regionId]);
    await assertOutOfStock();
    await world.db.run('update hosts set disk_gb = disk_gb * 100 where region_id = $1', [regionId]);
    assert.ok(await buy());
  });

  it('a deploy is out of stock while the only host is draining', async () => {
    await addStock([5], 5, 5);
    await world.db.run('update hosts set draining = true where region_id = $1', [regionId]);
    await assertOutOfStock();
  });

  it('a deploy is out of stock exactly until the only addresses end their rest period', async () => {
    await addStock([5], 1, 1);
    const freeFrom = new Date(world.clock.now().getTime() + 1_000);
    await world.db.run('update ipv4_addresses set free_from = $2 where region_id = $1', [regionId, freeFrom]);
    await assertOutOfStock();
    world.clock.advanceS(1);
    assert.ok(await buy());
  });

  it('a deploy is out of stock when the remaining prefixes are blocked', async () => {
    await addStock([5], 1, 1);
    await world.db.run('update ipv6_prefixes set blocked = true where region_id = $1', [regionId]);
    await assertOutOfStock();
  });

  it('a dedicated deploy is out of stock without a free machine of its plan and region', async () => {
    await addStock([5], 5, 5);
    const other = `${regionId}y`;
    await world.fixtures.addPlans([other], [R1]);
    await world.fixtures.addMachines(1, R1, other);
    await assertOutOfStock({ plan: R1 });
    const [machine] = await world.fixtures.addMachines(1, R1, regionId);
    const { server } = await buy({ plan: R1 });
    const row = await world.db.row('select name, server_id from machines where server_id = $1', [server.id]);
    assert.deepEqual(row, { name: machine, server_id: server.id });
    await assertOutOfStock({ plan: R1 });
  });
});
