/**
 * Disks of machines in the Ceph pool: one image per generation. An image has its final name only when its
 * content is complete, so a killed call leaves nothing that could be taken for a disk. The images of a
 * machine have one claim: only the host that has it opens, replaces, or deletes them.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ComputeError, type MachineSpec } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { OWN_DISK_DEVICE } from '../machine/command-line.ts';
import { readDiskInfo } from '../qcow2.ts';
import type { Qmp } from '../qmp.ts';
import type { MachineRecord } from '../record.ts';
import { listCopies, stopCopy, workInBackground } from './background-copy.ts';
import { convertTarget, openCephNode } from './ceph.ts';
import { claimVolume, deleteClaim, isOwnClaim, readClaim, requireOwnClaim } from './claims.ts';
import {
  cloneImage,
  createImage,
  createImageSnapshot,
  enlargeImage,
  listImages,
  readImageBytes,
  removeImage,
  renameImage,
  seizeImages,
} from './shared-images.ts';

const MIB = 1024 ** 2;
/** A base image is complete once it has this snapshot. */
const COMPLETE = 'complete';
/** Less than a caller waits for a machine's lock. */
const IMPORT_WAIT_MS = 10_000;

const imagePrefix = (machineId: string) => `skerry-disk-${machineId}-`;
export const diskImage = (machineId: string, generation: number) => `${imagePrefix(machineId)}${generation}`;
/** The disk of that generation while it is being made. */
export const unfinishedImage = (machineId: string, generation: number) =>
  `${diskImage(machineId, generation)}-new`;
export const diskClaim = (machineId: string) => `disk-${machineId}`;

/**
 * Creates the disk of an install from its image, or an empty disk. With `replaces`, no record names that
 * generation, and an existing disk is the leftover of a killed call. Without it, an existing disk is kept:
 * the machine may have had it on a host that is lost.
 */
export async function createSharedDisk(
  host: QemuHost,
  { id, generation, diskGb, image: { base, iso } }: MachineSpec,
  { replaces }: { readonly replaces: boolean },
): Promise<void> {
  await claimVolume(host, diskClaim(id));
  if (!replaces && (await readImageBytes(host, diskImage(id, generation))) !== undefined) return;
  const unfinished = unfinishedImage(id, generation);
  await removeImage(host, unfinished);
  if (base === null || iso !== null) await createImage(host, unfinished, `${diskGb}G`);
  else await cloneImage(host, { image: await ensureBaseImage(host, base), snapshot: COMPLETE }, unfinished);
  await finishSharedDisk(host, { id, generation, diskGb });
}

/** Gives a disk whose content is complete its size and its name. May be done already. */
export async function finishSharedDisk(
  host: QemuHost,
  { id, generation, diskGb }: Pick<MachineSpec, 'id' | 'generation' | 'diskGb'>,
): Promise<void> {
  const unfinished = unfinishedImage(id, generation);
  if (!(await enlargeImage(host, unfinished, diskGb))) return;
  await removeImage(host, diskImage(id, generation));
  await renameImage(host, unfinished, diskImage(id, generation));
}

/**
 * Returns the image's own image in the pool, and copies it there first if this is its first disk. Two hosts
 * that copy at once write the same bytes.
 */
async function ensureBaseImage(host: QemuHost, sha256: string): Promise<string> {
  const image = `skerry-base-${sha256}`;
  if ((await readImageBytes(host, image, COMPLETE)) !== undefined) return image;
  await host.withHostLock('images', async () => {
    const from = host.layout.image(sha256);
    const { sizeBytes } = await readDiskInfo(host, from);
    await createImage(host, image, `${Math.ceil(sizeBytes / MIB)}M`);
    const marker = join(host.layout.images(), `${sha256}.shared`);
    const convert = host.inNet('qemu-img', ['convert', '-f', 'qcow2', from, ...convertTarget(host, image)]);
    const script = async () => ['to=$1; shift; "$@" && : > "$to"', marker, ...convert] as const;
    const state = await workInBackground(host, { to: marker, script }, IMPORT_WAIT_MS);
    if (state === 'copying')
      throw new ComputeError('waiting', 'the image is being copied to the shared storage');
    if (state === 'done') await createImageSnapshot(host, image, COMPLETE);
    await stopCopy(marker);
    await rm(marker, { force: true });
    if (state === 'failed')
      throw new ComputeError('transient', 'copying the image to the shared storage failed');
  });
  return image;
}

