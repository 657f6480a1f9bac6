/** What machines do. Looking takes no lock and changes nothing, but for an install that is seen to be done. */
import { ComputeError, type MachineState } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { type MachineRecord, readRecord } from '../record.ts';
import { isRescue, runsOwnDisk } from './booted.ts';
import { eachOf } from './each.ts';
import { noticeInstalled } from './install.ts';
import { lookAt, type Sight } from './look.ts';

export async function observeMachines(host: QemuHost, ids: readonly string[]): Promise<MachineState[]> {
  const seen = new Map<string, MachineState>();
  await eachOf([...new Set(ids)], async (id) => {
    seen.set(id, await observe(host, id));
  });
  return ids.flatMap((id) => seen.get(id) ?? []);
}

async function observe(host: QemuHost, id: string): Promise<MachineState> {
  let record: MachineRecord | undefined;
  try {
    record = await readRecord(host.layout, id);
    if (!record) return { id, host: null, state: 'absent', generation: null, rescue: false };
    const sight: Sight = record.power === 'off' ? { is: 'gone' } : await lookAt(host, id);
    const state = await stateOf(host, record, sight);
    const rescue = state === 'running' && sight.is !== 'gone' && isRescue(sight.name);
    const seen = { id, host: record.spec.host, state, generation: record.generation, rescue };
    const fell = state === 'stopped' && sight.is === 'gone' && record.power === 'on';
    return fell ? { ...seen, fell } : seen;
  } catch (error) {
    // Nothing can be claimed of it, and the others are told all the same.
    if (!(error instanceof ComputeError))
      host.log.warn({ err: error, machine: id }, 'machine cannot be seen');
    return { id, host: record?.spec.host ?? null, state: 'unknown', generation: null, rescue: false };
  }
}

async function stateOf(host: QemuHost, record: MachineRecord, sight: Sight): Promise<MachineState['state']> {
  if (record.power === 'off' || sight.is === 'off') return 'stopped';
  if (sight.is !== 'gone' && isRescue(sight.name)) return 'running';
  // A QEMU that is silent runs what it was started for.
  // One that is to install is started again when it is not there: the install goes on.
  if (record.installingSince === null) return sight.is === 'gone' ? 'stopped' : 'running';
  if (sight.is !== 'on' || !runsOwnDisk(sight.name, record)) return 'installing';
  return (await isInstalled(host, record)) ? 'running' : 'installing';
}

async function isInstalled(host: QemuHost, record: MachineRecord): Promise<boolean> {
  try {
    return await noticeInstalled(host, record);
  } catch (error) {
    if (!(error instanceof ComputeError)) throw error;
    // Others work on the machine: it is done when they are.
    return false;
  }
}
