/**
 * Resource limits of QEMU processes with cgroup v2. Each machine has a group `skerry/<id>` below the root,
 * outside the service's own group. That has two reasons: a guest cannot use what others have paid for, and
 * stopping the service's group, as systemd does, stops no guest. Other groups are unchanged, except that the
 * parents enable our controllers.
 *
 * With cgroup v1 there are no limits. That never prevents a machine from starting.
 */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { QemuHost } from '../host.ts';
import type { StoredSpec } from '../record.ts';

const GROUP = 'skerry';
const CONTROLLERS = ['cpu', 'memory', 'pids'];
const MIB = 1024 ** 2;
const PERIOD_US = 100_000;
/**
 * Memory that QEMU needs on top of the guest's: its own, screens, disk buffers, page tables (at most 1/50 of
 * the guest's memory). An emulated CPU also keeps up to 1 GiB of translated code.
 */
const OVERHEAD_MB = { kvm: 512, tcg: 1536 } as const;
const OVERHEAD_SHARE = 1 / 32;
/** Limit for QEMU's threads apart from CPUs: up to 64 I/O threads for each of several disks. */
const THREADS = 512;
/** A killed process leaves its group within this time. */
const REMOVE_TRIES = 40;
const REMOVE_RETRY_MS = 50;

/** `v2`: limits work. `v1`: the controllers are attached to cgroup v1. `none`: no usable cgroups. */
export type LimitsState = 'v2' | 'v1' | 'none';

export async function readLimitsState(): Promise<LimitsState> {
  return (await detectCgroups()).state;
}

/** Limits the CPU time, memory, and threads of a machine's QEMU process. Never throws. */
export async function limitProcess(host: QemuHost, spec: StoredSpec, pid: number): Promise<void> {
  try {
    const { state, root } = await detectCgroups();
    if (state !== 'v2') host.warnOnce(WARNINGS[state]);
    if (root !== null) await applyLimits(root, { spec, pid, accelerator: host.options.accelerator });
  } catch (error) {
    host.log.warn({ err: error, machine: spec.id }, 'limiting a machine failed, it runs without limits');
  }
}

/** Deletes the machine's group after its process has exited. A missing group is not an error. */
export async function removeLimits(host: QemuHost, id: string): Promise<void> {
  try {
    const { root } = await detectCgroups();
    if (root !== null) await removeGroup(root, id);
  } catch (error) {
    // An empty group costs nothing, and the machine's next start reuses it.
    host.log.warn({ err: error, machine: id }, 'removing the cgroup of a machine failed');
  }
}

interface MachineProcess {
  readonly spec: Pick<StoredSpec, 'id' | 'cpu' | 'ramMb'>;
  readonly pid: number;
  readonly accelerator: 'kvm' | 'tcg';
}

/** `root` is the mount point of cgroup v2. Without controllers, the group only tracks the process. */
export async function applyLimits(root: string, { spec, pid, accelerator }: MachineProcess): Promise<void> {
  const group = join(root, GROUP, spec.id);
  await mkdir(group, { recursive: true });
  const available = (await readControllers(root)).filter((name) => CONTROLLERS.includes(name));
  // From the top down: a group can only pass on controllers that its parent has enabled.
  for (const parent of [root, join(root, GROUP)]) await enableControllers(parent, available);
  const limits: Record<string, readonly [file: string, value: string][]> = {
    cpu: [['cpu.max', `${spec.cpu * PERIOD_US} ${PERIOD_US}`]],
    memory: [
      ['memory.max', String(memoryMax(spec.ramMb, accelerator))],
      ['memory.swap.max', '0'],
    ],
    pids: [['pids.max', String(THREADS + spec.cpu)]],
  };
  for (const [file, value] of available.flatMap((name) => limits[name] ?? [])) {
    await writeControlFile(join(group, file), value);
  }
  await writeControlFile(join(group, 'cgroup.procs'), String(pid));
}

export async function removeGroup(root: string, id: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await rmdir(join(root, GROUP, id));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return;
      if (code !== 'EBUSY' || tries >= REMOVE_TRIES) throw error;
      await pause(REMOVE_RETRY_MS);
    }
  }
}

export function memoryMax(ramMb: number, accelerator: 'kvm' | 'tcg'): number {
  return (ramMb + OVERHEAD_MB[accelerator] + Math.ceil(ramMb * OVERHEAD_SHARE)) * MIB;
}

/** Returns the kind of cgroups and the mount point of v2, with or without controllers. */
export async function detectCgroups(
  mounts = '/proc/mounts',
): Promise<{ readonly state: LimitsState; readonly root: string | null }> {
  const lines = (await readFile(mounts, 'utf8')).split('\n').map((line) => line.split(' '));
  const [, root] = lines.find(([, , type]) => type === 'cgroup2') ?? [];
  const hasV1 = lines.some(([, , type]) => type === 'cgroup');
  if (root === undefined) return { state: hasV1 ? 'v1' : 'none', root: null };
  const available = await readControllers(root);
  const hasAll = CONTROLLERS.every((name) => available.includes(name));
  return { state: hasAll ? 'v2' : hasV1 ? 'v1' : 'none', root };
}

async function readControllers(group: string): Promise<string[]> {
  return (await readFile(join(group, 'cgroup.controllers'), 'utf8')).trim().split(/\s+/);
}

/** Writes one controller at a time: a rejected one would fail the whole write. */
async function enableControllers(group: string, controllers: readonly string[]): Promise<void> {
  const file = join(group, 'cgroup.subtree_control');
  const enabled = (await readFile(file, 'utf8')).trim().split(/\s+/);
  for (const name of controllers.filter((controller) => !enabled.includes(controller)))
    await writeControlFile(file, `+${name}`);
}

/** Never creates a file: the kernel provides them. `memory.swap.max` does not exist without swap. */
async function writeControlFile(file: string, value: string): Promise<void> {
  try {
    await writeFile(file, value, { flag: 'r+' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !file.endsWith('memory.swap.max')) throw error;
  }
}

const WARNINGS: Record<Exclude<LimitsState, 'v2'>, string> = {
  v1:
    'machines run without CPU and memory limits because this system uses cgroup v1: ' +
    'boot with systemd.unified_cgroup_hierarchy=1',
  none: 'machines run without CPU and memory limits because this system lacks the cgroup controllers',
};
