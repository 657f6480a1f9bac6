/** What is changed of a machine's network while it exists. The record says it first, so a machine that is off has it later. */
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
    else if (filter) throw new ComputeError('refused', 'no such machine');
  });
}

export async function setTraffic(host: QemuHost, id: string, traffic: Traffic): Promise<void> {
  await host.withMachineLock(id, async () => {
    const record = await readRecord(host.layout, id);
    if (!record) throw new ComputeError('refused', 'no such machine');
    await storeAndApply(host, { ...record, traffic });
  });
}

async function storeAndApply(host: QemuHost, record: MachineRecord): Promise<void> {
  const link = toMachineLink(host, record.spec);
  // Made before it is kept: what cannot be a rule is refused and not remembered.
  const rules = machineRules(link, record.filter, record.traffic);
  await writeRecord(host.layout, record);
  if (!(await hasLink(host, link.tap))) return;
  await applyRuleset(host, rules);
  await limitSpeed(host, link.tap, record.traffic.bitsPerS);
}
