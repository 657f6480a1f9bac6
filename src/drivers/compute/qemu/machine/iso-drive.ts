/**
 * The drive for a customer's ISO images. Each machine has one, mostly empty, next to the drive of its seed. A
 * QEMU that an earlier version started lacks it until the next power-on.
 */
import { readdir, rm } from 'node:fs/promises';
import type { IsoDrive } from '../../../../ports/compute.ts';
import { exists } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { type Qmp, withQmp } from '../qmp.ts';
import { type MachineRecord, requireNotMoving, withMachine, writeRecord } from '../record.ts';
import { requireDiskSpace } from '../space.ts';
import { ISO_DRIVE, ISO_NODE, isoBootIndex } from './command-line.ts';
import { insertedPath, linkIso, requireIso } from './disks.ts';
import { giveUpload } from './isolation.ts';
import { isUnresponsive, readQemuState } from './qemu-state.ts';

export async function changeIso(host: QemuHost, id: string, { iso, boot }: IsoDrive): Promise<void> {
  await withMachine(host, id, async (record) => {
    requireNotMoving(record);
    if (iso !== null && !(await exists(insertedPath(host, id, iso.sha256)))) {
      await requireDiskSpace(host.layout);
      await requireIso(host, iso);
      await linkIso(host, iso, insertedPath(host, id, iso.sha256));
    }
    const { drive: _, ...rest } = record;
    const changed: MachineRecord =
      iso === null ? rest : { ...rest, drive: { sha256: iso.sha256, boots: boot === 'iso' } };
    await writeRecord(host.layout, changed);
    // The restart that an unresponsive QEMU needs in any case reads the record. Until then, its files stay.
    if (isUnresponsive(await readQemuState(host, id))) return;
    await withQmp(host, id, async (qmp) => {
      if (qmp && (await hasIsoDrive(qmp))) await applyDrive(host, qmp, changed);
    });
    await removeEjected(host, changed);
  });
}

/** Whether the QEMU of the machine has the drive. */
export async function hasIsoDrive(qmp: Qmp): Promise<boolean> {
  const devices = await qmp.execute<{ readonly name: string }[]>('qom-list', { path: '/machine/peripheral' });
  return devices.some(({ name }) => name === ISO_DRIVE.id);
}

/** Whether a reset would not boot what the record wants, because an earlier version started its QEMU. */
export async function lacksDrive(host: QemuHost, { spec, drive }: MachineRecord): Promise<boolean> {
  if (drive === undefined) return false;
  return await withQmp(host, spec.id, async (qmp) => qmp !== undefined && !(await hasIsoDrive(qmp)));
}

/** The guest has no say: its lock of the tray is ignored. */
async function applyDrive(host: QemuHost, qmp: Qmp, record: MachineRecord): Promise<void> {
  const { spec, drive } = record;
  const { id } = ISO_DRIVE;
  if (drive === undefined) {
    await qmp.execute('eject', { id, force: true });
    await qmp.execute('blockdev-close-tray', { id });
  } else {
    const filename = insertedPath(host, spec.id, drive.sha256);
    await giveUpload(filename);
    const medium = { id, filename, format: 'raw', 'read-only-mode': 'read-only', force: true };
    await qmp.execute('blockdev-change-medium', medium);
  }
  // The medium that it was started with stays open until its node is deleted.
  await qmp.execute('blockdev-del', { 'node-name': ISO_NODE }).catch(() => undefined);
  await setBootIndex(qmp, isoBootIndex({ boots: drive?.boots ?? false, isRescue: record.rescue !== null }));
}

/** The firmware reads it at the next reset. QEMU refuses an index that is in use, also by the same device. */
async function setBootIndex(qmp: Qmp, value: number): Promise<void> {
  const property = { path: `/machine/peripheral/${ISO_DRIVE.id}`, property: 'bootindex' };
  if ((await qmp.execute('qom-get', property)) === value) return;
  await qmp.execute('qom-set', { ...property, value });
}

async function removeEjected(host: QemuHost, { spec, drive }: MachineRecord): Promise<void> {
  for (const file of await readdir(host.layout.machine(spec.id))) {
    const [, sha256] = /^iso-([0-9a-f]{64})\.iso(?:\.new)?$/.exec(file) ?? [];
    if (sha256 !== undefined && sha256 !== drive?.sha256)
      await rm(host.layout.machine(spec.id, file), { force: true });
  }
}
