/**
 * Restores rules that other software on this host deleted, for example by reloading its own packet filter.
 */
import pMap from 'p-map';
import { MACHINE_CONCURRENCY, type QemuHost } from '../host.ts';
import { LockBusyError } from '../lock.ts';
import { listRecords, type MachineRecord, readRecord } from '../record.ts';
import { machineChains } from './chains.ts';
import {
  hasMachineRules,
  hasSharedRules,
  type InstalledRules,
  readInstalledRules,
  strayJumps,
} from './installed-rules.ts';
import { hasLink, readCarriers, toMachineLink } from './link.ts';
import { plugNetwork } from './network.ts';
import { readAllowedNetworks } from './private-networks.ts';
import { applyRuleset, machineRules, removeJump, sharedRules } from './ruleset.ts';

/**
 * Runs every few seconds. If nothing is missing, it takes three processes, regardless of the number of
 * machines. Machines that are not plugged are skipped.
 */
export async function repairNetwork(host: QemuHost): Promise<void> {
  const ids = await listPlugged(host);
  if (ids.length === 0) return;
  let installed = await readInstalledRules(host);
  const isSharedMissing = !hasSharedRules(installed);
  if (isSharedMissing) {
    await applyRuleset(host, sharedRules());
    installed = await readInstalledRules(host);
  }
  const allowed = await readAllowedNetworks(host);
  const repairs = await pMap(ids, (id) => repairMachineRules(host, id, { installed, allowed }), {
    concurrency: MACHINE_CONCURRENCY,
  });
  const repaired = repairs.filter((isRepaired) => isRepaired).length;
  if (isSharedMissing || repaired > 0)
    host.log.warn({ machines: repaired }, 'restored the packet filter, which had been flushed or changed');
}

async function listPlugged(host: QemuHost): Promise<string[]> {
  const ids = await listRecords(host.layout);
  if (ids.length === 0) return [];
  const links = await readCarriers(host);
  return ids.filter((id) => links.has(host.tap(id)));
}

/** The installed rules, and the private networks that the expected ones allow. */
interface RulesView {
  readonly installed: InstalledRules;
  readonly allowed: readonly string[];
}

/** Whether rules were restored. A failure with one machine does not affect the others. */
async function repairMachineRules(host: QemuHost, id: string, view: RulesView): Promise<boolean> {
  try {
    const record = await readRecord(host.layout, id);
    if (!record || isIntact(host, record, view)) return false;
    return await host.withMachineLock(id, () => reapplyRules(host, id));
  } catch (error) {
    // The lock holder may be about to set the rules. If not, the next run repairs them.
    if (!(error instanceof LockBusyError))
      host.log.warn({ err: error, machine: id }, 'restoring the packet filter of a machine failed');
    return false;
  }
}

/** Checks again under the lock, then restores the rules. */
async function reapplyRules(host: QemuHost, id: string): Promise<boolean> {
  const record = await readRecord(host.layout, id);
  if (!record || !(await hasLink(host, host.tap(id)))) return false;
  const installed = await readInstalledRules(host);
  const allowed = await readAllowedNetworks(host);
  if (isIntact(host, record, { installed, allowed })) return false;
  const tap = host.tap(id);
  const strays = strayJumps(installed, tap);
  if (strays.length > 0) {
    // Fix the jumps in the same transaction, so that every packet meets some rules.
    const chains = machineChains(toMachineLink(host, record.spec), record, allowed);
    const removals = strays.map((jump) => removeJump(tap, jump));
    await applyRuleset(host, [...removals, ...machineRules(tap, chains)]);
  }
  await plugNetwork(host, record);
  return true;
}

function isIntact(host: QemuHost, record: MachineRecord, { installed, allowed }: RulesView): boolean {
  const link = toMachineLink(host, record.spec);
  return hasMachineRules(installed, link.tap, machineChains(link, record, allowed));
}