/** Throws unless this host has the disk and may open it. */
export async function requireSharedDisk(host: QemuHost, id: string, generation: number): Promise<void> {
  await requireOwnClaim(host, diskClaim(id));
  // Never recreate the disk: its data exists nowhere else.
  if ((await readImageBytes(host, diskImage(id, generation))) === undefined)
    throw new ComputeError('host', 'the disk of the machine is missing');
}

/** Plugs the disk into a QEMU that was just started and whose guest does not run yet. */
export async function plugSharedDisk(
  host: QemuHost,
  qmp: Qmp,
  { spec, generation }: Pick<MachineRecord, 'spec' | 'generation'>,
): Promise<void> {
  await openCephNode(host, qmp, { name: OWN_DISK_DEVICE.drive, image: diskImage(spec.id, generation) });
  await qmp.execute('device_add', OWN_DISK_DEVICE);
}

/**
 * Makes the disk that the machine had on a lost host, whose claim has ended, the disk of the next generation.
 */
export async function reviveSharedDisk(
  host: QemuHost,
  { id, generation, diskGb }: Pick<MachineSpec, 'id' | 'generation' | 'diskGb'>,
): Promise<void> {
  await claimVolume(host, diskClaim(id));
  const unfinished = unfinishedImage(id, generation);
  const previous = diskImage(id, generation - 1);
  // A rebuild on the lost host may have left an unfinished install.
  if ((await readImageBytes(host, previous)) !== undefined) {
    await removeImage(host, unfinished);
    await renameImage(host, previous, unfinished);
  }
  await finishSharedDisk(host, { id, generation, diskGb });
  await requireSharedDisk(host, id, generation);
}

/** Takes the disks of a machine from a host that is lost. That host cannot write to the cluster any more. */
export async function seizeSharedDisk(host: QemuHost, machineId: string): Promise<void> {
  const images = await listDisks(host, machineId);
  await seizeImages(
    host,
    diskClaim(machineId),
    images.map(({ image }) => image),
  );
}

/** Deletes disks of other generations than the machine's, like those on a host. */
export async function removePreviousSharedDisks(
  host: QemuHost,
  { spec, generation, installingSince }: MachineRecord,
): Promise<void> {
  const isCopying = (await listCopies(host.layout.machine(spec.id))).length > 0;
  for (const disk of await listDisks(host, spec.id)) {
    const isPrevious = disk.generation < generation && installingSince === null;
    // A copy in progress, or complete, is for a later generation.
    const isLater = disk.generation > generation;
    const isUnused = isLater ? !isCopying : disk.isUnfinished;
    if (isPrevious || isUnused) await removeImage(host, disk.image);
  }
}

/** Deletes all disks of the machine, unless another host has them. */
export async function removeSharedDisks(host: QemuHost, machineId: string): Promise<void> {
  const claim = await readClaim(host, diskClaim(machineId));
  // The claim comes before the first image, and goes after the last one.
  if (claim === 'never' || (claim !== 'none' && !isOwnClaim(host, claim))) return;
  for (const { image } of await listDisks(host, machineId)) await removeImage(host, image);
  await deleteClaim(host, diskClaim(machineId));
}

interface SharedDisk {
  readonly image: string;
  readonly generation: number;
  readonly isUnfinished: boolean;
}

async function listDisks(host: QemuHost, machineId: string): Promise<SharedDisk[]> {
  const prefix = imagePrefix(machineId);
  return (await listImages(host, prefix)).flatMap((image) => {
    const [, number, suffix] = /^(\d+)(-new)?$/.exec(image.slice(prefix.length)) ?? [];
    if (number === undefined) return [];
    return [{ image, generation: Number(number), isUnfinished: suffix !== undefined }];
  });
}
