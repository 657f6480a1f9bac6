/** What is made of counters, and what is written of limits: no machine is started here. */
import assert from 'node:assert/strict';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  applyLimits,
  detectCgroups,
  memoryMax,
  removeGroup,
} from '../../../src/drivers/compute/qemu/metrics/cgroup.ts';
import { type Counters, parseStat } from '../../../src/drivers/compute/qemu/metrics/counters.ts';
import {
  type HourSum,
  type Reading,
  usageBetween,
} from '../../../src/drivers/compute/qemu/metrics/metrics-store.ts';
import { toSample } from '../../../src/drivers/compute/qemu/metrics/sample.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/kernel/time.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';

const HOUR = 500_000 * HOUR_MS;

function counters(wanted: Partial<Counters> = {}): Counters {
  return {
    ...{ run: '7 100', runSince: HOUR, cpuMs: 0, ramMb: 100 },
    ...{ diskRead: 0, diskWritten: 0, netIn: 0, netOut: 0, ...wanted },
  };
}
const readingAt = (minutes: number, wanted: Partial<Counters> = {}): Reading => ({
  ...counters(wanted),
  at: HOUR + minutes * MINUTE_MS,
});
const total = (hours: readonly HourSum[], of: keyof HourSum) =>
  Math.round(hours.reduce((sum, hour) => sum + hour[of], 0));

describe('what a machine has used', () => {
  it('is what its counters rose by, over the time between two readings', () => {
    const last = readingAt(10, { cpuMs: 1000, diskRead: 5, diskWritten: 50, netIn: 500, netOut: 5000 });
    const now = counters({ cpuMs: 7000, diskRead: 8, diskWritten: 80, netIn: 800, netOut: 8000, ramMb: 64 });
    const [hour, ...others] = usageBetween(last, now, HOUR + 11 * MINUTE_MS);
    assert.deepEqual(others, []);
    assert.deepEqual(hour, {
      ...{ hour: HOUR, onMs: MINUTE_MS, cpuMs: 6000, ramMbMs: 64 * MINUTE_MS },
      ...{ diskRead: 3, diskWritten: 30, netIn: 300, netOut: 3000 },
    });
  });

  it('is all that was counted since it was switched on, when that is since the last reading', () => {
    const last = readingAt(10, { cpuMs: 1000, diskRead: 50, netOut: 5000 });
    const again = counters({
      run: '8 900',
      runSince: HOUR + 20 * MINUTE_MS,
      cpuMs: 2000,
      diskRead: 70,
      netOut: 90,
    });
    const hours = usageBetween(last, again, HOUR + 30 * MINUTE_MS);
    assert.equal(total(hours, 'onMs'), 10 * MINUTE_MS);
    assert.deepEqual(
      [total(hours, 'cpuMs'), total(hours, 'diskRead'), total(hours, 'netOut')],
      [2000, 70, 90],
    );
    // Its tap is the one it had.
    const kept = usageBetween(last, { ...again, netOut: 5090 }, HOUR + 30 * MINUTE_MS);
    assert.equal(total(kept, 'netOut'), 90);
    assert.equal(total(usageBetween(null, again, HOUR + 30 * MINUTE_MS), 'cpuMs'), 2000);
  });

  it('is spread over the hours that nobody looked', () => {
    const hours = usageBetween(readingAt(30), counters({ netOut: 6000 }), HOUR + 150 * MINUTE_MS);
    assert.deepEqual(
      hours.map(({ hour, onMs, netOut }) => [(hour - HOUR) / HOUR_MS, onMs / MINUTE_MS, netOut]),
      [
        [0, 30, 1500],
        [1, 60, 3000],
        [2, 30, 1500],
      ],
    );
  });

  it('is seen later where it could not be read, and never less than nothing', () => {
    assert.equal(
      total(
        usageBetween(readingAt(1, { diskRead: 5 }), counters({ diskRead: null }), HOUR + 2 * MINUTE_MS),
        'diskRead',
      ),
      0,
    );
    const back = usageBetween(readingAt(10, { netOut: 9 }), counters({ netOut: 4 }), HOUR + 9 * MINUTE_MS);
    assert.equal(total(back, 'netOut'), 4);
    assert.ok(total(back, 'onMs') > 0);
    assert.equal(
      usageBetween(null, counters({ runSince: HOUR }), HOUR).length,
      1,
      'at the moment it is switched on, too',
    );
  });

  it('is shown as load while it was on, and as flows that add up', () => {
    const sum = { hour: HOUR, onMs: 6 * MINUTE_MS, cpuMs: 6 * MINUTE_MS, ramMbMs: 700 * 6 * MINUTE_MS };
    const flows = { diskRead: 3600, diskWritten: 7200, netIn: 0, netOut: 36_000 };
    const over = toSample('a', { ...sum, ...flows }, { cpu: 2, ramMb: 512, now: HOUR + 2 * HOUR_MS });
    assert.deepEqual(over, {
      ...{ id: 'a', hour: new Date(HOUR), cpuPct: 50, ramMb: 512 },
      ...{ diskReadBps: 1, diskWriteBps: 2, netInBps: 0, netOutBps: 10 },
    });
    const running = toSample('a', { ...sum, ...flows }, { cpu: 1, ramMb: 512, now: HOUR + HOUR_MS / 2 });
    assert.deepEqual([running.netOutBps, running.cpuPct], [20, 100]);
  });

  it('is read from the kernel whatever its process is called', () => {
    const fields = Array.from({ length: 50 }, (_, n) => n + 3);
    assert.deepEqual(parseStat(`12 (qemu (a) b) ${fields.join(' ')}\n`), {
      cpuMs: (14 + 15) * 10,
      beganMs: 220,
    });
  });
});

