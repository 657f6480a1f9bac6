/**
 * Volumes and snapshots that a running QEMU has open. Each belongs to the user of its machine meanwhile, and
 * has a hard link in a folder of the machine, which is that QEMU's only view of the volumes or snapshots of
 * this host. So all of them must be on one file system.
 */
import { chown, link, mkdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import type { Layout, LentKind } from '../layout.ts';
import { guestUid } from '../machine/isolation.ts';

/** Lets the machine's QEMU open the file at its usual path. */
export async function lendFile(
  host: QemuHost,
  machineId: string,
  file: { readonly kind: LentKind; readonly path: string },
): Promise<void> {
  const uid = await guestUid(host, machineId);
  await chown(file.path, uid, uid);
  const to = lentPath(host.layout, machineId, file);
  await mkdir(host.layout.lentFolder(machineId, file.kind), { recursive: true, mode: 0o711 });
  await rm(to, { force: true });
  await link(file.path, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error;
    const message = `the folders machines and ${file.kind} must be on the same file system`;
    throw new ComputeError('host', message);
  });
}

/** Takes the file back, whose node is closed. A file that was not lent, or no longer exists, is no error. */
export async function reclaimFile(
  layout: Layout,
  machineId: string,
  file: { readonly kind: LentKind; readonly path: string },
): Promise<void> {
  await rm(lentPath(layout, machineId, file), { force: true });
  const owner = await stat(file.path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (owner && owner.uid !== process.getuid?.()) await chown(file.path, 0, 0);
}

function lentPath(
  layout: Layout,
  machineId: string,
  { kind, path }: { kind: LentKind; path: string },
): string {
  return join(layout.lentFolder(machineId, kind), basename(path));
}
