/**
 * Blackholed addresses: the kernel drops what others send to them, before it reaches the machine, and the
 * guard of the machine drops what it sends. The record has which families are blackholed, also while the
 * machine is off. The routes do not depend on its tap, so they can be missing, or left over.
 */
import { isDeepStrictEqual } from 'node:util';
import type { QemuHost } from '../host.ts';
import { LockBusyError } from '../lock.ts';
import { isSent, listRecords, type MachineRecord, readRecord } from '../record.ts';
import {
  BLACKHOLE_PROTOCOL,
  blackholeLine,
  blackholePrefixes,
  hasLink,
  type Prefixes,
  routeBatch,
  toMachineLink,
} from './link.ts';

interface KernelRoute {
  readonly dst?: string;
}

/** The destinations of our blackhole routes, sorted. */
export async function readBlackholes(host: QemuHost): Promise<Prefixes> {
  const read = async (family: 4 | 6) => {
    const filter = ['type', 'blackhole', 'proto', BLACKHOLE_PROTOCOL];
    const printed = await host.runInNet('ip', [`-${family}`, '-json', 'route', 'show', ...filter]);
    const routes = (printed.trim() === '' ? [] : JSON.parse(printed)) as readonly KernelRoute[];
    // The kernel prints a single address without its length.
    const length = family === 4 ? 32 : 128;
    return routes.map(({ dst = '' }) => (dst.includes('/') ? dst : `${dst}/${length}`)).toSorted();
  };
  return { 4: await read(4), 6: await read(6) };
}

/** Makes the routes of a machine those that its record wants. The caller holds the machine's lock. */
export async function syncBlackhole(host: QemuHost, record: MachineRecord): Promise<void> {
  const link = toMachineLink(host, record.spec);
  const wanted = isSent(record) ? [] : blackholePrefixes(link, record.traffic.blackholed ?? []);
  if (!isSent(record) && (await hasLink(host, link.tap))) {
    await applyRoutes(host, routeBatch(link, record.traffic.blackholed));
    return;
  }
  const installed = await readBlackholes(host);
  const own = blackholePrefixes(link, [4, 6]).filter((prefix) => isInstalled(installed, prefix));
  await removeRoutes(
    host,
    own.filter((prefix) => !wanted.includes(prefix)),
  );
  const missing = wanted.filter((prefix) => !own.includes(prefix));
  if (missing.length > 0) await applyRoutes(host, `${missing.map(blackholeLine).join('\n')}\n`);
}

/** Removes the routes of a machine that leaves the host for good. */
export async function removeBlackhole(host: QemuHost, { spec, traffic }: MachineRecord): Promise<void> {
  const { blackholed = [] } = traffic;
  await removeRoutes(host, blackholePrefixes(toMachineLink(host, spec), blackholed));
}

/**
 * Restores missing routes, and removes those of machines that left this host. Runs every few seconds, and
 * takes two processes if there is nothing to do. Never throws: the next round tries again.
 */
export async function repairBlackholes(host: QemuHost): Promise<void> {
  try {
    const installed = await readBlackholes(host);
    const known = new Set<string>();
    for (const id of await listRecords(host.layout)) {
      const record = await readRecord(host.layout, id).catch(() => undefined);
      if (!record) continue;
      const link = toMachineLink(host, record.spec);
      const own = blackholePrefixes(link, [4, 6]);
      for (const prefix of own) known.add(prefix);
      const wanted = isSent(record) ? [] : blackholePrefixes(link, record.traffic.blackholed ?? []);
      const present = own.filter((prefix) => isInstalled(installed, prefix));
      if (!isDeepStrictEqual(new Set(present), new Set(wanted))) await repairMachine(host, id);
    }
    await removeRoutes(
      host,
      [...installed[4], ...installed[6]].filter((prefix) => !known.has(prefix)),
    );
  } catch (error) {
    host.log.warn({ err: error }, 'restoring the blackhole routes failed');
  }
}

/** Reads the record again under the lock: it may have changed meanwhile. */
async function repairMachine(host: QemuHost, id: string): Promise<void> {
  try {
    await host.withMachineLock(id, async () => {
      const record = await readRecord(host.layout, id);
      if (record) await syncBlackhole(host, record);
    });
  } catch (error) {
    if (!(error instanceof LockBusyError))
      host.log.warn({ err: error, machine: id }, 'restoring the blackhole routes of a machine failed');
  }
}

function isInstalled(installed: Prefixes, prefix: string): boolean {
  return installed[prefix.includes(':') ? 6 : 4].includes(prefix);
}

/** Only routes of ours: a route to a machine may have taken the place meanwhile. */
async function removeRoutes(host: QemuHost, prefixes: readonly string[]): Promise<void> {
  for (const prefix of prefixes) {
    const route = ['blackhole', prefix, 'proto', BLACKHOLE_PROTOCOL];
    await host.runInNet('ip', ['route', 'delete', ...route]).catch(() => undefined);
  }
}

async function applyRoutes(host: QemuHost, input: string): Promise<void> {
  await host.runInNet('ip', ['-batch', '-'], { input });
}
