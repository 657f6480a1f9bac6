/**
 * Limits of QEMU's processes, by cgroups of version 2. Each machine has a group `skerry/<id>` below the root, apart from
 * the service's own, for two reasons: one guest cannot take what others have paid for, and whoever stops the service with
 * all processes of its group, as systemd does, stops no guest. Nothing else is moved, and no other group is changed but
 * for the controllers that ours needs from above.
 *
 * Where controllers are still those of version 1 there are no limits; a machine is never kept from starting by that.
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
 * What QEMU needs beside the guest's memory, with room: its own, screens, buffers of disks, page tables (a fiftieth of the
 * guest's memory at most). An emulated processor keeps up to 1 GiB of translated code as well.
 */
const OVERHEAD_MB = { kvm: 512, tcg: 1536 } as const;
const OVERHEAD_SHARE = 1 / 32;
/** Threads of QEMU: those of processors, and up to 64 at work on disks for each of several. */
const THREADS = 512;
/** A process that was killed is gone soon. */
const REMOVE_TRIES = 40;
const REMOVE_RETRY_MS = 50;

/** `v2`: limits work. `v1`: this machine's controllers are those of version 1. `none`: it has no cgroups. */
export type LimitsState = 'v2' | 'v1' | 'none';

export async function readLimitsState(): Promise<LimitsState> {
  return (await detectCgroups()).state;
}

/** Puts QEMU's process under the limits of its machine: processor time, memory, number of threads. Never fails. */
export async function limitProcess(host: QemuHost, spec: StoredSpec, pid: number): Promise<void> {
  try {
    const { state, root } = await detectCgroups();
    if (state !== 'v2') warnOnce(host, state);
    if (root !== null) await applyLimits(root, { spec, pid, accelerator: host.options.accelerator });
  } catch (error) {
    host.log.warn({ err: error, machine: spec.id }, 'machine runs without its limits');
  }
}

/** Takes the machine's group away, once its process is gone; one that is not there is fine. */
export async function removeLimits(host: QemuHost, id: string): Promise<void> {
  try {
    const { root } = await detectCgroups();
    if (root !== null) await removeGroup(root, id);
  } catch (error) {
    // An empty group costs nothing, and the machine's next start takes it again.
    host.log.warn({ err: error, machine: id }, 'group of a machine could not be removed');
  }
}

/** `root` is where version 2 is mounted; a machine without its controllers has it for the grouping alone. */
export async function applyLimits(
  root: string,
  {
    spec,
    pid,
    accelerator,
  }: {
    readonly spec: Pick<StoredSpec, 'id' | 'cpu' | 'ramMb'>;
    readonly pid: number;
    readonly accelerator: 'kvm' | 'tcg';
  },
): Promise<void> {
  const group = join(root, GROUP, spec.id);
  await mkdir(group, { recursive: true });
  const available = (await readControllers(root)).filter((name) => CONTROLLERS.includes(name));
  // Group by group, from above: each gives its controllers to those below.
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

/** What kind of cgroups there are, and where version 2 is mounted, with or without controllers. */
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

/** One at a time: a word that is refused takes the others with it. */
async function enableControllers(group: string, controllers: readonly string[]): Promise<void> {
  const file = join(group, 'cgroup.subtree_control');
  const enabled = (await readFile(file, 'utf8')).trim().split(/\s+/);
  for (const name of controllers.filter((controller) => !enabled.includes(controller)))
    await writeControlFile(file, `+${name}`);
}

/** The kernel makes these files: one that is not there is never made. `memory.swap.max` is missing without swap. */
async function writeControlFile(file: string, value: string): Promise<void> {
  try {
    await writeFile(file, value, { flag: 'r+' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !file.endsWith('memory.swap.max')) throw error;
  }
}

const WARNINGS: Record<Exclude<LimitsState, 'v2'>, string> = {
  v1: 'machines run without limits of processor and memory: this system keeps them under cgroups of version 1; boot it with systemd.unified_cgroup_hierarchy=1',
  none: 'machines run without limits of processor and memory: this system has no cgroups with these controllers',
};
const warned = new WeakSet<QemuHost>();

function warnOnce(host: QemuHost, state: Exclude<LimitsState, 'v2'>): void {
  if (warned.has(host)) return;
  warned.add(host);
  host.log.warn(WARNINGS[state]);
}
