/** How often a machine's process ended by itself of late, so that one that cannot live is not started without end. */
import { rm } from 'node:fs/promises';
import type { QemuHost } from '../host.ts';
import { readJson, writeJson } from '../json-file.ts';

const FIRST_WAIT_S = 5;
const WAIT_MAX_S = 300;
/** One that has run for longer than this since counts as well. */
const CALM_S = 900;

interface Crashes {
  readonly times: number;
  /** When it was last started again. */
  readonly at: string;
}

/** Whether it may be started again now. */
export async function mayRestart(host: QemuHost, id: string): Promise<boolean> {
  const { times, at } = (await readJson<Crashes>(fileOf(host, id))) ?? {
    times: 0,
    at: new Date(0).toISOString(),
  };
  return times === 0 || secondsSince(at) >= waitS(times);
}

/** The first restart is at once; each one after it waits for twice as long. */
export function waitS(times: number): number {
  return Math.min(WAIT_MAX_S, FIRST_WAIT_S * 2 ** (times - 1));
}

/** Written before the start, which may be what kills us. */
export async function countRestart(host: QemuHost, id: string): Promise<void> {
  const before = await readJson<Crashes>(fileOf(host, id));
  const times = before && secondsSince(before.at) < CALM_S ? before.times + 1 : 1;
  await writeJson(fileOf(host, id), { times, at: new Date().toISOString() });
}

/** It is switched on by will: what was before does not count. */
export async function forgetCrashes(host: QemuHost, id: string): Promise<void> {
  await rm(fileOf(host, id), { force: true });
}

function fileOf(host: QemuHost, id: string): string {
  return host.layout.machine(id, 'crashes.json');
}

function secondsSince(at: string): number {
  return (Date.now() - Date.parse(at)) / 1000;
}
