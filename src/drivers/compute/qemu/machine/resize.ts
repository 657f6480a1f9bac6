/** Changes the size of a machine: its disk at once, and its CPUs and memory when it is next powered on. */
import { stat } from 'node:fs/promises';
import { ComputeError, type MachineSize } from '../../../../ports/compute.ts';
import { run } from '../command.ts';
import type { QemuHost } from '../host.ts';
import { readDiskInfo, resizeCommand } from '../qcow2.ts';
import { type Qmp, QmpRefusedError, withQmp } from '../qmp.ts';
import { type MachineRecord, requireNotMoving, withMachine, writeRecord } from '../record.ts';
import { GIB } from '../space.ts';
import { diskImage, requireSharedDisk } from '../storage/shared-disks.ts';
import { enlargeImage, readImageBytes } from '../storage/shared-images.ts';
import { withReservedSpace } from '../storage/space-budget.ts';
import { OWN_DISK_DEVICE } from './command-line.ts';

export async function resizeMachine(
  host: QemuHost,
  id: string,
  { cpu, ramMb, diskGb }: MachineSize,
): Promise<{ readonly diskGb: number }> {
  return await withMachine(host, id, async (record) => {
    requireNotMoving(record);
    // A killed call may have enlarged it without a record.
    const size = { cpu, ramMb, diskGb: Math.max(diskGb, await readDiskGb(host, record)) };
    await enlargeDisk(host, record, size.diskGb);
    await writeRecord(host.layout, { ...record, spec: { ...record.spec, ...size } });
    return { diskGb: size.diskGb };
  });
}

async function readDiskGb(host: QemuHost, { spec, generation }: MachineRecord): Promise<number> {
  const sizeBytes = spec.sharedDisk
    ? await readImageBytes(host, diskImage(spec.id, generation))
    : (await readDiskInfo(host, host.layout.disk(spec.id, generation))).sizeBytes;
  if (sizeBytes === undefined) throw new ComputeError('host', 'the disk of the machine is missing');
  return Math.ceil(sizeBytes / GIB);
}

async function enlargeDisk(host: QemuHost, record: MachineRecord, diskGb: number): Promise<void> {
  const { id, sharedDisk } = record.spec;
  const moreGb = diskGb - (await readDiskGb(host, record));
  if (moreGb <= 0) return;
  const enlarge = async () =>
    await withQmp(host, id, (qmp) =>
      qmp ? enlargeOpenDisk(qmp, diskGb) : enlargeClosedDisk(host, record, diskGb),
    );
  if (sharedDisk) return await enlarge();
  await withReservedSpace(host, { folder: host.layout.machine(id), bytes: moreGb * GIB }, enlarge);
}

/** Also while the guest uses it. QEMU keeps it open after the guest has shut down. */
async function enlargeOpenDisk(qmp: Qmp, diskGb: number): Promise<void> {
  try {
    await qmp.execute('block_resize', { 'node-name': OWN_DISK_DEVICE.drive, size: diskGb * GIB });
  } catch (error) {
    if (!(error instanceof QmpRefusedError)) throw error;
    // Such as a snapshot that is being taken.
    throw new ComputeError('transient', 'the disk is in use and cannot be enlarged now');
  }
}

async function enlargeClosedDisk(
  host: QemuHost,
  { spec, generation }: MachineRecord,
  diskGb: number,
): Promise<void> {
  if (spec.sharedDisk) {
    await requireSharedDisk(host, spec.id, generation);
    return void (await enlargeImage(host, diskImage(spec.id, generation), diskGb));
  }
  const path = host.layout.disk(spec.id, generation);
  const { backing } = await readDiskInfo(host, path);
  const { uid } = await stat(path);
  const [program = '', ...words] = await resizeCommand(host, { path, uid, sizeGb: diskGb, backing });
  await run(program, words);
}
