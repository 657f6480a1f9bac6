import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { createGroup } from '../../../src/domain/firewall/create-group.ts';
import { getGroup } from '../../../src/domain/firewall/find.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { R1 } from '../../support/fixtures.ts';
import type { TestService } from '../../support/test-service.ts';
import { RegionWorld } from './region-world.ts';

let region: RegionWorld;
let world: TestService;

before(async () => {
  region = await RegionWorld.open();
  world = region.world;
});
after(() => world.close());
beforeEach(() => region.reset());
afterEach(() => mock.restoreAll());

describe('a host that fails', () => {
  it('is left for another one, and its room is given back', async () => {
    const id = await region.order();
    const [failed] = Object.keys(await region.usedHosts());
    await world.faults.set({ driver: 'compute', operation: 'ensure', times: 1 });
    await world.runUntilIdle();
    const made = await region.machine(id);
    assert.equal((await region.server(id)).status, 'running');
    assert.notEqual(made?.host, failed);
    assert.deepEqual(await region.usedHosts(), { [made?.host ?? '']: 1 });
    assert.deepEqual(await region.events(), ['server.created', 'billing.charged', 'server.running']);
    await world.assertInvariants();
  });

  it('for reasons that might pass is tried five times, a little later each time', async () => {
    const id = await region.order();
    const [first] = Object.keys(await region.usedHosts());
    const begun = world.clock.now().getTime();
    const tries: { host: string; afterS: number }[] = [];
    const { compute } = world.service;
    const ensure = compute.ensure.bind(compute);
    mock.method(compute, 'ensure', async (spec: Parameters<typeof ensure>[0]) => {
      tries.push({ host: spec.host, afterS: (world.clock.now().getTime() - begun) / 1000 });
      if (spec.host === first) throw new Error('connection reset');
      await ensure(spec);
    });
    await world.runUntilIdle();
    assert.deepEqual(
      tries.map(({ host, afterS }) => (host === first ? afterS : 'elsewhere')),
      [0, 1, 3, 7, 15, 'elsewhere'],
    );
    assert.equal((await region.server(id)).status, 'running');
  });

  it('is not left before it has confirmed that it has no such machine', async () => {
    const id = await region.order();
    const [failed = ''] = Object.keys(await region.usedHosts());
    await region.runDueWork();
    await world.simulator.setHostDown(failed, true);
    // Some minutes of silence, and it is to be left; but a machine may still be there.
    for (let n = 0; n < 40; n++) {
      world.clock.advanceS(30);
      await region.runDueWork();
    }
    assert.deepEqual(await world.db.rows('select step from operations where server_id = $1', [id]), [
      { step: 'leave_host' },
    ]);
    assert.deepEqual(
      (await world.simulator.machines()).filter((each) => each.id === id).map(({ host }) => host),
      [failed],
    );
    await world.simulator.setHostDown(failed, false);
    await world.runUntilIdle();
    assert.equal((await region.server(id)).status, 'running');
    assert.notEqual((await region.machine(id))?.host, failed);
    await world.assertInvariants();
  });

  it('that is silent for a while only is not left', async () => {
    const id = await region.order();
    const [host = ''] = Object.keys(await region.usedHosts());
    await region.runDueWork();
    await world.simulator.setHostDown(host, true);
    world.clock.advanceS(60);
    await region.runDueWork();
    await world.simulator.setHostDown(host, false);
    await world.runUntilIdle();
    assert.equal((await region.machine(id))?.host, host);
    assert.equal((await region.server(id)).status, 'running');
  });

  it('is left for another machine when the server is a dedicated one', async () => {
    await world.fixtures.addMachines(2, R1, region.regionId);
    const id = await region.order({ plan: R1 });
    const failed = (await region.server(id)).machine_id;
    await world.faults.set({ driver: 'compute', operation: 'ensure', times: 1 });
    await world.runUntilIdle();
    const server = await region.server(id);
    assert.equal(server.status, 'running');
    assert.notEqual(server.machine_id, failed);
    const taken = await world.db.rows(
      'select id from machines where server_id is not null and region_id = $1',
      [region.regionId],
    );
    assert.deepEqual(taken, [{ id: server.machine_id }]);
    await world.assertInvariants();
  });
});

describe('a server that no host can have', () => {
  it('leaves its firewall groups when it is given up, before it is gone', async () => {
    const id = await region.order();
    const { service } = world;
    const group = await createGroup(service, region.actor, {
      ...{ name: 'web', default_action: 'drop' },
      applied_to: [formatId('server', id)],
    });
    const remove = service.compute.remove.bind(service.compute);
    mock.method(service.compute, 'ensure', async () => assert.fail('no such image'));
    mock.method(service.compute, 'remove', async (machine: string) => {
      if ((await region.server(id)).status === 'destroying') throw new Error('connection reset');
      await remove(machine);
    });
    for (let n = 0; n < 200 && (await region.server(id)).status !== 'destroying'; n++) {
      await region.runDueWork();
      world.clock.advanceS(30);
    }
    assert.equal((await region.server(id)).status, 'destroying');
    assert.deepEqual((await getGroup(service, region.actor, group.id)).applied_to, []);
    await world.assertInvariants();
    mock.restoreAll();
    await world.runUntilIdle();
    assert.ok(await region.isGone(id));
  });
});
