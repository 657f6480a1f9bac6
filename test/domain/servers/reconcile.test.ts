import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { listMachineFindings } from '../../../src/domain/servers/findings.ts';
import { freezeServer } from '../../../src/domain/servers/freeze.ts';
import { rebootServer, startServer, stopServer } from '../../../src/domain/servers/power.ts';
import { reconcileMachines } from '../../../src/domain/servers/reconcile.ts';
import { superviseMachines } from '../../../src/domain/servers/supervise-machines.ts';
import { attachVolume } from '../../../src/domain/volumes/attach.ts';
import { createVolume } from '../../../src/domain/volumes/create.ts';
import { newId } from '../../../src/kernel/ids.ts';
import type { ComputeDriver, SupervisionResult } from '../../../src/ports/compute.ts';
import { superviseMachinesJob } from '../../../src/workers/supervise-machines.ts';
import { machineSpec } from '../../drivers/compute-world.ts';
import type { TestService } from '../../support/test-service.ts';
import { RegionWorld } from './region-world.ts';

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
  await reconcileTimes(2);
});

async function reconcileTimes(times = 1): Promise<void> {
  for (let n = 0; n < times; n++) await reconcileMachines(world.service);
}
const power = (action: 'on' | 'off') => world.service.compute.power(id, action);
const status = async () => (await region.server(id)).status;
const machine = async () => (await region.machine(id))?.state;
const newEvents = async () => (await region.events()).slice(3);
/** The simulated machines as if they were real ones, and looked after so. */
function realCompute(
  superviseMachines: () => Promise<SupervisionResult[]>,
  observe?: ComputeDriver['observe'],
): ComputeDriver {
  const { compute } = world.service;
  return new Proxy(compute, {
    get: (_, name: keyof ComputeDriver) => {
      if (name === 'hosts') return ['this'];
      if (name === 'superviseMachines') return superviseMachines;
      if (name === 'observe' && observe) return observe;
      const part = compute[name];
      return typeof part === 'function' ? part.bind(compute) : part;
    },
  });
}
/** What `skerryd status` says of this server and of strangers, without the time. */
async function statusMessages(): Promise<string[]> {
  const lines = (await listMachineFindings(world.service, 100)).map(({ message }) =>
    message.replace(/; since .*/, ''),
  );
  return lines.filter((line) => line.startsWith(shown) || line.startsWith('machine'));
}

describe('a machine that nobody knows', () => {
  it('is told of from the second look on, left alone, and forgotten when it is gone', async () => {
    const host = (await region.machine(id))?.host ?? '';
    const stranger = newId(new Date());
    await world.service.compute.ensure(machineSpec({ id: stranger, host }));
    await reconcileTimes();
    assert.deepEqual(await statusMessages(), []);
    await reconcileTimes(2);
    assert.deepEqual(await statusMessages(), [
      `machine ${stranger} (${host}) belongs to no server; it is left alone`,
    ]);
    assert.equal((await world.service.compute.list()).includes(stranger), true);
    await world.service.compute.remove(stranger);
    await reconcileTimes();
    assert.deepEqual(await statusMessages(), []);
  });

  it('may have any name', async () => {
    const host = (await region.machine(id))?.host ?? '';
    await world.service.compute.ensure(machineSpec({ id: 'made-by-hand', host }));
    await reconcileTimes(2);
    assert.deepEqual(await statusMessages(), [
      `machine made-by-hand (${host}) belongs to no server; it is left alone`,
    ]);
    await world.service.compute.remove('made-by-hand');
    await reconcileTimes();
  });
});

describe('a server whose machine is gone', () => {
  it('is told of and never made again, as long as that is so', async () => {
    const host = (await region.machine(id))?.host ?? '';
    await world.simulator.loseMachine(id);
    await reconcileTimes(3);
    assert.deepEqual(await statusMessages(), [
      `${shown} (${host}) has run and has no machine; it is not made again`,
    ]);
    assert.deepEqual([await status(), await machine(), await newEvents()], ['running', undefined, []]);
    await world.runUntilIdle();
    assert.equal(await machine(), undefined);
  });

  it('is not thought of one whose host is silent, nor is what was found before forgotten', async () => {
    const host = (await region.machine(id))?.host ?? '';
    await world.simulator.setHostDown(host, true);
    await reconcileTimes(3);
    assert.deepEqual(await statusMessages(), []);
    await world.simulator.setHostDown(host, false);
    await world.simulator.loseMachine(id);
    await reconcileTimes(2);
    const found = await statusMessages();
    assert.equal(found.length, 1);
    await world.faults.set({ driver: 'compute', operation: 'observe', times: 1 });
    await reconcileTimes();
    assert.deepEqual(await statusMessages(), found);
  });
});

