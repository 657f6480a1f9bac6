/**
 * Files of a machine: its disks, a customer's ISO, the rescue overlay. Each is written under a temporary name
 * first.
 */
import { copyFile, link, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { ComputeError, type MachineSpec } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import type { MachineRecord, StoredSpec } from '../record.ts';
import { ensureReserve } from '../reserve.ts';

const GIB = 1024 ** 3;
/** Below this much free space nothing new is started, so that running guests can still write. */
const RESERVE_BYTES = 2 * GIB;

/** Rejects an image that cannot be installed here, before any file is created. */
export async function requireInstallable(host: QemuHost, { image, diskGb }: StoredSpec): Promise<void> {
  await requireHostSpace(host);
  if (image.iso !== null) return;
  const base = image.base === null ? null : host.layout.image(image.base);
  if (base === null || !(await exists(base))) {
    throw new ComputeError('refused', `image ${image.family} ${image.version} is not imported`);
  }
  const info = await host.run('qemu-img', ['info', '--force-share', '--output=json', base]);
  const { 'virtual-size': bytes } = JSON.parse(info) as { 'virtual-size': number };
  if (bytes > diskGb * GIB) {
    throw new ComputeError('refused', `image ${image.family} ${image.version} needs a larger disk`);
  }
}

export async function requireHostSpace(host: QemuHost): Promise<void> {
  const { bavail, bsize } = await statfs(host.options.dir);
  if (bavail * bsize < RESERVE_BYTES)
    throw new ComputeError('host', 'the host has no disk space left for another disk');
  await ensureReserve(host.layout);
}

/**
 * Creates the disk of an install: an overlay of its image, or an empty disk. This runs before any record
 * names the disk, so it may replace the leftover of a killed call. A disk named by a record is never
 * recreated.
 */
export async function createDisk(host: QemuHost, spec: MachineSpec): Promise<void> {
  const { base } = spec.image;
  const backing = spec.image.iso !== null || base === null ? null : host.layout.image(base);
  await createOverlay(host, host.layout.disk(spec.id, spec.generation), {
    base: backing,
    diskGb: spec.diskGb,
  });
}

/** Creates an empty disk, or an overlay of `base`. The base is never written. */
export async function createOverlay(
  host: QemuHost,
  path: string,
  { base, diskGb }: { readonly base: string | null; readonly diskGb: number | null },
): Promise<void> {
  const tempPath = `${path}.new`;
  await rm(tempPath, { force: true });
  const backing = base === null ? [] : ['-b', base, '-F', 'qcow2'];
  const size = diskGb === null ? [] : [`${diskGb}G`];
  await host.run('qemu-img', ['create', '-q', '-f', 'qcow2', ...backing, tempPath, ...size]);
  await commitFile(tempPath, path);
}

/** Stores the machine's own copy of a customer's ISO, since the original may be deleted. */
export async function storeIso(host: QemuHost, spec: MachineSpec): Promise<void> {
  if (spec.image.iso === null) return;
  const path = isoPath(host, spec.id, spec.generation);
  const tempPath = `${path}.new`;
  await rm(tempPath, { force: true });
  const from = spec.image.iso.path;
  // Use a hard link if possible: the ISO is never written.
  await link(from, tempPath).catch(async () => {
    await copyFile(from, tempPath).catch(() => {
      throw new ComputeError('host', 'copying the ISO failed');
    });
  });
  await commitFile(tempPath, path);
}

/** Flushes the file and renames it, so that it is complete or absent even after a power failure. */
export async function commitFile(tempPath: string, path: string): Promise<void> {
  const file = await open(tempPath, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(tempPath, path);
}

export function isoPath(host: QemuHost, id: string, generation: number): string {
  return host.layout.machine(id, `cd-${generation}.iso`);
}
export function seedPath(host: QemuHost, id: string, generation: number): string {
  return host.layout.machine(id, `seed-${generation}.iso`);
}
/** The seed without secrets, which replaces the full one when the install is done. */
export function cleanSeedPath(host: QemuHost, id: string, generation: number): string {
  return host.layout.machine(id, `seed-${generation}-done.iso`);
}
export function rescuePath(host: QemuHost, id: string, file: 'rescue.qcow2' | 'rescue-seed.iso'): string {
  return host.layout.machine(id, file);
}

export async function createMachineFolder(host: QemuHost, id: string): Promise<void> {
  await mkdir(host.layout.machine(id), { recursive: true, mode: 0o700 });
}

/**
 * Deletes disks of earlier generations once the current install is done, and partial files of killed steps.
 * Keeps the copy for a later generation, which may be in progress.
 */
export async function removePreviousDisks(
  host: QemuHost,
  { spec, generation, installingSince }: MachineRecord,
): Promise<void> {
  for (const file of await readdir(host.layout.machine(spec.id))) {
    const [, number] = /^(?:disk|seed|cd)-(\d+)(?:-done)?\.(?:qcow2|iso)$/.exec(file) ?? [];
    const fileGeneration = number === undefined ? generation : Number(number);
    const isPrevious = fileGeneration < generation && installingSince === null;
    const isOldCopy = Number(/^copy-(\d+)-/.exec(file)?.[1] ?? Number.POSITIVE_INFINITY) <= generation;
    if (isPrevious || isOldCopy || fileGeneration > generation || file.endsWith('.new')) {
      await rm(host.layout.machine(spec.id, file), { recursive: true, force: true });
    }
  }
}

export async function removeRescue(host: QemuHost, id: string): Promise<void> {
  for (const file of ['rescue.qcow2', 'rescue-seed.iso'] as const)
    await rm(rescuePath(host, id, file), { force: true });
}

export async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
