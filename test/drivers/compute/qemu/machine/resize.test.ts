/** Resizes of real machines: the disk while the guest runs, CPUs and memory from the next power-on. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readDiskInfo } from '../../../../../src/drivers/compute/qemu/qcow2.ts';
import { readRecord } from '../../../../../src/drivers/compute/qemu/record.ts';
import type { MachineSpec } from '../../../../../src/ports/compute.ts';
import { failsAs, machineSpec } from '../../compute-world.ts';
import { executeQmp } from '../support/machine-helpers.ts';
import { type QemuWorld, qemuWorld, REAL_MACHINES } from '../support/qemu-world.ts';

const GIB = 1024 ** 3;

describe('resizes of the QEMU driver', REAL_MACHINES, () => {
  let world: QemuWorld;
  let spec: MachineSpec;
  before(async () => {
    world = await qemuWorld();
    spec = machineSpec({ id: 'srv_one', host: world.hosts[0], ...world.machine, diskGb: 1 });
    await world.driver.ensure(spec);
    await until('running');
  });
  after(() => world.close());

  async function until(state: string): Promise<void> {
    await world.eventually(async () => (await world.driver.observe([spec.id]))[0]?.state === state);
  }
  async function ask(command: string): Promise<number> {
    return Number((await world.sshWithRetry(spec.id, command)).trim());
  }
  const diskBytes = async () => (await ask('cat /sys/block/vda/size')) * 512;
  const memoryKib = () => ask("sed -n 's/^MemTotal: *\\([0-9]*\\) kB$/\\1/p' /proc/meminfo");
  const processors = () => ask('grep -c ^processor /proc/cpuinfo');
  const larger = () => ({ cpu: 2, ramMb: spec.ramMb * 2, diskGb: 2 });

  it('a running guest sees its larger disk at once, and its memory after a power-on', async () => {
    const before = await memoryKib();
    assert.deepEqual([await diskBytes(), await processors()], [GIB, spec.cpu]);
    await world.sshWithRetry(spec.id, 'echo kept > /kept && sync').catch(() => undefined);
    assert.deepEqual(await world.driver.resize(spec.id, larger()), { diskGb: 2 });
    assert.deepEqual([await diskBytes(), await processors()], [2 * GIB, spec.cpu]);
    assert.equal(await memoryKib(), before);
    await world.driver.power(spec.id, 'off');
    await world.driver.power(spec.id, 'on');
    await until('running');
    assert.deepEqual([await diskBytes(), await processors()], [2 * GIB, 2]);
    assert.ok((await memoryKib()) > before * 1.7);
  });

  it('a disk that no host has room for leaves the machine as it is', async () => {
    const record = await readRecord(world.host.layout, spec.id);
    await failsAs('host', world.driver.resize(spec.id, { ...larger(), cpu: 4, diskGb: 900_000 }));
    assert.deepEqual(await readRecord(world.host.layout, spec.id), record);
    assert.equal(await diskBytes(), 2 * GIB);
  });

  it('the disk of a machine that is off is enlarged, and never shrinks', async () => {
    await world.driver.power(spec.id, 'off');
    await until('stopped');
    assert.deepEqual(await world.driver.resize(spec.id, { ...larger(), diskGb: 3 }), { diskGb: 3 });
    const { sizeBytes, backing } = await readDiskInfo(world.host, world.host.layout.disk(spec.id, 1));
    assert.deepEqual([sizeBytes, backing !== null], [3 * GIB, true]);
    const { cpu, ramMb } = spec;
    assert.deepEqual(await world.driver.resize(spec.id, { cpu, ramMb, diskGb: 1 }), { diskGb: 3 });
    await world.driver.power(spec.id, 'on');
    await until('running');
    assert.deepEqual([await diskBytes(), await processors()], [3 * GIB, cpu]);
  });

  it('a disk that a killed call enlarged without a record is taken as it is', async () => {
    await executeQmp(world, spec.id, 'block_resize', { 'node-name': 'disk', size: 4 * GIB });
    assert.equal((await readRecord(world.host.layout, spec.id))?.spec.diskGb, 3);
    const { cpu, ramMb } = spec;
    assert.deepEqual(await world.driver.resize(spec.id, { cpu, ramMb, diskGb: 3 }), { diskGb: 4 });
    assert.equal((await readRecord(world.host.layout, spec.id))?.spec.diskGb, 4);
  });
});
