/** Observes machines without a lock. The only change it makes is to record a finished install. */
import pMap from 'p-map';
import { ComputeError, type MachineState } from '../../../../ports/compute.ts';
import { MACHINE_CONCURRENCY, type QemuHost } from '../host.ts';
import { type MachineRecord, readRecord } from '../record.ts';
import { detectInstallDone } from './install-done.ts';
import { isRescueBoot, type QemuState, readQemuState, runsOwnDisk } from './qemu-state.ts';

export async function observeMachines(host: QemuHost, ids: readonly string[]): Promise<MachineState[]> {
  const unique = new Set(ids);
  const states = await pMap(unique, (id) => observe(host, id), { concurrency: MACHINE_CONCURRENCY });
  const byId = new Map(states.map((state) => [state.id, state]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

async function observe(host: QemuHost, id: string): Promise<MachineState> {
  let record: MachineRecord | undefined;
  try {
    record = await readRecord(host.layout, id);
    if (!record) return { id, host: null, state: 'absent', generation: null, rescue: false };
    const qemu: QemuState = record.power === 'off' ? { state: 'gone' } : await readQemuState(host, id);
    const state = await resolveState(host, record, qemu);
    const rescue = state === 'running' && qemu.state !== 'gone' && isRescueBoot(qemu.name);
    const seen = { id, host: record.spec.host, state, generation: record.generation, rescue };
    const crashed = state === 'stopped' && qemu.state === 'gone' && record.power === 'on';
    return crashed ? { ...seen, crashed } : seen;
  } catch (error) {
    // The state of this machine is unknown; the others are still reported.
    if (!(error instanceof ComputeError))
      host.log.warn({ err: error, machine: id }, 'observing a machine failed');
    return { id, host: record?.spec.host ?? null, state: 'unknown', generation: null, rescue: false };
  }
}

async function resolveState(
  host: QemuHost,
  record: MachineRecord,
  qemu: QemuState,
): Promise<MachineState['state']> {
  if (record.power === 'off' || qemu.state === 'off') return 'stopped';
  if (qemu.state !== 'gone' && isRescueBoot(qemu.name)) return 'running';
  // An unresponsive QEMU still runs what it was started for. During an install, a missing QEMU is restarted
  // and the install continues.
  if (record.installingSince === null) return qemu.state === 'gone' ? 'stopped' : 'running';
  if (qemu.state !== 'on' || !runsOwnDisk(qemu.name, record)) return 'installing';
  return (await isInstallDone(host, record)) ? 'running' : 'installing';
}

async function isInstallDone(host: QemuHost, record: MachineRecord): Promise<boolean> {
  try {
    return await detectInstallDone(host, record);
  } catch (error) {
    if (!(error instanceof ComputeError)) throw error;
    // Another process works on the machine. The next observation tries again.
    return false;
  }
}
