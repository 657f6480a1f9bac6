/**
 * The boundary of a machine's QEMU. Each machine has a user of its own, without capabilities, and a mount
 * namespace of its own. Its root is a small read-only tree: the programs of the host, five devices, and the
 * machine's files, each at its usual path. A guest that takes over its QEMU finds nothing else there.
 *
 * Files that are attached while QEMU runs cannot be mounted into its namespace later. They appear there as
 * hard links: two folders of the machine stand for `volumes` and `snapshots` (`lent-files.ts`).
 */
import { createHash } from 'node:crypto';
import { chmod, chown, mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ComputeError } from '../../../../ports/compute.ts';
import { readJson } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { LENT_KINDS } from '../layout.ts';
import { type Device, isolationCommand, type Mount, SYSTEM_MOUNTS } from '../namespace.ts';
import { readDiskInfo } from '../qcow2.ts';
import { listFolders, writeEvenIfFull } from '../record.ts';
import type { CommandLine } from './command-line.ts';

/** User ids that no distribution assigns. */
export const GUEST_UIDS = { first: 0x7000_0000, last: 0x7fff_ffff } as const;
/**
 * The group of customers' ISO images, which several machines may share. Each QEMU is in it, since an image
 * may be inserted while it runs; in its namespace it finds only its own.
 */
export const UPLOADS_GID = GUEST_UIDS.first - 1;

/** Returns the user id of the machine's QEMU, which is assigned once. No two machines of a host share one. */
export async function guestUid(host: QemuHost, id: string): Promise<number> {
  return (await readUid(host, id)) ?? (await host.withHostLock('identities', () => assignUid(host, id)));
}

async function readUid(host: QemuHost, id: string): Promise<number | undefined> {
  return await readJson<number>(host.layout.machine(id, 'uid.json'));
}

/** Starts from a digest of the id, so a lost file is most likely replaced by the same number. */
async function assignUid(host: QemuHost, id: string): Promise<number> {
  const others = await Promise.all(
    (await listFolders(host.layout)).map((other) => readUid(host, other).catch(() => undefined)),
  );
  const count = GUEST_UIDS.last - GUEST_UIDS.first + 1;
  let index = createHash('sha256').update(id).digest().readUInt32BE() % count;
  while (others.includes(GUEST_UIDS.first + index)) index = (index + 1) % count;
  const uid = GUEST_UIDS.first + index;
  await writeEvenIfFull(host.layout, host.layout.machine(id, 'uid.json'), uid);
  return uid;
}

/** Gives a file to the machine's QEMU. */
export async function giveFile(host: QemuHost, id: string, path: string): Promise<void> {
  const uid = await guestUid(host, id);
  await chown(path, uid, uid);
}

/**
 * Prepares the files and folders of a QEMU that is about to start. Returns the command that starts a program
 * in the machine's namespace and as its user; the program and its arguments follow it.
 */
export async function isolate(
  host: QemuHost,
  id: string,
  line: Pick<CommandLine, 'disk' | 'rescueDisk' | 'cd' | 'isoDrive' | 'run' | 'accelerator'>,
): Promise<string[]> {
  const { layout } = host;
  const uid = await guestUid(host, id);
  const runDir = dirname(line.run.qmp);
  await mkdir(runDir, { recursive: true, mode: 0o700 });
  await mkdir(layout.emptyRoot(), { recursive: true, mode: 0o700 });
  // QEMU creates its sockets there. `launch` takes the folder back before the guest runs.
  await chown(runDir, uid, uid);
  // QEMU may pass through the folder, but not list it.
  await chmod(layout.machine(id), 0o711);
  for (const kind of LENT_KINDS) {
    await rm(layout.lentFolder(id, kind), { recursive: true, force: true });
    await mkdir(layout.lentFolder(id, kind), { mode: 0o711 });
  }
  const disks = [line.disk, line.rescueDisk].filter((path) => path !== null);
  for (const disk of disks) await giveFile(host, id, disk);
  if (line.cd !== null) await giveCd(host, id, line.cd);
  if (line.isoDrive?.iso) await giveUpload(line.isoDrive.iso);
  const images = await Promise.all(disks.map((disk) => readBackingImage(host, disk)));
  const mounts: Mount[] = [
    ...SYSTEM_MOUNTS,
    { mode: 'rw', from: runDir, to: runDir },
    { mode: 'rw', from: layout.machine(id), to: layout.machine(id) },
    ...LENT_KINDS.map(
      (kind): Mount => ({
        mode: 'rw',
        from: layout.lentFolder(id, kind),
        to: layout[kind](),
      }),
    ),
  ];
  for (const image of new Set(images.filter((path) => path !== null))) {
    // The folder of the images is closed to other users; in its namespace, a machine has only its own.
    await chmod(image, 0o644);
    mounts.push({ mode: 'ro', from: image, to: image });
  }
  const devices = devicesFor(line.accelerator);
  return isolationCommand({ root: layout.emptyRoot(), uid, group: UPLOADS_GID, mounts, devices });
}

async function giveCd(host: QemuHost, id: string, path: string): Promise<void> {
  await (/\/cd-\d+\.iso$/.test(path) ? giveUpload(path) : giveFile(host, id, path));
}

/**
 * A customer's ISO may be a hard link to the uploaded file, which other machines use too. So it belongs to
 * none of their users: a group reads it. An earlier version let everyone read it.
 */
export async function giveUpload(path: string): Promise<void> {
  await chown(path, 0, UPLOADS_GID);
  await chmod(path, 0o640);
}

/**
 * Returns the imported image under a disk, or null. A guest that took over its QEMU can write any name into
 * its disk's header, so no other file is accepted.
 */
export async function readBackingImage(host: QemuHost, disk: string): Promise<string | null> {
  const { backing } = await readDiskInfo(host, disk);
  if (backing === null) return null;
  const [, sha256 = ''] = /\/([0-9a-f]{64})\.qcow2$/.exec(backing) ?? [];
  if (sha256 !== '' && backing === host.layout.image(sha256)) return backing;
  throw new ComputeError('host', 'the disk of the machine refers to a file that is not an image');
}

function devicesFor(accelerator: 'kvm' | 'tcg'): Device[] {
  return ['null', 'zero', 'urandom', 'net/tun', ...(accelerator === 'kvm' ? (['kvm'] as const) : [])];
}
