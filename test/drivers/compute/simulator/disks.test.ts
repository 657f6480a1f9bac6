/** Tests that only a simulator allows: which disks exist, and their content. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SimulatedMachine } from '../../../../src/drivers/compute/simulator/control.ts';
import { sha256 } from '../../../../src/drivers/compute/simulator/machine.ts';
import type { MachineSpec } from '../../../../src/ports/compute.ts';
import { failsAs, machineSpec } from '../compute-world.ts';
import { INSTALL_S, type SimulatedWorld, simulatedWorld } from './simulator-world.ts';

const ACCESS = { passwordHash: '$6$rescue$canary' };

describe('the simulated disks', () => {
  let world: SimulatedWorld;
  let made = 0;
  before(async () => {
    world = await simulatedWorld();
    await world.control.addHost({ name: 'one', cpu: 64, ramMb: 65_536, diskGb: 1_024 });
  });
  after(() => world.close());

  async function running(wanted: Partial<MachineSpec> = {}): Promise<MachineSpec> {
    const spec = machineSpec({ id: `machine-${made++}`, host: 'one', ...wanted });
    await world.driver.ensure(spec);
    await world.waitForState(spec.id, 'running');
    return spec;
  }
  async function machine(id: string): Promise<SimulatedMachine> {
    return (await world.control.machines()).find((each) => each.id === id) ?? assert.fail('it is gone');
  }
  /** Creates a snapshot of the machine and waits until it is ready. */
  async function snapshotOf(id: string): Promise<string> {
    const name = `snapshot-${made++}`;
    await world.eventually(async () => (await world.driver.snapshot(id, name)).state === 'ready');
    return name;
  }

  it('the old disk is deleted at the moment the new one is installed', async () => {
    const spec = await running();
    await world.driver.rebuild({ ...spec, generation: 2, hostname: 'web-2' });
    world.clock.advanceS(INSTALL_S - 0.001);
    assert.deepEqual((await machine(spec.id)).disks, [1, 2]);
    world.clock.advanceS(0.001);
    const { disks, installed, state } = await machine(spec.id);
    assert.deepEqual([disks, installed.hostname, state], [[2], 'web-2', 'running']);
  });

  it('a rebuild that overtakes another leaves one disk in the end', async () => {
    const spec = await running();
    await world.driver.rebuild({ ...spec, generation: 2 });
    world.clock.advanceS(1);
    await world.driver.rebuild({ ...spec, generation: 3 });
    assert.deepEqual((await machine(spec.id)).disks, [1, 2, 3]);
    await world.driver.power(spec.id, 'off');
    world.clock.advanceS(3600);
    assert.deepEqual((await machine(spec.id)).disks, [1, 2, 3]);
    await world.driver.power(spec.id, 'on');
    world.clock.advanceS(INSTALL_S);
    assert.deepEqual((await machine(spec.id)).disks, [3]);
  });

  it("a customer's ISO is running at once", async () => {
    const iso = { path: '/images/own.iso', sha256: 'ab'.repeat(32) };
    const image = { id: 'custom_1', family: 'custom', version: '1', cloudInit: false, iso, base: null };
    const spec = machineSpec({ id: 'own', host: 'one', image });
    await world.driver.ensure(spec);
    assert.equal(await world.state('own'), 'running');
    await world.driver.rebuild({ ...spec, generation: 2 });
    assert.equal(await world.state('own'), 'running');
    assert.deepEqual((await machine('own')).disks, [2]);
    assert.deepEqual((await machine('own')).installed.image, image);
  });

  it('a restore brings back the installed system at the machine’s current addresses', async () => {
    const source = await running({ hostname: 'db-1', sshKeys: ['ssh-ed25519 AAAA one'] });
    const snapshot = await snapshotOf(source.id);
    const before = (await machine(source.id)).installed;
    await world.driver.rebuild({ ...source, generation: 2, hostname: 'db-2' });
    await world.waitForState(source.id, 'running');
    const other = await running({ hostname: 'other', sshKeys: [], rootPasswordHash: null });
    await world.driver.restore({ ...source, generation: 3, hostname: 'unused' }, snapshot);
    await world.driver.restore({ ...other, generation: 2 }, snapshot);
    assert.equal(await world.state(source.id), 'installing');
    world.clock.advanceS(INSTALL_S);
    assert.deepEqual((await machine(source.id)).installed, before);
    assert.deepEqual((await machine(other.id)).installed, {
      ...before,
      ipv4: other.ipv4,
      ipv6: other.ipv6,
    });
    assert.deepEqual((await machine(source.id)).disks, [3]);
  });

  it('only a ready snapshot can be restored', async () => {
    const spec = await running();
    await world.driver.snapshot(spec.id, 'fresh');
    await failsAs('refused', world.driver.restore({ ...spec, generation: 2 }, 'fresh'));
    await world.faults.set({ driver: 'compute', operation: 'snapshot', times: 1 });
    assert.equal((await world.driver.snapshot(spec.id, 'broken')).state, 'failed');
    world.clock.advanceS(60);
    await failsAs('refused', world.driver.restore({ ...spec, generation: 2 }, 'broken'));
    await failsAs('refused', world.driver.restore({ ...spec, generation: 2 }, 'never-made'));
    await world.driver.restore({ ...spec, generation: 2 }, 'fresh');
  });

  it('an install pauses while the machine is in rescue mode or off', async () => {
    const spec = machineSpec({ id: `machine-${made++}`, host: 'one' });
    await world.driver.ensure(spec);
    world.clock.advanceS(INSTALL_S - 10);
    await world.driver.rescue(spec.id, ACCESS);
    world.clock.advanceS(3600);
    assert.deepEqual([(await machine(spec.id)).state, (await machine(spec.id)).rescue], ['running', true]);
    await failsAs('refused', world.driver.snapshot(spec.id, 'too early'));
    await world.driver.power(spec.id, 'off');
    world.clock.advanceS(3600);
    await world.driver.power(spec.id, 'on');
    assert.equal(await world.state(spec.id), 'installing');
    world.clock.advanceS(10);
    assert.equal(await world.state(spec.id), 'running');
  });

  it('a rescue system reacts to ACPI when the guest does not, and reboots for a new password', async () => {
    const { id } = await running();
    await world.control.setIgnoresShutdown(id, true);
    await world.driver.rescue(id, ACCESS);
    const { bootedAt, rescuePasswordHashSha256 } = await machine(id);
    assert.equal(rescuePasswordHashSha256, sha256(ACCESS.passwordHash));
    world.clock.advanceS(5);
    await world.driver.rescue(id, ACCESS);
    assert.deepEqual((await machine(id)).bootedAt, bootedAt);
    await world.driver.rescue(id, { passwordHash: 'another' });
    assert.deepEqual((await machine(id)).bootedAt, world.clock.now());
    await world.driver.power(id, 'acpi');
    await world.waitForState(id, 'stopped');
    await world.driver.power(id, 'on');
    assert.equal((await machine(id)).rescuePasswordHashSha256, null);
    const rows = await world.db.rows<{ row: string }>('select m::text as row from sim.machines m');
    assert.ok(!rows.some(({ row }) => /canary/.test(row)));
  });
});
