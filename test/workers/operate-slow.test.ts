import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import type { CustomerActor } from '../../src/domain/context.ts';
import { deploy } from '../../src/domain/servers/deploy/deploy.ts';
import { findServer } from '../../src/store/servers/servers.ts';
import { operateJob } from '../../src/workers/operate.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const WAIT_MAX_MS = 15_000;
/** Limit of operations that the job works on at once. */
const CONCURRENT_MAX = 32;

let world: TestService;
let actor: CustomerActor;

before(async () => {
  world = await startTestService();
  await world.fixtures.addPlans();
  await world.fixtures.addHosts([60]);
  await world.fixtures.addAddresses(60);
});
after(() => world.close());
beforeEach(async () => {
  mock.restoreAll();
  actor = await world.fixtures.addCustomer(30_000n);
});

async function order(): Promise<string> {
  return (await deploy(world.service, actor, world.fixtures.buildOrder())).server.id;
}
/** Makes `ensure` of these servers wait until it is released. */
function slow(isSlow: (id: string) => boolean): { count(): number; release(): void } {
  const { compute } = world.service;
  const ensure = compute.ensure.bind(compute);
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  mock.method(compute, 'ensure', async (spec: Parameters<typeof ensure>[0]) => {
    if (isSlow(spec.id)) {
      waiting += 1;
      await gate.promise;
    }
    await ensure(spec);
  });
  return { count: () => waiting, release: () => gate.resolve() };
}
async function waitUntil(failureMessage: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + WAIT_MAX_MS;
  while (!(await holds())) {
    assert.ok(Date.now() < deadline, failureMessage);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
const status = async (id: string) => (await findServer(world.db, id))?.status;

describe('a slow host', () => {
  it('a slow host does not delay steps of servers on other hosts', async () => {
    const late = await order();
    const blocked = slow((id) => id === late);
    let ended = false;
    const run = operateJob(world.service)
      .run()
      .finally(() => {
        ended = true;
      });
    await waitUntil('the slow call did not start', () => blocked.count() === 1);
    const quick = await order();
    await waitUntil('the quick server was not started', async () => (await status(quick)) === 'installing');
    world.clock.advanceS(5);
    await waitUntil('the quick server was not finished', async () => (await status(quick)) === 'running');
    assert.deepEqual([await status(late), ended], ['provisioning', false]);
    blocked.release();
    assert.ok((await run) >= 3);
    await world.runUntilIdle();
    assert.equal(await status(late), 'running');
    await world.assertInvariants();
  });

  it('a slow host does not make the job exceed its concurrency limit', FULL_ONLY, async () => {
    const all = new Set<string>();
    for (let n = 0; n < CONCURRENT_MAX + 8; n++) all.add(await order());
    world.clock.advanceS(1);
    const blocked = slow((id) => all.has(id));
    const run = operateJob(world.service).run();
    await waitUntil('the limit was not reached', () => blocked.count() === CONCURRENT_MAX);
    const claims = mock.method(world.db, 'rows');
    // Long enough to start several more batches.
    await new Promise((resolve) => setTimeout(resolve, 600));
    assert.equal(claims.mock.callCount(), 0);
    assert.equal(blocked.count(), CONCURRENT_MAX);
    blocked.release();
    await run;
    await world.runUntilIdle();
    for (const id of all) assert.equal(await status(id), 'running');
  });
});
