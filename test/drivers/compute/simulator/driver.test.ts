import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { MachineSpec } from '../../../../src/ports/compute.ts';
import { type ComputeWorld, failsAs, machineSpec } from '../compute-world.ts';
import { computeContract } from '../contract.ts';
import { movesContract } from '../contract-moves.ts';
import { evaluateFilter } from '../evaluate-filter.ts';
import { INSTALL_S, type SimulatedWorld, simulatedWorld } from './simulator-world.ts';

async function contractWorld(): Promise<ComputeWorld> {
  const world = await simulatedWorld();
  const size = { cpu: 4, ramMb: 2048, diskGb: 16 };
  await world.control.addHosts([
    { name: 'one', ...size },
    { name: 'two', ...size },
  ]);
  return {
    ...world,
    hosts: ['one', 'two'],
    now: () => world.clock.now(),
    attached: async (machineId) =>
      (await world.control.volumes()).flatMap((volume) =>
        volume.machineId === machineId && volume.device !== null
          ? [{ id: volume.id, sizeGb: volume.sizeGb, device: volume.device }]
          : [],
      ),
    packetVerdict: async (machineId, packet) =>
      evaluateFilter(await world.control.readFilter(machineId), packet),
  };
}

computeContract('the simulator', contractWorld);
movesContract('the simulator', contractWorld);

