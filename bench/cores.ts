/**
 * Gives a process cores of its own, by `taskset` of util-linux. Otherwise the clients' work under overload
 * would be taken from the service, and the figure would measure both.
 */
import { spawnSync } from 'node:child_process';
import { CannotMeasure } from './figure.ts';

export interface Cores {
  /** Moves a process, with all its threads, to the first core. */
  isolate(pid: number): void;
  /** Allows this process all cores again. */
  restore(): void;
}

/** Leaves the first core, with everything that this process starts from now on. */
export function leaveFirstCore(): Cores {
  const all = /: ([\d,-]+)\s*$/.exec(taskset('-p', '-c', String(process.pid)))?.[1] ?? '';
  const [first, ...others] = all.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, n) => from + n);
  });
  if (first === undefined || others.length === 0) throw new CannotMeasure('two cores are necessary');
  const move = (pid: number, cores: string) => taskset('-a', '-p', '-c', cores, String(pid));
  move(process.pid, others.join(','));
  return {
    isolate: (pid) => void move(pid, String(first)),
    restore: () => void move(process.pid, all),
  };
}

function taskset(...args: string[]): string {
  const { error, status, stdout, stderr } = spawnSync('taskset', args, { encoding: 'utf8' });
  if (error || status !== 0) throw new CannotMeasure(`taskset failed: ${error?.message ?? stderr}`);
  return stdout;
}
