/**
 * The faults that a machine can have, and their repairs. `findFault` compares the record with QEMU and has
 * one line per fault; `REPAIRS` has one row per fault.
 */
import { existsSync } from 'node:fs';
import type { SupervisionResult } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { replugNetwork } from '../net/network.ts';
import { withQmp } from '../qmp.ts';
import type { MachineRecord } from '../record.ts';
import { canRestart, recordRestart } from './crashes.ts';
import { bootName, type QemuState } from './qemu-state.ts';
import { start, switchOff } from './start.ts';

/**
 * `unwanted`: it runs but should be off. `crashed`: no process. `silent` and `lost`: QEMU takes no commands.
 * `outdated`: it does not run what the record says. `shut-down`: by its guest. `halted`: by QEMU. `cut-off`:
 * its tap was deleted.
 */
export type Fault =
  | 'unwanted'
  | 'crashed'
  | 'silent'
  | 'lost'
  | 'outdated'
  | 'shut-down'
  | 'halted'
  | 'cut-off';

export function findFault(record: MachineRecord, qemu: QemuState, hasCarrier: boolean): Fault | null {
  if (record.power === 'off') return qemu.state === 'gone' ? null : 'unwanted';
  if (qemu.state === 'gone') return 'crashed';
  if (qemu.state === 'silent' || qemu.state === 'lost') return qemu.state;
  if (qemu.state === 'begun' || qemu.name !== bootName(record)) return 'outdated';
  if (qemu.state === 'off') return 'shut-down';
  if (qemu.state === 'halted') return 'halted';
  return hasCarrier ? null : 'cut-off';
}

/** Returns the outcome to report, if any. The caller holds the machine's lock, except for `silent`. */
type Repair = (
  host: QemuHost,
  record: MachineRecord,
  qemu: QemuState,
) => Promise<SupervisionResult | undefined>;

export const REPAIRS: Readonly<Record<Fault, Repair>> = {
  unwanted: async (host, record) => {
    await switchOff(host, record);
    return undefined;
  },

  crashed: async (host, record) => {
    const { id } = record.spec;
    if (!(await canRestart(host, id)))
      return failed(record, 'it keeps crashing or cannot be started; retrying later');
    // A restart of the host empties the folder with the pid files.
    const hasCrashed = existsSync(host.layout.runtimeFile(id, 'pid'));
    await recordRestart(host, id);
    await start(host, record);
    const why = hasCrashed
      ? 'its process had exited unexpectedly'
      : 'it was off, as after a restart of this host';
    return restarted(record, why);
  },

  // The guest may be fine or recover, so these two do not end it.
  silent: async (_host, record) =>
    failed(record, 'QEMU does not respond; if that continues, a force restart starts it again'),

  lost: async (_host, record) =>
    failed(record, 'it runs, but its sockets below /run were deleted; a force restart starts it again'),

  outdated: async (host, record) => {
    await start(host, record);
    return restarted(record, 'an interrupted start or change was completed');
  },

  'shut-down': async (host, record) => {
    await switchOff(host, record);
    return { id: record.spec.id, outcome: 'off', message: 'the guest shut itself down' };
  },

  // QEMU halts a guest whose disk cannot be written. Once there is space, the guest resumes where it stopped.
  halted: async (host, record, qemu) => {
    const status = 'status' in qemu ? qemu.status : '';
    if (status !== 'io-error')
      return failed(record, `QEMU halted it (${status}); a force restart starts it again`);
    await withQmp(host, record.spec.id, async (qmp) => await qmp?.execute('cont'));
    return failed(record, 'it was halted because its disk could not be written; resuming it');
  },

  'cut-off': async (host, record) => {
    await replugNetwork(host, record);
    const message = 'its network interface had been deleted; it was restored while the machine kept running';
    return restarted(record, message);
  },
};

function failed({ spec }: MachineRecord, message: string): SupervisionResult {
  return { id: spec.id, outcome: 'failed', message };
}

function restarted({ spec }: MachineRecord, message: string): SupervisionResult {
  return { id: spec.id, outcome: 'restarted', message };
}
