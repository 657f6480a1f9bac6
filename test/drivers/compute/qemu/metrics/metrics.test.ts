/** Metrics of real guests. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { readLimitsState } from '../../../../../src/drivers/compute/qemu/machine/cgroup.ts';
import { readHours, readLast } from '../../../../../src/drivers/compute/qemu/metrics/metrics-store.ts';
import { HOUR_MS } from '../../../../../src/kernel/time.ts';
import type { HourSample } from '../../../../../src/ports/compute.ts';
import { ContractFixture } from '../../compute-world.ts';
import { type QemuWorld, qemuWorld, REAL_MACHINES } from '../support/qemu-world.ts';

const MIB = 1024 ** 2;

describe('metrics of real machines', REAL_MACHINES, () => {
  let world: QemuWorld;
  let id: string;
  before(async () => {
    world = await qemuWorld();
    const bench = new ContractFixture();
    await bench.open(async () => world);
    ({ id } = await bench.startMachine({ after: () => undefined }, world.machine));
    await world.sshWithRetry(id, 'true');
  });
  after(() => world?.close());

  /** Returns the stored sums over all hours. */
  async function sums() {
    await world.driver.sample([id], new Date(0));
    const hours = await readHours(world.host, id);
    const total = (of: 'onMs' | 'cpuMs' | 'diskRead' | 'diskWritten' | 'netIn' | 'netOut') =>
      hours.reduce((sum, hour) => sum + hour[of], 0);
    return {
      on: total('onMs'),
      cpu: total('cpuMs'),
      read: total('diskRead'),
      written: total('diskWritten'),
      in: total('netIn'),
      out: total('netOut'),
    };
  }
  type Sums = Awaited<ReturnType<typeof sums>>;

  /** Waits until a reading shows it; readings are some seconds apart. */
  async function shows(more: (now: Sums) => boolean): Promise<void> {
    await world.eventually(async () => more(await sums()));
  }

  it('a new machine has a sample at once, including its boot', async () => {
    const [hour, ...others] = await world.driver.sample([id], new Date());
    const seen: HourSample = hour ?? assert.fail('no sample');
    assert.ok(others.length <= 1);
    assert.equal(seen.hour.getTime() % HOUR_MS, 0);
    const { cpu, read, on } = await sums();
    assert.ok(cpu > 500 && read > 5 * MIB && on > 1000, JSON.stringify({ cpu, read, on }));
    assert.ok(seen.ramMb > 16 && seen.ramMb <= 128, `${seen.ramMb} MiB`);
  });

  it('memory is what the guest counts as used, not what its QEMU occupies', async () => {
    await world.eventually(async () => {
      await sums();
      const meminfo = await world.ssh(id, 'cat /proc/meminfo');
      const kb = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(meminfo)?.[1]);
      const usedMb = (kb('MemTotal') - kb('MemAvailable')) / 1024;
      const seenMb = (await readLast(world.host, id))?.ramMb ?? 0;
      return seenMb > 0 && Math.abs(seenMb - usedMb) < 8;
    });
  });

  it('a busy CPU shows in the metrics', async () => {
    const before = await sums();
    const count = 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done';
    const began = performance.now();
    await world.ssh(id, count, { timeoutMs: 60_000 });
    const tookMs = performance.now() - began;
    // The guest may have had to wait for a host CPU.
    await shows((now) => now.cpu - before.cpu > 500);
    assert.ok((await sums()).cpu - before.cpu < 2 * tookMs + 5000, 'plausible upper bound');
  });

  it('disk writes show in the metrics', async () => {
    const before = await sums();
    await world.ssh(
      id,
      'dd if=/dev/zero of=/data/filled bs=1M count=8 conv=fsync && rm /data/filled && sync',
      { timeoutMs: 60_000 },
    );
    await shows((now) => now.written - before.written >= 8 * MIB);
    assert.ok((await sums()).written - before.written < 64 * MIB);
  });

  it('sent and received bytes are counted from the guest’s side', async () => {
    const before = await sums();
    const sent = await world.ssh(id, 'dd if=/dev/zero bs=1M count=3 2>/dev/null', { timeoutMs: 60_000 });
    assert.equal(sent.length, 3 * MIB);
    await shows((now) => now.out - before.out >= 3 * MIB);
    const now = await sums();
    assert.ok(now.in - before.in < 2 * MIB, 'only acknowledgments came in');
  });

  it('counting continues across a restart of QEMU and stops while the machine is off', async () => {
    const before = await sums();
    await world.driver.power(id, 'off');
    await world.eventually(async () => (await world.driver.observe([id]))[0]?.state === 'stopped');
    const off = await sums();
    assert.deepEqual(await sums(), off);
    assert.ok(off.cpu >= before.cpu);
    await world.driver.power(id, 'on');
    await world.sshWithRetry(id, 'true');
    await shows((now) => now.cpu - off.cpu > 500 && now.read - off.read > 5 * MIB);
    assert.deepEqual(await world.driver.sample(['never-made'], new Date(0)), []);
  });

  it('a machine is limited by its own cgroup where cgroup v2 has controllers', async () => {
    const pid = (await readFile(world.host.layout.runtimeFile(id, 'pid'), 'utf8')).trim();
    const group = /^0::(.*)$/m.exec(await readFile(`/proc/${pid}/cgroup`, 'utf8'))?.[1];
    const state = await readLimitsState();
    if (state === 'none') return;
    assert.equal(group, `/skerry/${id}`);
    const mounts = await readFile('/proc/mounts', 'utf8');
    const root = / (\S+) cgroup2 /.exec(mounts)?.[1] ?? '';
    if (state === 'v2') {
      assert.equal((await readFile(`${root}${group}/cpu.max`, 'utf8')).trim(), '100000 100000');
      assert.match(await readFile(`${root}${group}/memory.max`, 'utf8'), /^\d+\n$/);
    }
  });
});
