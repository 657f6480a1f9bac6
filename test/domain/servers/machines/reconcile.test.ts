import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { listMachineFindings } from '../../../../src/domain/servers/machines/findings.ts';
import { reconcileMachines, superviseMachines } from '../../../../src/domain/servers/machines/reconcile.ts';
import { rebootServer, startServer, stopServer } from '../../../../src/domain/servers/operations/power.ts';
import { freezeServer } from '../../../../src/domain/servers/operator/controls.ts';
import { attachVolume } from '../../../../src/domain/volumes/attach.ts';
import { createVolume } from '../../../../src/domain/volumes/change.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import type { ComputeDriver, SupervisionResult } from '../../../../src/ports/compute.ts';
import { superviseMachinesJob } from '../../../../src/workers/supervise-machines.ts';
import { machineSpec } from '../../../drivers/compute/compute-world.ts';
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
  await reconcileTimes(2);
});

async function reconcileTimes(times = 1): Promise<void> {
  for (let n = 0; n < times; n++) await reconcileMachines(world.service);
}
const power = (action: 'on' | 'off') => world.service.compute.power(id, action);
const status = async () => (await region.server(id)).status;
const machine = async () => (await region.machine(id))?.state;
const newEvents = async () => (await region.events()).slice(3);
/** Returns a driver that treats the simulated machines as real ones and supervises them as given. */
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
/** Returns the messages of `skerryd status` about this server and unknown machines, without the time. */
async function statusMessages(): Promise<string[]> {
  const findings = await listMachineFindings(world.service, 100);
  const lines = findings.map(({ message }) => message.replace(/; since .*/, ''));
  return lines.filter((line) => line.startsWith(shown) || line.startsWith('machine'));
}

describe('an unknown machine', () => {
  it('an unknown machine is reported from the second inspection on, and left alone', async () => {
    const host = (await region.machine(id))?.host ?? '';
    const stranger = newId(new Date());
    await world.service.compute.ensure(machineSpec({ id: stranger, host }));
    await reconcileTimes();
    assert.deepEqual(await statusMessages(), []);
    await reconcileTimes(2);
    const message = `machine ${stranger} (${host}) belongs to no server and is left alone`;
    assert.deepEqual(await statusMessages(), [message]);
    assert.equal((await world.service.compute.list()).includes(stranger), true);
    await world.service.compute.remove(stranger);
    await reconcileTimes();
    assert.deepEqual(await statusMessages(), []);
  });

  it('an unknown machine may have any name', async () => {
    const host = (await region.machine(id))?.host ?? '';
    await world.service.compute.ensure(machineSpec({ id: 'made-by-hand', host }));
    await reconcileTimes(2);
    const message = `machine made-by-hand (${host}) belongs to no server and is left alone`;
    assert.deepEqual(await statusMessages(), [message]);
    await world.service.compute.remove('made-by-hand');
    await reconcileTimes();
  });
});

