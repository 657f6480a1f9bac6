/**
 * Changes the filter and traffic settings of a machine. The record comes first, so a stopped machine gets
 * them later.
 */
import { ComputeError, type Traffic } from '../../../../ports/compute.ts';
import type { Filter } from '../../../../ports/network.ts';
import type { QemuHost } from '../host.ts';
import { type MachineRecord, readRecord, writeRecord } from '../record.ts';
import { limitSpeed } from './limits.ts';
import { hasLink, toMachineLink } from './link.ts';
import { applyRuleset } from './plug.ts';
import { machineRules } from './ruleset.ts';

export async function setFilter(host: QemuHost, id: string, filter: Filter | null): Promise<void> {
  await host.withMachineLock(id, async () => {
    const record = await readRecord(host.layout, id);
    if (record) await storeAndApply(host, { ...record, filter });
    else if (filter) throw new ComputeError('refused', 'machine not found');
  });
}

export async function setTraffic(host: QemuHost, id: string, traffic: Traffic): Promise<void> {
  await host.withMachineLock(id, async () => {
    const record = await readRecord(host.layout, id);
    if (!record) throw new ComputeError('refused', 'machine not found');
    await storeAndApply(host, { ...record, traffic });
  });
}

async function storeAndApply(host: QemuHost, record: MachineRecord): Promise<void> {
  const link = toMachineLink(host, record.spec);
  // Build the rules before storing the record, so that an invalid filter is rejected and not stored.
  const rules = machineRules(link, record.filter, record.traffic);
  await writeRecord(host.layout, record);
  if (!(await hasLink(host, link.tap))) return;
  await applyRuleset(host, rules);
  await limitSpeed(host, link.tap, record.traffic.bitsPerS);
}
