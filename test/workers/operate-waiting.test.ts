/** A host that lacks an image receives it while the operation waits. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CustomerActor, Service } from '../../src/domain/context.ts';
import { deploy } from '../../src/domain/servers/deploy/deploy.ts';
import { rescueServer } from '../../src/domain/servers/operations/power.ts';
import { formatId } from '../../src/kernel/ids.ts';
import { type ComputeDriver, ComputeError } from '../../src/ports/compute.ts';
import { findServer } from '../../src/store/servers/servers.ts';
import { operateJob } from '../../src/workers/operate.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

/** More than the transient faults after which a host counts as unable. */
const WAITS = 12;

describe('an operation that waits for an image', () => {
  let world: TestService;
  let actor: CustomerActor;
  before(async () => {
    world = await startTestService();
    await world.fixtures.addPlans();
    await world.fixtures.addHosts([20, 20]);
    await world.fixtures.addAddresses(40);
  });
  after(() => world.close());
  beforeEach(async () => {
    actor = await world.fixtures.addCustomer(20_000n);
  });

  const order = async () => (await deploy(world.service, actor, world.fixtures.buildOrder())).server.id;

  /** A service whose hosts lack the image for this many calls. */
  function withoutImage(verb: 'ensure' | 'rescue', calls: number): Service & { calls: () => number } {
    let called = 0;
    const compute = new Proxy(world.service.compute, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        if (key !== verb) return value.bind(target) as unknown;
        return async (...args: unknown[]) => {
          called += 1;
          if (called <= calls) throw new ComputeError('waiting', 'the host is receiving the image');
          return (await value.apply(target, args)) as unknown;
        };
      },
    }) as ComputeDriver;
    return { ...world.service, compute, calls: () => called };
  }
  /** Runs due operations this often, two seconds apart. */
  async function rounds(service: Service, count: number): Promise<void> {
    const job = operateJob(service);
    for (let round = 0; round < count; round++) {
      await job.run();
      world.clock.advanceS(2);
    }
  }

  it('a new server stays on its host, and is installed when the image is there', async () => {
    const service = withoutImage('ensure', WAITS);
    const id = await order();
    const host = (await findServer(world.db, id))?.host_id;
    await rounds(service, WAITS);
    assert.equal(service.calls(), WAITS);
    const waiting = await findServer(world.db, id);
    assert.deepEqual([waiting?.status, waiting?.host_id], ['provisioning', host]);
    await rounds(service, 1);
    await world.runUntilIdle();
    const installed = await findServer(world.db, id);
    assert.deepEqual([installed?.status, installed?.host_id], ['running', host]);
  });

  it('after an hour of waiting another host is tried', async () => {
    const service = withoutImage('ensure', Number.POSITIVE_INFINITY);
    const id = await order();
    const host = (await findServer(world.db, id))?.host_id;
    await rounds(service, 2);
    world.clock.advanceS(3_600);
    await rounds(service, 2);
    assert.notEqual((await findServer(world.db, id))?.host_id, host);
    await world.runUntilIdle();
  });

  it('a rescue waits for the rescue disk', async () => {
    const id = await order();
    await world.runUntilIdle();
    await rescueServer(world.service, actor, formatId('server', id));
    await rounds(withoutImage('rescue', WAITS), WAITS);
    const waiting = await world.db.row('select step, attempts from operations where server_id = $1', [id]);
    assert.deepEqual(waiting, { step: 'enter_rescue', attempts: 0 });
    await world.runUntilIdle();
    assert.equal((await world.service.compute.observe([id]))[0]?.rescue, true);
  });
});
