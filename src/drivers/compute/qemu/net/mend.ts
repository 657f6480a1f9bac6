/** Puts back what others of this host took away: a packet filter that is loaded afresh flushes everybody's rules. */
import type { QemuHost } from '../host.ts';
import { Busy } from '../lock.ts';
import { eachOf } from '../machine/each.ts';
import { listRecords, type MachineRecord, readRecord } from '../record.ts';
import { hasLink, wireOf } from './link.ts';
import { plugNetwork, setRules } from './plug.ts';
import { allMachinesRules, machineChains, machineRules, noJumps } from './ruleset.ts';
import { machineStands, type Standing, seeStanding, sharedStands, strayJumps } from './standing.ts';

/**
 * Called every few seconds: three processes when nothing is missing, however many machines there are. Only machines that
 * are plugged are looked at.
 */
export async function mendNetwork(host: QemuHost): Promise<void> {
  const ids = await listPlugged(host);
  if (ids.length === 0) return;
  let standing = await seeStanding(host);
  const shared = !sharedStands(standing);
  if (shared) {
    await setRules(host, allMachinesRules());
    standing = await seeStanding(host);
  }
  let machines = 0;
  await eachOf(ids, async (id) => {
    if (await mendMachine(host, id, standing)) machines++;
  });
  if (shared || machines > 0)
    host.log.warn({ machines }, 'packet filter put back: it had been flushed or changed');
}

async function listPlugged(host: QemuHost): Promise<string[]> {
  const ids = await listRecords(host.layout);
  if (ids.length === 0) return [];
  const links = await host.runInNet('ip', ['-brief', 'link', 'show']);
  const names = new Set(links.split('\n').map((line) => line.split(/[\s@]/, 1)[0] ?? ''));
  return ids.filter((id) => names.has(host.tap(id)));
}

/** Whether there was something to put back. What fails with one machine keeps no other from its rules. */
async function mendMachine(host: QemuHost, id: string, seen: Standing): Promise<boolean> {
  try {
    const record = await readRecord(host.layout, id);
    if (!record || stands(host, record, seen)) return false;
    return await host.aloneWith(id, () => putBack(host, id));
  } catch (error) {
    // Whoever works on it may be about to set its rules. If not, they are missing the next time, too.
    if (!(error instanceof Busy))
      host.log.warn({ err: error, machine: id }, 'packet filter of a machine could not be put back');
    return false;
  }
}

/** The same look again, now that nobody else sets its rules. */
async function putBack(host: QemuHost, id: string): Promise<boolean> {
  const record = await readRecord(host.layout, id);
  if (!record || !(await hasLink(host, host.tap(id)))) return false;
  const standing = await seeStanding(host);
  if (stands(host, record, standing)) return false;
  const strays = strayJumps(standing, host.tap(id));
  if (strays.length > 0) {
    // In one with the right ones, so that no packet meets none.
    const rules = machineRules(wireOf(host, record.spec), record.filter, record.traffic);
    await setRules(host, `${noJumps(host.tap(id), strays)}${rules}`);
  }
  await plugNetwork(host, record);
  return true;
}

function stands(host: QemuHost, { spec, filter, traffic }: MachineRecord, standing: Standing): boolean {
  const wire = wireOf(host, spec);
  return machineStands(standing, wire, machineChains(wire, filter, traffic));
}
