/**
 * A scratch folder and a scratch network for test machines. Both names contain the id of the process that
 * created them, so a later process can remove what a killed one left.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ComputeDriver } from '../../../../ports/compute.ts';
import type { QemuHost, QemuOptions } from '../host.ts';
import { Layout } from '../layout.ts';
import { killIfAlive } from '../processes.ts';

/** Creates the same driver with other options. */
export type DriverFactory = (options: QemuOptions) => ComputeDriver;

export const SCRATCH_HOST = 'examined';
const PREFIX = 'examine-';

export interface Scratch {
  readonly folder: string;
  readonly driver: ComputeDriver;
}

export async function openScratch(host: QemuHost, createDriver: DriverFactory): Promise<Scratch> {
  const folder = await mkdtemp(join(host.layout.dir, `${PREFIX}${process.pid}-`));
  try {
    await host.run('ip', ['netns', 'add', netnsName(folder)]);
    await host.run('cp', ['--archive', '--link', host.layout.images(), join(folder, 'images')]);
  } catch (error) {
    await closeScratch(host, createDriver, folder);
    throw error;
  }
  return { folder, driver: createScratchDriver(host, createDriver, folder) };
}

/** Removes the folder with its machines, whichever process created it. */
export async function closeScratch(
  host: QemuHost,
  createDriver: DriverFactory,
  folder: string,
): Promise<void> {
  const driver = createScratchDriver(host, createDriver, folder);
  for (const id of await driver.list()) {
    await driver
      .remove(id)
      .catch((err) => host.log.warn({ err }, 'removing a test machine failed, killing it'));
  }
  const netns = netnsName(folder);
  // Only the driver starts processes there: kill any that it could not end.
  const pids = await host.run('ip', ['netns', 'pids', netns]).catch(() => '');
  for (const pid of pids.split('\n').map(Number)) if (pid > 1) killIfAlive(pid);
  await host.run('ip', ['netns', 'delete', netns]).catch(() => undefined);
  for (const each of [folder, new Layout(folder).runDir]) await rm(each, { recursive: true, force: true });
}

/** Removes scratch folders of processes that were killed. */
export async function removeStaleScratch(host: QemuHost, createDriver: DriverFactory): Promise<void> {
  for (const folder of await findStaleFolders(host.layout.dir, PREFIX))
    await closeScratch(host, createDriver, folder);
}

/** Returns folders whose name contains the id of a process that no longer runs. */
export async function findStaleFolders(dir: string, prefix: string): Promise<string[]> {
  const names = await readdir(dir).catch(() => []);
  const stale = names.filter((name) => {
    const pid = name.startsWith(prefix) ? /^[1-9]\d*(?=-)/.exec(name.slice(prefix.length))?.[0] : undefined;
    return pid !== undefined && !isAlive(Number(pid));
  });
  return stale.map((name) => join(dir, name));
}

function createScratchDriver(
  { options }: QemuHost,
  createDriver: DriverFactory,
  folder: string,
): ComputeDriver {
  return createDriver({ ...options, dir: folder, hosts: [SCRATCH_HOST], netns: netnsName(folder) });
}

function netnsName(folder: string): string {
  return `skerry-${basename(folder)}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
