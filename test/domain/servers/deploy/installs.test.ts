import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { INSTALL_TIMEOUT_MS } from '../../../../src/domain/servers/deploy/provision.ts';
import { ComputeError } from '../../../../src/ports/compute.ts';
import { SETTINGS } from '../../../../src/spec/settings.ts';
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

describe('first install', () => {
  it('an install whose machine was lost is repeated on the same host', async () => {
    const id = await region.order();
    await region.runDueWork();
    const host = (await region.machine(id))?.host;
    await world.simulator.loseMachine(id);
    await world.runUntilIdle();
    assert.equal((await region.server(id)).status, 'running');
    assert.equal((await region.machine(id))?.host, host);
    assert.deepEqual(await region.events(), ['server.created', 'billing.charged', 'server.running']);
    await world.assertInvariants();
  });

  it('an install whose machine was powered off is powered on again', async () => {
    const id = await region.order();
    await region.runDueWork();
    await world.service.compute.power(id, 'off');
    await world.runUntilIdle();
    assert.equal((await region.machine(id))?.state, 'running');
    assert.equal((await region.server(id)).status, 'running');
  });

  it('an install whose machine cannot be powered on is retried soon, but not at once', async () => {
    const id = await region.order();
    await region.runDueWork();
    await world.service.compute.power(id, 'off');
    const power = mock.method(world.service.compute, 'power', async () => {
      throw new ComputeError('transient', 'no answer');
    });
    world.clock.advanceS(1);
    await region.runDueWork();
    assert.equal(power.mock.callCount(), 1);
    mock.restoreAll();
    await world.runUntilIdle();
    assert.equal((await region.server(id)).status, 'running');
  });

  it('an install that takes too long is tried on every other host, then given up', async () => {
    const id = await region.order();
    const observedHosts: string[] = [];
    // A guest that never becomes ready.
    mock.method(world.service.compute, 'observe', async (ids: readonly string[]) => {
      const host = (await region.machine(id))?.host ?? null;
      if (host) observedHosts.push(host);
      return ids.map((each) => ({ id: each, host, state: host ? 'installing' : 'absent' }));
    });
    for (let minutes = 0; minutes < 100 && !(await region.isGone(id)); minutes++) {
      world.clock.advanceS(60);
      await region.runDueWork();
    }
    assert.ok(await region.isGone(id));
    assert.equal(await region.balance(), BALANCE);
    for (const host of region.hosts) {
      const minutes = observedHosts.filter((each) => each === host).length;
      assert.ok(minutes >= 15 && minutes <= 25, `${minutes} minutes on a host`);
    }
    await world.assertInvariants();
  });

  it('an install has its full time on the next host, however long the first one was silent', async () => {
    const id = await region.order();
    await region.runDueWork();
    const silent = (await region.machine(id))?.host ?? '';
    await world.simulator.setHostDown(silent, true);
    for (let minutes = 0; minutes < 90; minutes++) {
      world.clock.advanceS(60);
      await region.runDueWork();
    }
    await world.simulator.setHostDown(silent, false);
    world.clock.advanceS(60);
    await region.runDueWork();
    const next = (await region.machine(id))?.host;
    assert.notEqual(next, silent);
    const { compute } = world.service;
    const observe = compute.observe.bind(compute);
    mock.method(compute, 'observe', async (ids: readonly string[]) =>
      (await observe(ids)).map((each) => ({ ...each, state: 'installing' })),
    );
    for (let minutes = 0; minutes < 15; minutes++) {
      world.clock.advanceS(60);
      await region.runDueWork();
    }
    mock.restoreAll();
    await world.runUntilIdle();
    assert.equal((await region.machine(id))?.host, next);
    assert.equal((await region.server(id)).status, 'running');
  });

  it('a simulated install always finishes before the install timeout', () => {
    assert.ok(SETTINGS.SKERRY_SIM_INSTALL_S.max * 1_000 < INSTALL_TIMEOUT_MS);
  });

  it('an install that cannot be recorded does not block another', async () => {
    const [broken, other] = [await region.order(), await region.order()];
    await region.runDueWork();
    await world.db.run(
      `create or replace function fail_one() returns trigger language plpgsql as $$
       begin
         if new.id = '${broken}' and new.status = 'running' then raise exception 'disk full'; end if;
         return new;
       end $$`,
    );
    await world.db.run(
      'create trigger fail_one before update on servers for each row execute function fail_one()',
    );
    world.clock.advanceS(5);
    await region.runDueWork();
    assert.equal((await region.server(other)).status, 'running');
    assert.equal((await region.server(broken)).status, 'installing');
    await world.db.run('drop trigger fail_one on servers');
    await world.runUntilIdle();
    assert.equal((await region.server(broken)).status, 'running');
  });
});