describe('the simulator', () => {
  let world: SimulatedWorld;
  let created = 0;
  before(async () => {
    world = await simulatedWorld();
  });
  after(() => world.close());

  /** Adds a host with one core, and memory and disk for this many machines of `machineSpec`. */
  async function host(room: number, size: { cpu?: number } = {}): Promise<string> {
    const name = `host-${created++}`;
    await world.control.addHost({ name, cpu: 1, ramMb: 512 * room, diskGb: 4 * room, ...size });
    return name;
  }
  async function machine(wanted: Partial<MachineSpec> = {}): Promise<string> {
    const id = wanted.id ?? `machine-${created++}`;
    await world.driver.ensure(machineSpec({ id, host: await host(1), ...wanted }));
    return id;
  }

  it('an install takes exactly the configured time', async () => {
    const id = await machine();
    world.clock.advanceS(INSTALL_S - 0.001);
    assert.equal(await world.state(id), 'installing');
    world.clock.advanceS(0.001);
    assert.equal(await world.state(id), 'running');
  });

  it('a guest shuts down two seconds after the request, even if other requests follow', async () => {
    const id = await machine();
    await world.waitForState(id, 'running');
    await world.driver.power(id, 'acpi');
    world.clock.advanceS(1.5);
    await world.driver.power(id, 'acpi');
    await world.driver.power(id, 'on');
    assert.equal(await world.state(id), 'running');
    world.clock.advanceS(0.5);
    assert.equal(await world.state(id), 'stopped');
  });

  it('a hung or installing guest ignores shutdown requests, but not a power-off', async () => {
    const deaf = await machine();
    await world.driver.power(deaf, 'acpi');
    await world.waitForState(deaf, 'running');
    await world.control.setIgnoresShutdown(deaf, true);
    await world.driver.power(deaf, 'acpi');
    world.clock.advanceS(600);
    assert.equal(await world.state(deaf), 'running');
    await world.driver.power(deaf, 'off');
    assert.equal(await world.state(deaf), 'stopped');
    await assert.rejects(world.control.setIgnoresShutdown('never-created', true));
  });

  it('a reset reboots and cancels a shutdown, but does not start a stopped machine', async () => {
    const id = await machine();
    await world.waitForState(id, 'running');
    await world.driver.power(id, 'acpi');
    world.clock.advanceS(1);
    await world.driver.power(id, 'reset');
    const bootedAt = world.clock.now();
    world.clock.advanceS(60);
    assert.equal(await world.state(id), 'running');
    const seen = (await world.control.machines()).find((m) => m.id === id);
    assert.deepEqual(seen?.bootedAt, bootedAt);
    await world.driver.power(id, 'off');
    await world.driver.power(id, 'reset');
    assert.equal(await world.state(id), 'stopped');
  });

  it('a machine powered off during its install resumes it at power-on', async () => {
    const id = await machine();
    world.clock.advanceS(INSTALL_S - 10);
    await world.driver.power(id, 'off');
    assert.equal(await world.state(id), 'stopped');
    world.clock.advanceS(3600);
    await world.driver.power(id, 'on');
    assert.equal(await world.state(id), 'installing');
    world.clock.advanceS(10);
    assert.equal(await world.state(id), 'running');
  });

  it('a host overcommits CPUs eightfold but not memory or disk, and a removal frees capacity', async () => {
    const name = await host(3);
    const [first] = [await machine({ host: name }), await machine({ host: name })];
    await failsAs('host', machine({ host: name, ramMb: 513 }));
    await failsAs('host', machine({ host: name, diskGb: 5 }));
    await failsAs('host', machine({ host: name, cpu: 7 }));
    await machine({ host: name, cpu: 6 });
    await failsAs('host', machine({ host: name }));
    await world.driver.remove(first);
    await machine({ host: name });
  });

  it('adding an existing host changes its size and keeps its machines', async () => {
    const name = await host(1);
    const id = await machine({ host: name });
    await failsAs('host', machine({ host: name }));
    await world.control.addHost({ name, cpu: 1, ramMb: 1024, diskGb: 8 });
    await machine({ host: name });
    await world.control.addHost({ name, cpu: 1, ramMb: 256, diskGb: 8 });
    assert.equal((await world.driver.observe([id]))[0]?.host, name);
    await failsAs('host', machine({ host: name }));
  });

  it('one server fills the host of a dedicated machine', async () => {
    const name = await host(1, { cpu: 16 });
    await machine({ host: name, cpu: 16 });
    await failsAs('host', machine({ host: name, cpu: 16 }));
  });

  it('a host that is down accepts no machine, and the state of its machines is unknown', async () => {
    const name = await host(2);
    const id = await machine({ host: name });
    await world.waitForState(id, 'running');
    await world.control.setHostDown(name, true);
    await failsAs('host', machine({ host: name }));
    await failsAs('host', machine({ id, host: name }));
    await failsAs('transient', world.driver.power(id, 'off'));
    await failsAs('transient', world.driver.remove(id));
    assert.equal(await world.state(id), 'unknown');
    await world.control.addHost({ name, cpu: 1, ramMb: 2048, diskGb: 16 });
    await failsAs('host', machine({ host: name }));
    await world.control.setHostDown(name, false);
    assert.equal(await world.state(id), 'running');
    await assert.rejects(world.control.setHostDown('never-added', true), /no host/);
  });

  it('a lost machine is absent, and its capacity is free', async () => {
    const name = await host(1);
    const id = await machine({ host: name });
    await world.control.loseMachine(id);
    assert.equal(await world.state(id), 'absent');
    await machine({ host: name });
  });

  it('an armed fault happens once', async () => {
    const id = await machine();
    await world.waitForState(id, 'running');
    await world.faults.set({ driver: 'compute', operation: 'power', times: 1 });
    await failsAs('transient', world.driver.power(id, 'off'));
    assert.equal(await world.state(id), 'running');
    await world.driver.power(id, 'off');
    assert.equal(await world.state(id), 'stopped');
  });

  it('the installed system is stored with digests instead of secrets', async () => {
    const userData = new TextEncoder().encode('canary-user-data');
    const spec = { rootPasswordHash: '$6$canary$hash', userData, hostname: 'db-1' };
    const full = await machine(spec);
    const bare = await machine({ rootPasswordHash: null, userData: null });
    const machines = new Map((await world.control.machines()).map((m) => [m.id, m.installed]));
    const { image, ipv4, ipv6, sshKeys } = machineSpec({ id: full, host: '' });
    const { rootPasswordHashSha256, userDataSha256, ...open } = machines.get(full) ?? assert.fail();
    assert.deepEqual(open, { hostname: 'db-1', image, ipv4, ipv6, sshKeys });
    assert.match(`${rootPasswordHashSha256} ${userDataSha256}`, /^[0-9a-f]{64} [0-9a-f]{64}$/);
    assert.equal(machines.get(bare)?.rootPasswordHashSha256, null);
    assert.equal(machines.get(bare)?.userDataSha256, null);
    const rows = await world.db.rows<{ row: string }>('select m::text as row from sim.machines m');
    assert.ok(!rows.some(({ row }) => /canary/.test(row)));
  });
});
