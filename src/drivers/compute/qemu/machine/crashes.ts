/** Counts recent crashes of a machine's process, so that restarts of a broken one back off. */

import { rm } from 'node:fs/promises';
import { BACKOFF, backoffMs } from '../../../../kernel/backoff.ts';
import { SECOND_MS } from '../../../../kernel/time.ts';
import { readJson, writeJson } from '../files.ts';
import type { QemuHost } from '../host.ts';

/**
 * A crash this long after the previous restart starts a new count. It includes the wait before that restart,
 * so it must be well above the longest wait.
 */
const CRASH_MEMORY_S = (3 * BACKOFF.machineStart.maxMs) / SECOND_MS;

interface Crashes {
  /** Restarts, not crashes: the first crash is followed by a restart without a wait. */
  readonly times: number;
  /** Time of the last restart. */
  readonly at: string;
}

/** Whether the backoff is over. */
export async function canRestart(host: QemuHost, id: string): Promise<boolean> {
  const { times, at } = (await readJson<Crashes>(crashFile(host, id))) ?? {
    times: 0,
    at: new Date(0).toISOString(),
  };
  return times === 0 || secondsSince(at) >= restartDelayS(times);
}

/** Returns the backoff. The first restart is immediate, and each later one waits twice as long. */
export function restartDelayS(times: number): number {
  return backoffMs(BACKOFF.machineStart, times) / SECOND_MS;
}

/** Call before the start, which may crash this process. */
export async function recordRestart(host: QemuHost, id: string): Promise<void> {
  const previous = await readJson<Crashes>(crashFile(host, id));
  const times = previous && secondsSince(previous.at) < CRASH_MEMORY_S ? previous.times + 1 : 1;
  await writeJson(crashFile(host, id), { times, at: new Date().toISOString() });
}

/** A requested start clears the history. */
export async function resetCrashes(host: QemuHost, id: string): Promise<void> {
  await rm(crashFile(host, id), { force: true });
}

function crashFile(host: QemuHost, id: string): string {
  return host.layout.machine(id, 'crashes.json');
}

function secondsSince(at: string): number {
  return (Date.now() - Date.parse(at)) / 1000;
}