describe('a server without its machine', () => {
  it('a lost machine is reported while it is missing, and never recreated', async () => {
    const host = (await region.machine(id))?.host ?? '';
    await world.simulator.loseMachine(id);
    await reconcileTimes(3);
    const message = `${shown} (${host}) has run but has no machine; it is not recreated`;
    assert.deepEqual(await statusMessages(), [message]);
    assert.deepEqual([await status(), await machine(), await newEvents()], ['running', undefined, []]);
    await world.runUntilIdle();
    assert.equal(await machine(), undefined);
  });

  it('a silent host causes no lost-machine finding and resolves none', async () => {
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
  it('a guest shutdown stops the server after two consecutive inspections', async () => {
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

  it('a guest shutdown seen by the driver stops an idle server at once', async () => {
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
    const foreign = { ...seen[0], id: 'by-hand' } as SupervisionResult;
    await superviseMachines({ ...service, compute: realCompute(async () => [foreign]) });
  });

  it('a guest shutdown is checked again, and a machine that is on again is left alone', async () => {
    await power('off');
    await reconcileTimes();
    const { compute } = world.service;
    let inspections = 0;
    const observe: ComputeDriver['observe'] = async (ids) => {
      const states = await compute.observe(ids);
      // A start that began and ended since the first inspection.
      if (ids.includes(id) && ++inspections === 1) await power('on');
      return states;
    };
    const real = realCompute(() => compute.superviseMachines(), observe);
    await reconcileMachines({ ...world.service, compute: real });
    assert.deepEqual([inspections, await status(), await newEvents()], [2, 'running', []]);
    assert.equal(await machine(), 'running');
  });

  it('a crashed machine does not count as a guest shutdown, however often it is seen', async () => {
    const { compute } = world.service;
    const observe: ComputeDriver['observe'] = async (ids) =>
      (await compute.observe(ids)).map((seen) => (seen.id === id ? { ...seen, crashed: true } : seen));
    const service = { ...world.service, compute: realCompute(() => compute.superviseMachines(), observe) };
    await power('off');
    for (let n = 0; n < 3; n++) await reconcileMachines(service);
    assert.deepEqual([await status(), await newEvents(), await statusMessages()], ['running', [], []]);
    await power('on');
  });

  it('a machine that could not be restarted does not count as a guest shutdown', async () => {
    let found: SupervisionResult[] = [{ id, outcome: 'failed', message: 'no room' }];
    const service = { ...world.service, compute: realCompute(async () => found) };
    await power('off');
    for (let n = 0; n < 3; n++) {
      await superviseMachines(service);
      await reconcileTimes();
    }
    assert.equal(await status(), 'running');
    assert.equal((await statusMessages()).length, 1);
    assert.match((await statusMessages())[0] ?? '', /should be on but could not be restarted; .*: no room$/);
    found = [];
    await power('on');
    await superviseMachines(service);
    await reconcileTimes(2);
    assert.deepEqual([await statusMessages(), await status()], [[], 'running']);
  });
});

describe('a machine that should be off', () => {
  it('a machine of a suspended server is powered off again', async () => {
    await freezeServer(world.service, shown, 'report 7');
    await world.runUntilIdle();
    assert.deepEqual([await status(), await machine()], ['suspended', 'stopped']);
    await power('on');
    await reconcileTimes();
    await world.runUntilIdle();
    assert.equal(await machine(), 'running');
    await reconcileTimes();
    const [message = ''] = await statusMessages();
    assert.match(message, /is suspended but its machine is running; it is being powered off/);
    await world.runUntilIdle();
    assert.deepEqual([await status(), await machine()], ['suspended', 'stopped']);
    await reconcileTimes();
    assert.deepEqual(await statusMessages(), []);
    await world.assertInvariants();
  });

  it('a machine of a stopped server is reported and left on', async () => {
    await stopServer(world.service, region.actor, shown);
    await world.runUntilIdle();
    await power('on');
    await reconcileTimes(2);
    await world.runUntilIdle();
    assert.deepEqual([await status(), await machine()], ['stopped', 'running']);
    assert.match((await statusMessages())[0] ?? '', /is stopped but its machine is running; it is left on/);
  });
});

describe('superviseMachines', () => {
  it('supervision rechecks the volumes of a machine after any power-on', async () => {
    // On the smallest default host, a volume does not fit next to a server.
    await region.reset([2]);
    ({ id, shown } = await region.running());
    const volume = await createVolume(world.service, region.actor, {
      name: 'data',
      size_gb: 10,
      region: region.regionId,
    });
    await attachVolume(world.service, region.actor, volume.id, { server: shown });
    await world.runUntilIdle();
    const attachedTo = async () => (await world.simulator.volumes()).map(({ machineId }) => machineId);
    const [simulated] = await world.simulator.volumes();
    await world.service.compute.detach(simulated?.id ?? '');
    assert.deepEqual(await attachedTo(), [null]);
    const restarted: SupervisionResult = { id, outcome: 'restarted', message: 'its process had exited' };
    const compute = realCompute(async () => [restarted]);
    await superviseMachines({ ...world.service, compute });
    await world.runUntilIdle();
    assert.deepEqual(await attachedTo(), [id]);
    await world.service.compute.detach(simulated?.id ?? '');
    await rebootServer(world.service, region.actor, shown, { hard: true });
    await world.runUntilIdle();
    assert.deepEqual(await attachedTo(), [id]);
    assert.deepEqual(await newEvents(), ['volume.attached', 'server.rebooted']);
  });

  it('supervision skips a server with an operation under way', async () => {
    await stopServer(world.service, region.actor, shown);
    await power('off');
    await reconcileTimes(3);
    assert.deepEqual([await status(), await newEvents()], ['running', []]);
    await world.runUntilIdle();
    assert.deepEqual(await newEvents(), ['server.stopped']);
  });

  it('supervision runs in one process at a time, and at once where machines are real', async () => {
    let supervisions = 0;
    const compute = realCompute(async () => {
      supervisions += 1;
      return [];
    });
    await world.db.run('delete from beats');
    const jobs = [1, 2, 3].map(() => superviseMachinesJob({ ...world.service, compute }));
    await Promise.all(jobs.map((job) => job.run()));
    for (const job of jobs) assert.equal(await job.run(), 0);
    assert.equal(supervisions, 1);
    await superviseMachinesJob(world.service).run();
    assert.equal(supervisions, 1, 'simulated machines are not supervised at once');
  });

  it('supervision reconciles nothing when the driver does not answer', async () => {
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
