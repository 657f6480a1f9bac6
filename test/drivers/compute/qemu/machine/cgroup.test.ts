import assert from 'node:assert/strict';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  applyLimits,
  detectCgroups,
  memoryMax,
  removeGroup,
} from '../../../../../src/drivers/compute/qemu/machine/cgroup.ts';
import { scratchFolder } from '../../../../support/scratch-folder.ts';

/** Folders like the kernel's: existing files can be written, but no others. */
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

describe('limits with cgroup v2', () => {
  const machine = { spec: { id: 'one', cpu: 2, ramMb: 2048 }, pid: 4711, accelerator: 'kvm' } as const;
  const text = (...path: string[]) => readFile(join(...path), 'utf8');

  it('each machine has its own group, and its process is moved there', async () => {
    const root = await createCgroupRoot('cpuset cpu io memory pids\n');
    await createCgroup(join(root, 'skerry'), 'cpu memory pids\n');
    await createCgroup(join(root, 'skerry', 'one'), 'cpu memory pids\n');
    await applyLimits(root, machine);
    // One controller per write. The kernel adds them up, while a plain file shows the last.
    for (const above of [root, join(root, 'skerry')]) {
      assert.match(await text(above, 'cgroup.subtree_control'), /^\+pids/);
    }
    const own = join(root, 'skerry', 'one');
    assert.equal(await text(own, 'cpu.max'), '200000 100000');
    assert.equal(await text(own, 'memory.max'), String((2048 + 512 + 64) * 1024 ** 2));
    assert.equal(await text(own, 'cgroup.procs'), '4711');
    assert.equal(await text(root, 'cgroup.procs'), '', 'no other process is moved');
  });

  it('controllers that are already enabled are not written again', async () => {
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

  it('without controllers no limits are written, but the machine still gets its group', async () => {
    const root = await createCgroupRoot('');
    await createCgroup(join(root, 'skerry'), '');
    await createCgroup(join(root, 'skerry', 'one'), '');
    await applyLimits(root, machine);
    assert.equal(await text(root, 'skerry', 'one', 'cpu.max'), '');
    assert.equal(await text(root, 'skerry', 'one', 'cgroup.procs'), '4711');
  });

  it('the memory limit leaves room for the translated code of an emulated CPU', () => {
    assert.ok(memoryMax(1024, 'tcg') >= (1024 + 1024) * 1024 ** 2);
    assert.ok(memoryMax(1024, 'tcg') > memoryMax(1024, 'kvm'));
  });

  it('removing a group can be repeated', async () => {
    const root = await createCgroupRoot('');
    await mkdir(join(root, 'skerry', 'one'), { recursive: true });
    for (const _ of ['once', 'again']) await removeGroup(root, 'one');
    await assert.rejects(stat(join(root, 'skerry', 'one')));
  });

  it('the kind of cgroups is detected from the mounts', async () => {
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