describe('a guest that shuts itself down', () => {
  it('makes its server stopped when two looks in a row have seen it', async () => {
    await power('off');
    await reconcileTimes();
    assert.equal(await status(), 'running');
    await power('on');
    await reconcileTimes();
    await power('off');
    await reconcileTimes();
    assert.deepEqual([await status(), await newEvents()], ['running', []]);
    await reconcileTimes();
    assert.deepEqual([await status(), await newEvents()], ['stopped', ['server.stopped']]);
    const row = await world.db.row<{ action: string; actor_token: string | null }>(
      'select action, actor_token from audit_events where customer_id = $1 order by id desc limit 1',
      [region.actor.customerId],
    );
    assert.deepEqual(row, { action: 'server.stop', actor_token: null });
    await reconcileTimes(2);
    assert.deepEqual([await statusMessages(), await newEvents()], [[], ['server.stopped']]);
    await startServer(world.service, region.actor, shown);
    await world.runUntilIdle();
    assert.deepEqual([await status(), await machine()], ['running', 'running']);
    await world.assertInvariants();
  });

  it('makes its server stopped at once where the driver saw it, unless something is done to it or it is on again', async () => {
    const seen: SupervisionResult[] = [{ id, outcome: 'off', message: 'its guest switched itself off' }];
    const service = { ...world.service, compute: realCompute(async () => seen) };
    await superviseMachines(service);
    assert.deepEqual([await status(), await newEvents()], ['running', []]);
    await rebootServer(world.service, region.actor, shown, { hard: true });
    await power('off');
    await superviseMachines(service);
    assert.equal(await status(), 'running');
    await world.runUntilIdle();
    await power('off');
    for (const _ of ['once', 'again']) await superviseMachines(service);
    assert.deepEqual([await status(), await newEvents()], ['stopped', ['server.rebooted', 'server.stopped']]);
    await superviseMachines({
      ...service,
      compute: realCompute(async () => [{ ...seen[0], id: 'by-hand' } as SupervisionResult]),
    });
  });

  it('is looked at once more before anything is done: what is on again is left alone', async () => {
    await power('off');
    await reconcileTimes();
    const { compute } = world.service;
    let looks = 0;
    const observe: ComputeDriver['observe'] = async (ids) => {
      const states = await compute.observe(ids);
      // A start that began and ended since.
      if (ids.includes(id) && ++looks === 1) await power('on');
      return states;
    };
    await reconcileMachines({
      ...world.service,
      compute: realCompute(() => compute.superviseMachines(), observe),
    });
    assert.deepEqual(
      [looks, await status(), await newEvents(), await machine()],
      [2, 'running', [], 'running'],
    );
  });

  it('is not what a machine is whose process died, however often it is seen so', async () => {
    const { compute } = world.service;
    const observe: ComputeDriver['observe'] = async (ids) =>
      (await compute.observe(ids)).map((seen) => (seen.id === id ? { ...seen, crashed: true } : seen));
    const service = { ...world.service, compute: realCompute(() => compute.superviseMachines(), observe) };
    await power('off');
    for (let n = 0; n < 3; n++) await reconcileMachines(service);
    assert.deepEqual([await status(), await newEvents(), await statusMessages()], ['running', [], []]);
    await power('on');
  });

  it('is not what a machine is that could not be switched on again', async () => {
    let found: SupervisionResult[] = [{ id, outcome: 'failed', message: 'no room' }];
    const service = { ...world.service, compute: realCompute(async () => found) };
    await power('off');
    for (let n = 0; n < 3; n++) {
      await superviseMachines(service);
      await reconcileTimes();
    }
    assert.equal(await status(), 'running');
    assert.equal((await statusMessages()).length, 1);
    assert.match((await statusMessages())[0] ?? '', /should be on and is not as it should be; .*: no room$/);
    found = [];
    await power('on');
    await superviseMachines(service);
    await reconcileTimes(2);
    assert.deepEqual([await statusMessages(), await status()], [[], 'running']);
  });
});