/** A folder such as the kernel shows: files that there are may be written, and no others. */
const roots: string[] = [];
after(() => Promise.all(roots.map((root) => rm(root, { recursive: true, force: true }))));

async function createCgroupRoot(controllers: string): Promise<string> {
  const root = scratchFolder();
  roots.push(root);
  await createCgroup(root, controllers);
  return root;
}
async function createCgroup(group: string, controllers: string): Promise<void> {
  await mkdir(group, { recursive: true });
  const files = ['cgroup.subtree_control', 'cgroup.procs', 'cpu.max', 'memory.max', 'pids.max'];
  for (const file of files) await writeFile(join(group, file), '');
  await writeFile(join(group, 'cgroup.controllers'), controllers);
}

describe('limits by cgroups of version 2', () => {
  const machine = { spec: { id: 'one', cpu: 2, ramMb: 2048 }, pid: 4711, accelerator: 'kvm' } as const;
  const text = (...path: string[]) => readFile(join(...path), 'utf8');

  it('are of a group of its own for each machine, and its process is moved there', async () => {
    const root = await createCgroupRoot('cpuset cpu io memory pids\n');
    await createCgroup(join(root, 'skerry'), 'cpu memory pids\n');
    await createCgroup(join(root, 'skerry', 'one'), 'cpu memory pids\n');
    await applyLimits(root, machine);
    // One word at a time; the kernel adds them up, a file has the last over the others.
    for (const above of [root, join(root, 'skerry')]) {
      assert.match(await text(above, 'cgroup.subtree_control'), /^\+pids/);
    }
    const own = join(root, 'skerry', 'one');
    assert.equal(await text(own, 'cpu.max'), '200000 100000');
    assert.equal(await text(own, 'memory.max'), String((2048 + 512 + 64) * 1024 ** 2));
    assert.equal(await text(own, 'cgroup.procs'), '4711');
    assert.equal(await text(root, 'cgroup.procs'), '', 'nothing else is moved');
  });

  it('leave controllers alone that are given already', async () => {
    const root = await createCgroupRoot('cpu memory pids\n');
    await createCgroup(join(root, 'skerry'), 'cpu memory pids\n');
    await createCgroup(join(root, 'skerry', 'one'), 'cpu memory pids\n');
    for (const group of [root, join(root, 'skerry')]) {
      const file = join(group, 'cgroup.subtree_control');
      await writeFile(file, 'cpu memory pids\n');
    }
    await applyLimits(root, machine);
    assert.equal(await text(root, 'cgroup.subtree_control'), 'cpu memory pids\n');
  });

  it('are not written where there are no controllers, and the machine has its group all the same', async () => {
    const root = await createCgroupRoot('');
    await createCgroup(join(root, 'skerry'), '');
    await createCgroup(join(root, 'skerry', 'one'), '');
    await applyLimits(root, machine);
    assert.equal(await text(root, 'skerry', 'one', 'cpu.max'), '');
    assert.equal(await text(root, 'skerry', 'one', 'cgroup.procs'), '4711');
  });

  it('leave room for code that an emulated processor keeps', () => {
    assert.ok(memoryMax(1024, 'tcg') >= (1024 + 1024) * 1024 ** 2);
    assert.ok(memoryMax(1024, 'tcg') > memoryMax(1024, 'kvm'));
  });

  it('go with the machine, also a second time', async () => {
    const root = await createCgroupRoot('');
    await mkdir(join(root, 'skerry', 'one'), { recursive: true });
    for (const _ of ['once', 'again']) await removeGroup(root, 'one');
    await assert.rejects(stat(join(root, 'skerry', 'one')));
  });

  it('are found by what is mounted', async () => {
    const folder = await createCgroupRoot('');
    const mounts = join(folder, 'mounts');
    const state = async (...lines: string[]) => {
      await writeFile(mounts, `proc /proc proc rw 0 0\n${lines.join('\n')}\n`);
      return (await detectCgroups(mounts)).state;
    };
    const whole = await createCgroupRoot('cpuset cpu io memory pids\n');
    const empty = await createCgroupRoot('');
    assert.equal(await state(`cgroup2 ${whole} cgroup2 rw 0 0`), 'v2');
    assert.equal(await state('cgroup /x cgroup rw,cpu 0 0', `cgroup2 ${empty} cgroup2 rw 0 0`), 'v1');
    assert.equal(await state('cgroup /x cgroup rw,cpu 0 0'), 'v1');
    assert.equal(await state(`cgroup2 ${empty} cgroup2 rw 0 0`), 'none');
    assert.equal(await state(), 'none');
  });
});
