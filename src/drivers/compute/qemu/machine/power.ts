import type { PowerAction } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { Qmp } from '../qmp.ts';
import { type MachineRecord, readRecord, writeRecord } from '../record.ts';
import { stopCopies } from '../storage/background-copy.ts';
import { bootName, runsOwnDisk } from './boot-name.ts';
import { resetCrashes } from './crashes.ts';
import { machineNotFound } from './ensure.ts';
import { isAlive, isUnresponsive, type QemuState, readQemuState } from './qemu-state.ts';
import { start, switchOff } from './start.ts';

export async function powerMachine(host: QemuHost, id: string, action: PowerAction): Promise<void> {
  await host.withMachineLock(id, async () => {
    const record = await readRecord(host.layout, id);
    if (!record) throw machineNotFound();
    await ACTIONS[action](host, record);
    // A power action keeps the machine on its current disk, so it also abandons an unfinished restore.
    if (action === 'on' || action === 'off') await stopCopies(host, host.layout.machine(id));
  });
}

type Action = (host: QemuHost, record: MachineRecord) => Promise<void>;

const ACTIONS: Record<PowerAction, Action> = {
  on: async (host, record) => {
    const sight = await readQemuState(host, record.spec.id);
    if (isOn(record, sight)) return;
    await bootDisk(host, record);
  },

  off: switchOff,

  acpi: async (host, record) => {
    const sight = await readQemuState(host, record.spec.id);
    // A machine whose process died is not started only to be shut down.
    if (sight.state === 'gone' || sight.state === 'off' || sight.state === 'begun')
      return await switchOff(host, record);
    // An unresponsive QEMU cannot receive the request. The caller sees that it stays on and powers it off
    // later.
    if (!isUnresponsive(sight)) await sendQmpCommand(host, record, 'system_powerdown');
  },

  reset: async (host, record) => {
    if (record.power === 'off') return;
    const sight = await readQemuState(host, record.spec.id);
    if (sight.state === 'off') return await switchOff(host, record);
    // Leaving a rescue changes the disks, and a halted or unresponsive QEMU takes no commands: start it
    // again.
    if (sight.state !== 'on' || !runsOwnDisk(sight.name, record)) return await bootDisk(host, record);
    await sendQmpCommand(host, record, 'system_reset');
  },
};

/** Whether it runs what the record wants; the rescue system counts. */
function isOn(record: MachineRecord, sight: QemuState): boolean {
  return record.power === 'on' && isAlive(sight) && sight.name === bootName(record);
}

/** Also leaves rescue mode. */
async function bootDisk(host: QemuHost, record: MachineRecord): Promise<void> {
  const next: MachineRecord = { ...record, power: 'on', rescue: null };
  await writeRecord(host.layout, next);
  await resetCrashes(host, record.spec.id);
  await start(host, next);
}

async function sendQmpCommand(host: QemuHost, { spec }: MachineRecord, command: string): Promise<void> {
  const qmp = await Qmp.open(host.layout.runtimeFile(spec.id, 'qmp'));
  try {
    await qmp?.execute(command);
  } finally {
    qmp?.close();
  }
}