describe('a machine that runs though it should not', () => {
  it('is switched off again when its server is suspended', async () => {
    await freezeServer(world.service, shown, 'report 7');
    await world.runUntilIdle();
    assert.deepEqual([await status(), await machine()], ['suspended', 'stopped']);
    await power('on');
    await reconcileTimes();
    await world.runUntilIdle();
    assert.equal(await machine(), 'running');
    await reconcileTimes();
    assert.match(
      (await statusMessages())[0] ?? '',
      /is suspended and its machine runs; it is being switched off/,
    );
    await world.runUntilIdle();
    assert.deepEqual([await status(), await machine()], ['suspended', 'stopped']);
    await reconcileTimes();
    assert.deepEqual(await statusMessages(), []);
    await world.assertInvariants();
  });

  it('is told of and left on when its server is stopped', async () => {
    await stopServer(world.service, region.actor, shown);
    await world.runUntilIdle();
    await power('on');
    await reconcileTimes(2);
    await world.runUntilIdle();
    assert.deepEqual([await status(), await machine()], ['stopped', 'running']);
    assert.match((await statusMessages())[0] ?? '', /is stopped and its machine runs; it is left on/);
  });
});

describe('looking after machines', () => {
  it('has the volumes of a machine that was switched on looked at, by whoever it was', async () => {
    // The smallest host of the others has no room for a volume beside a server.
    await region.reset([2]);
    ({ id, shown } = await region.running());
    const volume = await createVolume(world.service, region.actor, {
      ...{ name: 'data', size_gb: 10, region: region.regionId },
    });
    await attachVolume(world.service, region.actor, volume.id, { server: shown });
    await world.runUntilIdle();
    const attachedTo = async () => (await world.simulator.volumes()).map(({ machineId }) => machineId);
    const [plain] = await world.simulator.volumes();
    await world.service.compute.detach(plain?.id ?? '');
    assert.deepEqual(await attachedTo(), [null]);
    const compute = realCompute(async () => [
      { id, outcome: 'restarted', message: 'its process had ended by itself' },
    ]);
    await superviseMachines({ ...world.service, compute });
    await world.runUntilIdle();
    assert.deepEqual(await attachedTo(), [id]);
    await world.service.compute.detach(plain?.id ?? '');
    await rebootServer(world.service, region.actor, shown, { hard: true });
    await world.runUntilIdle();
    assert.deepEqual(await attachedTo(), [id]);
    assert.deepEqual(await newEvents(), ['volume.attached', 'server.rebooted']);
  });

  it('leaves out a server that something is being done to', async () => {
    await stopServer(world.service, region.actor, shown);
    await power('off');
    await reconcileTimes(3);
    assert.deepEqual([await status(), await newEvents()], ['running', []]);
    await world.runUntilIdle();
    assert.deepEqual(await newEvents(), ['server.stopped']);
  });

  it('is done by one process at a time, at once where machines are real', async () => {
    let tended = 0;
    const compute = realCompute(async () => {
      tended += 1;
      return [];
    });
    await world.db.run('delete from beats');
    const duties = [1, 2, 3].map(() => superviseMachinesJob({ ...world.service, compute }));
    await Promise.all(duties.map((duty) => duty.run()));
    for (const duty of duties) assert.equal(await duty.run(), 0);
    assert.equal(tended, 1);
    await superviseMachinesJob(world.service).run();
    assert.equal(tended, 1, 'simulated ones are in no hurry');
  });

  it('compares nothing when the driver has not answered', async () => {
    await world.db.run('delete from beats');
    await world.faults.set({ driver: 'compute', operation: 'superviseMachines', times: 1 });
    const compute = realCompute(() => world.service.compute.superviseMachines());
    await assert.rejects(superviseMachinesJob({ ...world.service, compute }).run());
    const beats = await world.db.rows<{ name: string }>('select name from beats');
    assert.deepEqual(
      beats.map(({ name }) => name),
      ['tend'],
    );
  });
});
