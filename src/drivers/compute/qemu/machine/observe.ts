/** What machines do. Looking takes no lock and changes nothing, but for an install that is seen to be done. */
import { ComputeError, type MachineState } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { type MachineRecord, readRecord } from '../record.ts';
import { isRescueBoot, runsOwnDisk } from './boot-name.ts';
import { forEachConcurrent } from './for-each-concurrent.ts';
import { detectInstallDone } from './install.ts';
import { type QemuState, readQemuState } from './qemu-state.ts';

export async function observeMachines(host: QemuHost, ids: readonly string[]): Promise<MachineState[]> {
  const states = new Map<string, MachineState>();
  await forEachConcurrent([...new Set(ids)], async (id) => {
    states.set(id, await observe(host, id));
  });
  return ids.flatMap((id) => states.get(id) ?? []);
}

async function observe(host: QemuHost, id: string): Promise<MachineState> {
  let record: MachineRecord | undefined;
  try {
    record = await readRecord(host.layout, id);
    if (!record) return { id, host: null, state: 'absent', generation: null, rescue: false };
    const sight: QemuState = record.power === 'off' ? { state: 'gone' } : await readQemuState(host, id);
    const state = await resolveState(host, record, sight);
    const rescue = state === 'running' && sight.state !== 'gone' && isRescueBoot(sight.name);
    const seen = { id, host: record.spec.host, state, generation: record.generation, rescue };
    const crashed = state === 'stopped' && sight.state === 'gone' && record.power === 'on';
    return crashed ? { ...seen, crashed } : seen;
  } catch (error) {
    // Nothing can be claimed of it, and the others are told all the same.
    if (!(error instanceof ComputeError))
      host.log.warn({ err: error, machine: id }, 'machine cannot be seen');
    return { id, host: record?.spec.host ?? null, state: 'unknown', generation: null, rescue: false };
  }
}

async function resolveState(
  host: QemuHost,
  record: MachineRecord,
  sight: QemuState,
): Promise<MachineState['state']> {
  if (record.power === 'off' || sight.state === 'off') return 'stopped';
  if (sight.state !== 'gone' && isRescueBoot(sight.name)) return 'running';
  // A QEMU that is silent runs what it was started for.
  // One that is to install is started again when it is not there: the install goes on.
  if (record.installingSince === null) return sight.state === 'gone' ? 'stopped' : 'running';
  if (sight.state !== 'on' || !runsOwnDisk(sight.name, record)) return 'installing';
  return (await isInstallDone(host, record)) ? 'running' : 'installing';
}

async function isInstallDone(host: QemuHost, record: MachineRecord): Promise<boolean> {
  try {
    return await detectInstallDone(host, record);
  } catch (error) {
    if (!(error instanceof ComputeError)) throw error;
    // Others work on the machine: it is done when they are.
    return false;
  }
}
