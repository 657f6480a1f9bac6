/** Volumes as guests see them. The contract covers the rest. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { after, afterEach, before, describe, it } from 'node:test';
import { volumeSerial } from '../../../../../src/drivers/compute/qemu/host.ts';
import { Qmp } from '../../../../../src/drivers/compute/qemu/qmp.ts';
import { ContractFixture, failsAs } from '../../compute-world.ts';
import { type QemuWorld, qemuWorld, REAL_MACHINES } from '../support/qemu-world.ts';

const GIB = 1024 ** 3;
const DEVICE = '/dev/vdb';
/** The guest writes this to the start of a volume. It fills a sector. */
const MARKER = 'SKERRY-WAS-HERE-'.repeat(32);

describe('volumes of real machines', REAL_MACHINES, () => {
  let world: QemuWorld;
  let one: string;
  let two: string;
  let made = 0;
  let id = '';
  before(async () => {
    world = await qemuWorld();
    const bench = new ContractFixture();
    await bench.open(async () => world);
    // All tests of this file share them, so they are removed with the world.
    const stay = { after: () => undefined };
    [one, two] = (await Promise.all([bench.startMachine(stay), bench.startMachine(stay)])).map(
      (spec) => spec.id,
    ) as [string, string];
  });
  after(() => world?.close());
  afterEach(() => world.driver.removeVolume(id));

  const volume = (sizeGb = 1) => ({ id, sizeGb, device: DEVICE });
  const begin = (name: string) => {
    id = `${name}-${made++}`;
  };
  const file = () => world.host.layout.volume(id, 'qcow2');
  /** Returns the size in GiB that the guest sees; 0 without a volume. */
  const sizeIn = async (machine: string) =>
    (Number(await world.ssh(machine, 'cat /sys/block/vdb/size 2>/dev/null || echo 0')) * 512) / GIB;
  const sees = (machine: string, sizeGb: number) =>
    world.eventually(async () => (await sizeIn(machine)) === sizeGb);
  const write = (machine: string) =>
    world.ssh(machine, `printf '%s' '${MARKER}' | dd of=${DEVICE} bs=512 conv=fsync 2>/dev/null`);
  const read = (machine: string) => world.ssh(machine, `dd if=${DEVICE} bs=512 count=1 2>/dev/null`);
  const inQemu = async <T>(machine: string, work: (qmp: Qmp) => Promise<T>): Promise<T> => {
    const qmp = (await Qmp.open(world.host.layout.runtimeFile(machine, 'qmp'))) ?? assert.fail('it is off');
    try {
      return await work(qmp);
    } finally {
      qmp.close();
    }
  };

  it('a running guest finds a volume by its serial number, and its data moves with the volume', async () => {
    begin('moved');
    await world.driver.attach(one, volume());
    await sees(one, 1);
    assert.equal((await world.ssh(one, 'cat /sys/block/vdb/serial')).trim(), volumeSerial(id));
    await write(one);
    await world.driver.attach(two, volume());
    await Promise.all([sees(one, 0), sees(two, 1)]);
    assert.equal(await read(two), MARKER);
  });

  it('a guest sees its volume grow while it uses it, and the volume never shrinks', async () => {
    begin('grown');
    await world.driver.attach(one, volume());
    await sees(one, 1);
    await write(one);
    await world.driver.grow(id, 3);
    await sees(one, 3);
    await world.driver.grow(id, 2);
    await world.driver.detach(id);
    await world.driver.grow(id, 4);
    await world.driver.attach(one, volume());
    await sees(one, 4);
    assert.equal(await read(one), MARKER);
  });

  it('after a start, volumes are in the order of their devices', async (t) => {
    begin('second');
    const first = `first-${made++}`;
    t.after(() => world.driver.removeVolume(first));
    await world.driver.power(two, 'off');
    await world.driver.attach(two, { id, sizeGb: 2, device: '/dev/vdc' });
    await world.driver.attach(two, { id: first, sizeGb: 1, device: DEVICE });
    await world.driver.power(two, 'on');
    const serials = await world.sshWithRetry(
      two,
      'cat /sys/block/vdb/serial; echo; cat /sys/block/vdc/serial',
    );
    assert.deepEqual(serials.trim().split(/\s+/), [first, id].map(volumeSerial));
  });

  it('a guest that does not respond keeps its volume until it does', async () => {
    begin('kept');
    await world.driver.attach(one, volume());
    await sees(one, 1);
    await inQemu(one, (qmp) => qmp.execute('stop'));
    await failsAs('transient', world.driver.detach(id));
    await failsAs('transient', world.driver.attach(two, volume()));
    await inQemu(one, (qmp) => qmp.execute('cont'));
    // The release may take longer than one call waits.
    await world.eventually(async () => {
      await world.driver.attach(two, volume());
      return true;
    });
    await Promise.all([sees(one, 0), sees(two, 1)]);
  });

  it('a machine supports fifteen volumes', async () => {
    begin('many');
    await failsAs('refused', world.driver.attach(one, { ...volume(), device: '/dev/vdq' }));
    await world.driver.attach(one, { ...volume(), device: '/dev/vdp' });
    assert.equal((await world.attached(one)).length, 1);
  });

  it('a machine starts without a broken volume and gets it when it is attached again', async () => {
    begin('missed');
    await world.driver.attach(one, volume());
    await sees(one, 1);
    await write(one);
    await world.driver.power(one, 'off');
    await rename(file(), `${file()}.aside`);
    await writeFile(file(), 'not a disk');
    await world.driver.power(one, 'on');
    await world.sshWithRetry(one, 'true');
    assert.equal(await sizeIn(one), 0);
    await rename(`${file()}.aside`, file());
    await world.driver.attach(one, volume());
    await sees(one, 1);
    assert.equal(await read(one), MARKER);
  });

  it('a volume whose file is lost stays lost, and no empty one replaces it', async () => {
    begin('lost');
    await world.driver.attach(one, volume());
    await sees(one, 1);
    await world.driver.power(one, 'off');
    await rm(file());
    await world.driver.power(one, 'on');
    await world.sshWithRetry(one, 'true');
    assert.equal(await sizeIn(one), 0);
    await failsAs('host', world.driver.attach(one, volume()));
    assert.ok(!existsSync(file()));
  });
});
