import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import type { CustomerActor } from '../../src/domain/context.ts';
import { deploy } from '../../src/domain/servers/deploy.ts';
import { findServer } from '../../src/store/servers.ts';
import { operateDuty } from '../../src/workers/operate.ts';
import { IN_FULL } from '../support/runs.ts';
import { type TestService, testService } from '../support/service.ts';

const WITHIN_MS = 15_000;
/** What the duty may have in hand at once. */
const AT_ONCE_MAX = 32;

let world: TestService;
let actor: CustomerActor;

before(async () => {
  world = await testService();
  await world.stock.offer();
  await world.stock.hosts([60]);
  await world.stock.addresses(60);
});
after(() => world.close());
beforeEach(async () => {
  mock.restoreAll();
  actor = await world.stock.customer(30_000n);
});

async function order(): Promise<string> {
  return (await deploy(world.service, actor, world.stock.order())).server.id;
}
/** `ensure` of these servers waits until it is let go. */
function slow(isSlow: (id: string) => boolean): { count(): number; letGo(): void } {
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
  return { count: () => waiting, letGo: () => gate.resolve() };
}
async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + WITHIN_MS;
  while (!(await holds())) {
    assert.ok(Date.now() < deadline, what);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
const status = async (id: string) => (await findServer(world.db, id))?.status;

describe('a host that is slow to answer', () => {
  it('does not hold up the steps of servers on others, and the run ends when all of its work has', async () => {
    const late = await order();
    const made = slow((id) => id === late);
    let ended = false;
    const run = operateDuty(world.service)
      .run()
      .finally(() => {
        ended = true;
      });
    await until('the slow one is not begun', () => made.count() === 1);
    const quick = await order();
    await until('the quick one is held up', async () => (await status(quick)) === 'installing');
    world.clock.advanceS(5);
    await until('the quick one is held up later', async () => (await status(quick)) === 'running');
    assert.deepEqual([await status(late), ended], ['provisioning', false]);
    made.letGo();
    assert.ok((await run) >= 3);
    await world.rest();
    assert.equal(await status(late), 'running');
    await world.sound();
  });

  it('does not make the duty take on more than it may have in hand', IN_FULL, async () => {
    const all = new Set<string>();
    for (let n = 0; n < AT_ONCE_MAX + 8; n++) all.add(await order());
    world.clock.advanceS(1);
    const made = slow((id) => all.has(id));
    const run = operateDuty(world.service).run();
    await until('not as many as may be', () => made.count() === AT_ONCE_MAX);
    const claims = mock.method(world.db, 'rows');
    // Several looks later.
    await new Promise((resolve) => setTimeout(resolve, 600));
    assert.equal(claims.mock.callCount(), 0);
    assert.equal(made.count(), AT_ONCE_MAX);
    made.letGo();
    await run;
    await world.rest();
    for (const id of all) assert.equal(await status(id), 'running');
  });
});
