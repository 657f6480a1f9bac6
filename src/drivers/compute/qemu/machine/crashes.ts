/** How often a machine's process ended by itself of late, so that one that cannot live is not started without end. */
import { rm } from 'node:fs/promises';
import type { QemuHost } from '../host.ts';
import { readJson, writeJson } from '../json-file.ts';

const FIRST_WAIT_S = 5;
const WAIT_MAX_S = 300;
/** One that has run for longer than this since counts as well. */
const CRASH_MEMORY_S = 900;

interface Crashes {
  readonly times: number;
  /** When it was last started again. */
  readonly at: string;
}

/** Whether it may be started again now. */
export async function canRestart(host: QemuHost, id: string): Promise<boolean> {
  const { times, at } = (await readJson<Crashes>(crashFile(host, id))) ?? {
    times: 0,
    at: new Date(0).toISOString(),
  };
  return times === 0 || secondsSince(at) >= restartDelayS(times);
}

/** The first restart is at once; each one after it waits for twice as long. */
export function restartDelayS(times: number): number {
  return Math.min(WAIT_MAX_S, FIRST_WAIT_S * 2 ** (times - 1));
}

/** Written before the start, which may be what kills us. */
export async function recordRestart(host: QemuHost, id: string): Promise<void> {
  const previous = await readJson<Crashes>(crashFile(host, id));
  const times = previous && secondsSince(previous.at) < CRASH_MEMORY_S ? previous.times + 1 : 1;
  await writeJson(crashFile(host, id), { times, at: new Date().toISOString() });
}

/** It is switched on by will: what was before does not count. */
export async function resetCrashes(host: QemuHost, id: string): Promise<void> {
  await rm(crashFile(host, id), { force: true });
}

function crashFile(host: QemuHost, id: string): string {
  return host.layout.machine(id, 'crashes.json');
}

function secondsSince(at: string): number {
  return (Date.now() - Date.parse(at)) / 1000;
}
