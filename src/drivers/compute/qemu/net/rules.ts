/** What is changed of a machine's network while it exists. The record says it first, so a machine that is off has it later. */
import { ComputeError, type Traffic } from '../../../../ports/compute.ts';
import type { Filter } from '../../../../ports/network.ts';
import type { QemuHost } from '../host.ts';
import { type MachineRecord, readRecord, writeRecord } from '../record.ts';
import { limitSpeed } from './limits.ts';
import { hasLink, wireOf } from './link.ts';
import { setRules } from './plug.ts';
import { machineRules } from './ruleset.ts';

export async function setFilter(host: QemuHost, id: string, filter: Filter | null): Promise<void> {
  await host.aloneWith(id, async () => {
    const record = await readRecord(host.layout, id);
    if (record) await keepAndApply(host, { ...record, filter });
    else if (filter) throw new ComputeError('refused', 'no such machine');
  });
}

export async function setTraffic(host: QemuHost, id: string, traffic: Traffic): Promise<void> {
  await host.aloneWith(id, async () => {
    const record = await readRecord(host.layout, id);
    if (!record) throw new ComputeError('refused', 'no such machine');
    await keepAndApply(host, { ...record, traffic });
  });
}

async function keepAndApply(host: QemuHost, record: MachineRecord): Promise<void> {
  const wire = wireOf(host, record.spec);
  // Made before it is kept: what cannot be a rule is refused and not remembered.
  const rules = machineRules(wire, record.filter, record.traffic);
  await writeRecord(host.layout, record);
  if (!(await hasLink(host, wire.tap))) return;
  await setRules(host, rules);
  await limitSpeed(host, wire.tap, record.traffic.bitsPerS);
}
