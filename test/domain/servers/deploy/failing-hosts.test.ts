import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { createGroup } from '../../../../src/domain/firewall/groups.ts';
import { getGroup } from '../../../../src/domain/firewall/read.ts';
import { formatId } from '../../../../src/kernel/ids.ts';
import { R1 } from '../../../support/fixtures.ts';
import type { TestService } from '../../../support/test-service.ts';
import { RegionWorld } from '../region-world.ts';

let region: RegionWorld;
let world: TestService;

before(async () => {
  region = await RegionWorld.open();
  world = region.world;
});
after(() => world.close());
beforeEach(() => region.reset());
afterEach(() => mock.restoreAll());

describe('a failing host', () => {
  it('a server moves from a failed host to another, and the capacity is released', async () => {
    const id = await region.order();
    const [failed] = Object.keys(await region.usedHosts());
    await world.faults.set({ driver: 'compute', operation: 'ensure', times: 1 });
    await world.runUntilIdle();
    const machine = await region.machine(id);
    assert.equal((await region.server(id)).status, 'running');
    assert.notEqual(machine?.host, failed);
    assert.deepEqual(await region.usedHosts(), { [machine?.host ?? '']: 1 });
    assert.deepEqual(await region.events(), ['server.created', 'billing.charged', 'server.running']);
    await world.assertInvariants();
  });

  it('a host with transient faults is tried five times with backoff', async () => {
    const id = await region.order();
    const [first] = Object.keys(await region.usedHosts());
    const startedAt = world.clock.now().getTime();
    const tries: { host: string; afterS: number }[] = [];
    const { compute } = world.service;
    const ensure = compute.ensure.bind(compute);
    mock.method(compute, 'ensure', async (spec: Parameters<typeof ensure>[0]) => {
      tries.push({ host: spec.host, afterS: (world.clock.now().getTime() - startedAt) / 1000 });
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

  it('a server does not leave a host before the host confirms that the machine is absent', async () => {
    const id = await region.order();
    const [failed = ''] = Object.keys(await region.usedHosts());
    await region.runDueWork();
    await world.simulator.setHostDown(failed, true);
    // After some minutes of silence the host should be left, but a machine may still exist there.
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

  it('a server stays on a host that is only briefly silent', async () => {
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

  it('a dedicated server moves from a failed machine to another', async () => {
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

describe('a server that no host can create', () => {
  it('a server that is given up leaves its firewall groups before it is removed', async () => {
    const id = await region.order();
    const { service } = world;
    const group = await createGroup(service, region.actor, {
      name: 'web',
      default_action: 'drop',
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
