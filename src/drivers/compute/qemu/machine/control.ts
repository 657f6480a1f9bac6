/** The controls of an existing machine: its power, its rescue system, and its console. */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { ComputeError, type PowerAction, type RescueAccess } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { withQmp } from '../qmp.ts';
import { type MachineRecord, requireRecord, withMachine } from '../record.ts';
import { stopCopies } from '../storage/background-copy.ts';
import { rescuePath } from './disks.ts';
import { lacksDrive } from './iso-drive.ts';
import {
  bootName,
  isAlive,
  isUnresponsive,
  type QemuState,
  readQemuState,
  runsOwnDisk,
} from './qemu-state.ts';
import { writeRescueSeed } from './seed.ts';
import { boot, requireRescueImage, switchOff } from './start.ts';

export async function powerMachine(host: QemuHost, id: string, action: PowerAction): Promise<void> {
  await withMachine(host, id, async (record) => {
    await ACTIONS[action](host, record);
    // A power action keeps the machine on its current disk, so it also abandons an unfinished restore.
    if (action === 'on' || action === 'off') await stopCopies(host.layout.machine(id));
  });
}

type Action = (host: QemuHost, record: MachineRecord) => Promise<void>;

const ACTIONS: Record<PowerAction, Action> = {
  on: async (host, record) => {
    const qemu = await readQemuState(host, record.spec.id);
    if (isOn(record, qemu)) return;
    await bootDisk(host, record);
  },

  off: switchOff,

  acpi: async (host, record) => {
    const qemu = await readQemuState(host, record.spec.id);
    // A machine whose process died is not started only to be shut down.
    if (qemu.state === 'gone' || qemu.state === 'off' || qemu.state === 'begun')
      return await switchOff(host, record);
    // An unresponsive QEMU cannot receive the request. The caller sees that it stays on and powers it off
    // later.
    if (!isUnresponsive(qemu)) await sendQmpCommand(host, record, 'system_powerdown');
  },

  reset: async (host, record) => {
    if (record.power === 'off') return;
    const qemu = await readQemuState(host, record.spec.id);
    if (qemu.state === 'off') return await switchOff(host, record);
    // Leaving a rescue changes the disks, and a halted or unresponsive QEMU takes no commands: start it
    // again.
    const isUsable = qemu.state === 'on' && runsOwnDisk(qemu.name, record);
    if (!isUsable || (await lacksDrive(host, record))) return await bootDisk(host, record);
    await sendQmpCommand(host, record, 'system_reset');
  },
};

/** Whether it runs what the record wants; the rescue system counts. */
function isOn(record: MachineRecord, qemu: QemuState): boolean {
  return record.power === 'on' && isAlive(qemu) && qemu.name === bootName(record);
}

/** Also leaves rescue mode. */
async function bootDisk(host: QemuHost, record: MachineRecord): Promise<void> {
  await boot(host, { ...record, power: 'on', rescue: null });
}

async function sendQmpCommand(host: QemuHost, { spec }: MachineRecord, command: string): Promise<void> {
  await withQmp(host, spec.id, async (qmp) => await qmp?.execute(command));
}

export async function rescueMachine(host: QemuHost, id: string, access: RescueAccess): Promise<void> {
  const digest = createHash('sha256').update(access.passwordHash).digest('hex');
  await withMachine(host, id, async (record) => {
    if (await isInRescue(host, record, digest)) return;
    await requireRescueImage(host);
    // Start from a fresh disk each time, so that nothing from an earlier rescue remains.
    await rm(rescuePath(host, id, 'rescue.qcow2'), { force: true });
    await writeRescueSeed(host, record.spec, { passwordHash: access.passwordHash, digest });
    await boot(host, { ...record, power: 'on', rescue: digest });
  });
}

async function isInRescue(host: QemuHost, record: MachineRecord, digest: string): Promise<boolean> {
  if (record.rescue !== digest || record.power === 'off') return false;
  const qemu = await readQemuState(host, record.spec.id);
  return (qemu.state === 'on' || isUnresponsive(qemu)) && qemu.name === bootName(record);
}

/** Connects to QEMU's VNC server, whose socket only root can open. Several viewers can share it. */
export async function openConsole(host: QemuHost, id: string): Promise<Duplex> {
  await requireRecord(host.layout, id);
  const { state } = await readQemuState(host, id);
  if (state === 'gone' || state === 'off' || state === 'begun')
    throw new ComputeError('refused', 'the machine is off');
  const socket = connect(host.layout.runtimeFile(id, 'vnc'));
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  if (await promise) return socket;
  throw new ComputeError('transient', 'the console of the machine cannot be opened');
}
