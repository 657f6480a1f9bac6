/** Puts back what others of this host took away: a packet filter that is loaded afresh flushes everybody's rules. */
import type { QemuHost } from '../host.ts';
import { LockBusyError } from '../lock.ts';
import { forEachConcurrent } from '../machine/for-each-concurrent.ts';
import { listRecords, type MachineRecord, readRecord } from '../record.ts';
import {
  hasMachineRules,
  hasSharedRules,
  type InstalledRules,
  readInstalledRules,
  strayJumps,
} from './installed-rules.ts';
import { hasLink, toMachineLink } from './link.ts';
import { applyRuleset, plugNetwork } from './plug.ts';
import { machineChains, machineRules, removeJumps, sharedRuleset } from './ruleset.ts';

/**
 * Called every few seconds: three processes when nothing is missing, however many machines there are. Only machines that
 * are plugged are looked at.
 */
export async function repairNetwork(host: QemuHost): Promise<void> {
  const ids = await listPlugged(host);
  if (ids.length === 0) return;
  let installed = await readInstalledRules(host);
  const isSharedMissing = !hasSharedRules(installed);
  if (isSharedMissing) {
    await applyRuleset(host, sharedRuleset());
    installed = await readInstalledRules(host);
  }
  let repaired = 0;
  await forEachConcurrent(ids, async (id) => {
    if (await repairMachineRules(host, id, installed)) repaired++;
  });
  if (isSharedMissing || repaired > 0)
    host.log.warn({ machines: repaired }, 'packet filter put back: it had been flushed or changed');
}

async function listPlugged(host: QemuHost): Promise<string[]> {
  const ids = await listRecords(host.layout);
  if (ids.length === 0) return [];
  const links = await host.runInNet('ip', ['-brief', 'link', 'show']);
  const names = new Set(links.split('\n').map((line) => line.split(/[\s@]/, 1)[0] ?? ''));
  return ids.filter((id) => names.has(host.tap(id)));
}

/** Whether there was something to put back. What fails with one machine keeps no other from its rules. */
async function repairMachineRules(host: QemuHost, id: string, installed: InstalledRules): Promise<boolean> {
  try {
    const record = await readRecord(host.layout, id);
    if (!record || isIntact(host, record, installed)) return false;
    return await host.withMachineLock(id, () => reapplyRules(host, id));
  } catch (error) {
    // Whoever works on it may be about to set its rules. If not, they are missing the next time, too.
    if (!(error instanceof LockBusyError))
      host.log.warn({ err: error, machine: id }, 'packet filter of a machine could not be put back');
    return false;
  }
}

/** The same look again, now that nobody else sets its rules. */
async function reapplyRules(host: QemuHost, id: string): Promise<boolean> {
  const record = await readRecord(host.layout, id);
  if (!record || !(await hasLink(host, host.tap(id)))) return false;
  const installed = await readInstalledRules(host);
  if (isIntact(host, record, installed)) return false;
  const strays = strayJumps(installed, host.tap(id));
  if (strays.length > 0) {
    // In one with the right ones, so that no packet meets none.
    const rules = machineRules(toMachineLink(host, record.spec), record.filter, record.traffic);
    await applyRuleset(host, `${removeJumps(host.tap(id), strays)}${rules}`);
  }
  await plugNetwork(host, record);
  return true;
}

function isIntact(
  host: QemuHost,
  { spec, filter, traffic }: MachineRecord,
  installed: InstalledRules,
): boolean {
  const link = toMachineLink(host, spec);
  return hasMachineRules(installed, link, machineChains(link, filter, traffic));
}
