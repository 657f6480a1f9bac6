/** Processes of the service end, freeze, and run out of descriptors, memory, and disk. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { FaultStep } from '../history.ts';
import type { ServiceProcess } from '../world/processes.ts';
import type { World } from '../world/world.ts';
import { type Begin, breakOne, lasting, momentary, onPart, type Part, type Repair, rotate } from './begin.ts';

const execute = promisify(execFile);
const HOUR_MS = 3_600_000;
/** V8 reserves more from time to time. */
const MEMORY_LEFT_BYTES = 32 * 1024 ** 2;
const DESCRIPTORS_LEFT = 2;

const processesOf =
  (what: string) =>
  ({ processes }: World, { on }: FaultStep): Part<ServiceProcess>[] =>
    rotate(
      processes.all.map((one, index) => onPart(`${what} of process ${index}`, one)),
      on,
    );

const dataDisksOf = ({ dataDisks }: World, { on }: FaultStep) =>
  rotate(
    dataDisks.map((disk, index) => onPart(`data disk ${index}`, disk)),
    on,
  );

/** It stays down until the fault ends. */
const endWith = (signal: NodeJS.Signals): Begin =>
  breakOne(processesOf('end'), async (one) => {
    if (one.pid === null) return null;
    const ended = one.end(signal, { hold: true });
    return lasting(async () => {
      one.release();
      await ended;
    });
  });

export const killProcess = endWith('SIGKILL');
export const stopProcess = endWith('SIGTERM');

export const killAll: Begin = async ({ processes }) => {
  const running = processes.all.filter(({ pid }) => pid !== null);
  await Promise.all(running.map((one) => one.end('SIGKILL')));
  return running.length > 0 ? momentary() : null;
};

export const freezeProcess = breakOne(processesOf('freeze'), async (one) =>
  one.signal('SIGSTOP') ? lasting(async () => void one.signal('SIGCONT')) : null,
);

export const shiftClock = (sign: 1 | -1): Begin =>
  breakOne(processesOf('clock'), async (one, { value }) => {
    await one.shiftClock(sign * (1 + (value % HOUR_MS)));
    return lasting(() => one.shiftClock(0));
  });

export const fillDataDisk = breakOne(dataDisksOf, async (disk) =>
  (await disk.fill()) ? lasting(() => disk.repair()) : null,
);

export const makeDataReadOnly = breakOne(dataDisksOf, async (disk) =>
  (await disk.makeReadOnly()) ? lasting(() => disk.repair()) : null,
);

export const exhaustDescriptors = breakOne(processesOf('descriptors'), async ({ pid }) => {
  if (pid === null) return null;
  const open = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const repair = await limit(pid, 'nofile', open.length + DESCRIPTORS_LEFT);
  return repair === null ? null : lasting(repair);
});

/** It may end, as it does when the kernel refuses memory. */
export const exhaustMemory = breakOne(processesOf('memory'), async (one) => {
  const { pid } = one;
  if (pid === null) return null;
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const sizeKb = Number(/^VmSize:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  if (sizeKb === 0) return null;
  one.mayDie += 1;
  const noLonger = () => {
    one.mayDie -= 1;
  };
  const repair = await limit(pid, 'as', sizeKb * 1024 + MEMORY_LEFT_BYTES);
  if (repair === null) noLonger();
  return repair === null ? null : lasting(async () => await repair().finally(noLonger));
});

/** Sets the soft limit of a running process. Null: it has ended meanwhile. */
async function limit(pid: number, name: 'nofile' | 'as', value: number): Promise<Repair | null> {
  const prlimit = async (...args: readonly string[]) =>
    await execute('prlimit', ['--pid', String(pid), ...args]).catch(() => null);
  const before = await prlimit(`--${name}`, '-o', 'SOFT', '--noheadings');
  const isSet = before !== null && (await prlimit(`--${name}=${value}:`)) !== null;
  return isSet ? async () => void (await prlimit(`--${name}=${before.stdout.trim()}:`)) : null;
}
