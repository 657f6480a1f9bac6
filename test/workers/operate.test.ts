import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CustomerActor } from '../../src/domain/context.ts';
import { deploy } from '../../src/domain/servers/deploy/deploy.ts';
import { findServer } from '../../src/store/servers/servers.ts';
import { JobRunner } from '../../src/workers/job-runner.ts';
import { operateJob } from '../../src/workers/operate.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

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

async function order(wanted: Parameters<typeof world.fixtures.buildOrder>[0] = {}): Promise<string> {
  return (await deploy(world.service, actor, world.fixtures.buildOrder(wanted))).server.id;
}
const status = async (id: string) => (await findServer(world.db, id))?.status;
const runDueWork = () => world.runner.runDue(performance.now() + 10_000);

describe('operateJob', () => {
  it('each operation is carried out once, with any number of processes', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => order()));
    const runners = [0, 1, 2].map(() => {
      const job = operateJob({ ...world.service });
      return new JobRunner({ jobs: [job], pollMs: 1_000, log: world.service.log });
    });
    for (let n = 0; n < 10; n++) {
      await Promise.all(runners.map((runner) => runner.runDue(performance.now() + 10_000)));
      world.clock.advanceS(1);
    }
    assert.deepEqual(new Set(await Promise.all(ids.map(status))), new Set(['running']));
    const eventTypes = await world.eventTypes(actor.customerId);
    assert.equal(eventTypes.filter((type) => type === 'server.running').length, ids.length);
    assert.equal((await world.simulator.machines()).length, ids.length);
    await world.assertInvariants();
  });

  it('an operation that fails unexpectedly is postponed and blocks no other', async () => {
    const broken = await order({ rootPasswordHash: 'x' });
    const lose = `update servers set root_password_sealed = 'gone.' || root_password_sealed where id = $1`;
    await world.db.run(lose, [broken]);
    const whole = await order();
    assert.ok(await runDueWork(), 'the failing step is retried without a delay');
    assert.deepEqual([await status(broken), await status(whole)], ['provisioning', 'installing']);
    assert.deepEqual(
      await world.db.row('select due_at, lease_id from operations where server_id = $1', [broken]),
      {
        due_at: new Date(world.clock.now().getTime() + 5_000),
        lease_id: null,
      },
    );
    await world.db.run('update servers set root_password_sealed = null where id = $1', [broken]);
    await world.runUntilIdle();
    assert.deepEqual([await status(broken), await status(whole)], ['running', 'running']);
  });

  it('the job is busy during an install, and has planned work during a longer wait', async () => {
    const job = operateJob(world.service);
    assert.deepEqual([await job.busy(), await job.nextDue()], [false, null]);
    await order();
    assert.deepEqual([await job.busy(), await job.nextDue()], [true, world.clock.now()]);
    await runDueWork();
    assert.equal(await job.busy(), true);
    await world.db.run(`update operations set due_at = due_at + interval '2 minutes'`);
    assert.equal(await job.busy(), false);
    assert.ok(((await job.nextDue()) ?? 0) > world.clock.now());
    await world.runUntilIdle();
    assert.deepEqual([await job.busy(), await job.nextDue()], [false, null]);
  });

  it('the job wakes the workers after a server leaves its host, to try the next host at once', async () => {
    let wakes = 0;
    const service = {
      ...world.service,
      wake: () => {
        wakes += 1;
      },
    };
    await order();
    await world.faults.set({ driver: 'compute', operation: 'ensure', times: 1 });
    const job = operateJob(service);
    await job.run();
    assert.equal(wakes, 0);
    await job.run();
    assert.equal(wakes, 1);
    await world.runUntilIdle();
  });
});
