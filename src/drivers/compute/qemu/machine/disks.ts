/**
 * Files of a machine: its disks, a customer's ISO, the rescue overlay. Each is written under a temporary name
 * first.
 */
import { copyFile, link, mkdir, readdir, rm } from 'node:fs/promises';
import { ComputeError, type MachineImage, type MachineSpec, MissingFile } from '../../../../ports/compute.ts';
import { commitFile, exists } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { createDisk, readDiskInfo } from '../qcow2.ts';
import type { MachineRecord, StoredSpec } from '../record.ts';
import { GIB, requireDiskSpace } from '../space.ts';
import { createSharedDisk, removePreviousSharedDisks } from '../storage/shared-disks.ts';

/** Rejects an image that cannot be installed here, before any file is created. */
export async function requireInstallable(host: QemuHost, { image, diskGb }: StoredSpec): Promise<void> {
  await requireDiskSpace(host.layout);
  if (image.iso !== null) return await requireIso(host, image.iso);
  const base = image.base === null ? null : host.layout.image(image.base);
  if (base === null || !(await exists(base))) {
    throw new MissingFile(`image ${image.family} ${image.version} is not imported`);
  }
  if ((await readDiskInfo(host, base)).sizeBytes > diskGb * GIB) {
    throw new ComputeError('refused', `image ${image.family} ${image.version} needs a larger disk`);
  }
}

/** Rejects a customer's ISO that is not here. */
export async function requireIso(host: QemuHost, iso: Iso): Promise<void> {
  if (!(await exists(isoSource(host, iso))))
    throw new MissingFile("the customer's image is not on this host");
}

/**
 * Creates the disk of an install: an overlay of its image, or an empty disk. This runs before any record
 * names the disk, so it may replace the leftover of a killed call. A disk named by a record is never
 * recreated.
 */
export async function createInstallDisk(
  host: QemuHost,
  spec: MachineSpec,
  { isFirst }: { readonly isFirst: boolean },
): Promise<void> {
  if (spec.sharedDisk) return await createSharedDisk(host, spec, { replaces: !isFirst });
  const { base, iso } = spec.image;
  const backing = iso !== null || base === null ? null : host.layout.image(base);
  await createDisk(host.layout.disk(spec.id, spec.generation), { backing, sizeBytes: spec.diskGb * GIB });
}

type Iso = NonNullable<MachineImage['iso']>;

export async function storeIso(host: QemuHost, spec: MachineSpec): Promise<void> {
  if (spec.image.iso === null) return;
  await linkIso(host, spec.image.iso, isoPath(host, spec.id, spec.generation));
}

/** Stores the machine's own copy of a customer's ISO, since the original may be deleted. */
export async function linkIso(host: QemuHost, iso: Iso, path: string): Promise<void> {
  const tempPath = `${path}.new`;
  await rm(tempPath, { force: true });
  const from = isoSource(host, iso);
  // Use a hard link if possible: the ISO is never written.
  await link(from, tempPath).catch(async () => {
    await copyFile(from, tempPath).catch(async () => {
      await rm(tempPath, { force: true });
      throw new ComputeError('host', 'copying the ISO failed');
    });
  });
  await commitFile(tempPath, path);
}

function isoSource(host: QemuHost, { path, sha256 }: Iso): string {
  return path ?? host.layout.iso(sha256);
}

export function isoPath(host: QemuHost, id: string, generation: number): string {
  return host.layout.machine(id, `cd-${generation}.iso`);
}
/** An ISO that was inserted into the machine. */
export function insertedPath(host: QemuHost, id: string, sha256: string): string {
  return host.layout.machine(id, `iso-${sha256}.iso`);
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
export async function removePreviousDisks(host: QemuHost, record: MachineRecord): Promise<void> {
  const { spec, generation, installingSince } = record;
  if (spec.sharedDisk) await removePreviousSharedDisks(host, record);
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
