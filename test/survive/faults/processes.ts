/** Processes of the service end, freeze, and run out of descriptors, memory, and disk. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { FaultStep } from '../history.ts';
import type { ServiceProcess } from '../world/processes.ts';
import type { World } from '../world/world.ts';
import { type Begin, type End, nothingToRepair } from './breaking.ts';

const execute = promisify(execFile);
const HOUR_MS = 3_600_000;
/** V8 reserves more from time to time. */
const MEMORY_LEFT_BYTES = 32 * 1024 ** 2;
const DESCRIPTORS_LEFT = 2;

const at = (world: World, { on }: FaultStep): ServiceProcess => world.processes.at(on);

/** It stays down until the fault ends. */
const endWith =
  (signal: NodeJS.Signals): Begin =>
  async (world, step) => {
    const one = at(world, step);
    const ended = one.end(signal, { hold: true });
    return async () => {
      one.release();
      await ended;
    };
  };

export const killProcess = endWith('SIGKILL');
export const stopProcess = endWith('SIGTERM');

export const killAll: Begin = async (world) => {
  await Promise.all(world.processes.all.map((one) => one.end('SIGKILL')));
  return nothingToRepair;
};

export const freezeProcess: Begin = async (world, step) => {
  const one = at(world, step);
  one.signal('SIGSTOP');
  return async () => one.signal('SIGCONT');
};

export const shiftClock =
  (sign: 1 | -1): Begin =>
  async (world, step) => {
    const one = at(world, step);
    await one.shiftClock(sign * (1 + (step.value % HOUR_MS)));
    return async () => await one.shiftClock(0);
  };

export const fillDataDisk: Begin = async (world, { on }) => {
  const disk = world.dataDisks[on % world.dataDisks.length];
  await disk?.fill();
  return async () => await disk?.repair();
};

export const makeDataReadOnly: Begin = async (world, { on }) => {
  const disk = world.dataDisks[on % world.dataDisks.length];
  await disk?.makeReadOnly();
  return async () => await disk?.repair();
};

export const exhaustDescriptors: Begin = async (world, step) => {
  const { pid } = at(world, step);
  if (pid === null) return nothingToRepair;
  const open = await readdir(`/proc/${pid}/fd`).catch(() => []);
  return (await limit(pid, 'nofile', open.length + DESCRIPTORS_LEFT)) ?? nothingToRepair;
};

/** It may end, as it does when the kernel refuses memory. */
export const exhaustMemory: Begin = async (world, step) => {
  const one = at(world, step);
  const { pid } = one;
  if (pid === null) return nothingToRepair;
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const sizeKb = Number(/^VmSize:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  if (sizeKb === 0) return nothingToRepair;
  one.mayDie += 1;
  const noLonger = () => {
    one.mayDie -= 1;
  };
  const repair = await limit(pid, 'as', sizeKb * 1024 + MEMORY_LEFT_BYTES);
  if (repair === null) noLonger();
  return repair === null ? nothingToRepair : async () => await repair().finally(noLonger);
};

/** Sets the soft limit of a running process. Null: it has ended meanwhile. */
async function limit(pid: number, name: 'nofile' | 'as', value: number): Promise<End | null> {
  const prlimit = async (...args: readonly string[]) =>
    await execute('prlimit', ['--pid', String(pid), ...args]).catch(() => null);
  const before = await prlimit(`--${name}`, '-o', 'SOFT', '--noheadings');
  const isSet = before !== null && (await prlimit(`--${name}=${value}:`)) !== null;
  return isSet ? async () => void (await prlimit(`--${name}=${before.stdout.trim()}:`)) : null;
}
