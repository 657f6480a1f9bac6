/**
 * Shared volumes: images in a Ceph pool, which every host with access to the pool can attach, one at a time.
 * A host has a record of a shared volume only while it is attached there.
 */
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { claimVolume, deleteClaim, readClaim, requireOwnClaim, requireUnclaimed } from './claims.ts';
import { createImage, enlargeImage, readImageBytes, removeImage, seizeImages } from './shared-images.ts';

export const imageName = (volumeId: string) => `skerry-${volumeId}`;

interface SizedVolume {
  readonly id: string;
  readonly sizeGb: number;
}

/** Claims the volume for this host, and creates its image if it never had one. */
export async function claimSharedVolume(host: QemuHost, volume: SizedVolume): Promise<void> {
  await requireUnclaimed(host, volume.id);
  if ((await readImageBytes(host, imageName(volume.id))) === undefined) await createVolumeImage(host, volume);
  await claimVolume(host, volume.id);
}

/** Ensures the size of a volume that this host has claimed and no QEMU has open. */
export async function ensureSharedVolume(host: QemuHost, volume: SizedVolume): Promise<void> {
  await requireOwnClaim(host, volume.id);
  if (!(await enlargeImage(host, imageName(volume.id), volume.sizeGb))) throw imageMissing();
}

/** Enlarges a volume that is attached nowhere. Does nothing if it does not exist. */
export async function growDetached(host: QemuHost, volume: SizedVolume): Promise<void> {
  await requireUnclaimed(host, volume.id);
  await enlargeImage(host, imageName(volume.id), volume.sizeGb);
}

export async function removeSharedVolume(host: QemuHost, volumeId: string): Promise<void> {
  await requireUnclaimed(host, volumeId);
  await removeImage(host, imageName(volumeId));
  // It comes last: without it, a leftover image would become the content of the next volume with this id.
  await deleteClaim(host, volumeId);
}

async function createVolumeImage(host: QemuHost, { id, sizeGb }: SizedVolume): Promise<void> {
  // The data exists nowhere else, and an empty image in its place would hide the loss.
  if ((await readClaim(host, id)) !== 'never') throw imageMissing();
  await createImage(host, imageName(id), `${sizeGb}G`);
}

function imageMissing(): ComputeError {
  return new ComputeError('host', 'the image of the shared volume is missing');
}

/** Fences the host that has the volume and ends its claim. */
export async function seizeSharedVolume(host: QemuHost, volumeId: string): Promise<void> {
  await seizeImages(host, volumeId, [imageName(volumeId)]);
}
