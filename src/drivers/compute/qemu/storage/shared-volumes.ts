/**
 * Shared volumes: images in a Ceph pool, which every host with access to the pool can attach, one at a time.
 * A host has a record of a shared volume only while it is attached there.
 */
import { networkInterfaces } from 'node:os';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { GIB } from '../space.ts';
import { CephRefusedError, requireCeph, runCeph, undefinedIfNotFound } from './ceph.ts';
import {
  breakClaim,
  type Claim,
  claimVolume,
  deleteClaim,
  isOwnClaim,
  readClaim,
  requireOwnClaim,
  requireUnclaimed,
} from './claims.ts';

/** QEMU takes the exclusive lock when it writes: a client that lost it cannot write again unnoticed. */
const FEATURES = 'layering,exclusive-lock';

export const imageName = (volumeId: string) => `skerry-${volumeId}`;

interface SizedVolume {
  readonly id: string;
  readonly sizeGb: number;
}

/** Claims the volume for this host, and creates its image if it never had one. */
export async function claimSharedVolume(host: QemuHost, volume: SizedVolume): Promise<void> {
  await requireUnclaimed(host, volume.id);
  if ((await readSizeBytes(host, volume.id)) === undefined) await createImage(host, volume);
  await claimVolume(host, volume.id);
}

/** Returns the claims, by volume, of the host from which a machine with these volumes comes. */
export async function readClaimsToTake(
  host: QemuHost,
  volumes: readonly (SizedVolume & { readonly shared?: true })[],
): Promise<Record<string, Claim>> {
  const claims: Record<string, Claim> = {};
  for (const { id, shared } of volumes) {
    if (!shared) continue;
    if (!host.options.ceph)
      throw new ComputeError(
        'host',
        'no machine with a shared volume can be moved to this host: it has no access',
      );
    const claim = await readClaim(host, id);
    if (typeof claim !== 'object' || isOwnClaim(host, claim))
      throw new ComputeError('transient', 'the shared volume is not attached on the other host');
    claims[id] = claim;
  }
  return claims;
}

/** Ensures the size of a volume that this host has claimed and no QEMU has open. */
export async function ensureSharedVolume(host: QemuHost, volume: SizedVolume): Promise<void> {
  await requireOwnClaim(host, volume.id);
  if (!(await enlargeImage(host, volume))) throw imageMissing();
}

/** Enlarges a volume that is attached nowhere. Does nothing if it does not exist. */
export async function growDetached(host: QemuHost, volume: SizedVolume): Promise<void> {
  await requireUnclaimed(host, volume.id);
  await enlargeImage(host, volume);
}

export async function removeSharedVolume(host: QemuHost, volumeId: string): Promise<void> {
  await requireUnclaimed(host, volumeId);
  await undefinedIfNotFound(runRbd(host, ['rm', '--no-progress'], volumeId));
  // It comes last: without it, a leftover image would become the content of the next volume with this id.
  await deleteClaim(host, volumeId);
}

/** Returns false if there is no image. */
async function enlargeImage(host: QemuHost, { id, sizeGb }: SizedVolume): Promise<boolean> {
  const sizeBytes = await readSizeBytes(host, id);
  if (sizeBytes === undefined) return false;
  if (sizeBytes < sizeGb * GIB) await runRbd(host, ['resize', '--no-progress', '--size', `${sizeGb}G`], id);
  return true;
}

async function createImage(host: QemuHost, { id, sizeGb }: SizedVolume): Promise<void> {
  // The data exists nowhere else, and an empty image in its place would hide the loss.
  if ((await readClaim(host, id)) !== 'never') throw imageMissing();
  const words = ['create', '--size', `${sizeGb}G`, '--image-feature', FEATURES];
  await runRbd(host, words, id).catch((error: unknown) => {
    if (!(error instanceof CephRefusedError) || error.code !== 'EEXIST') throw error;
  });
}

async function readSizeBytes(host: QemuHost, volumeId: string): Promise<number | undefined> {
  const text = await undefinedIfNotFound(runRbd(host, ['info', '--format', 'json'], volumeId));
  return text === undefined ? undefined : (JSON.parse(text) as { readonly size: number }).size;
}

async function runRbd(host: QemuHost, args: readonly string[], volumeId: string): Promise<string> {
  const image = ['--pool', requireCeph(host).pool, '--image', imageName(volumeId)];
  return await runCeph(host, 'rbd', [...args, ...image]);
}

function imageMissing(): ComputeError {
  return new ComputeError('host', 'the image of the shared volume is missing');
}

/** The clients that have an image open. */
interface Watched {
  readonly watchers?: readonly { readonly address: string }[];
}

/** A fenced host must be restarted before it may connect again, which only the cluster's operator allows. */
const FENCE_S = 10 * 365 * 86_400;

/**
 * Fences the host that has the volume and ends its claim. The whole host is fenced, not only the QEMU that
 * has the volume open: another one could be about to open it. From here on, all of its writes fail.
 */
export async function seizeSharedVolume(host: QemuHost, volumeId: string): Promise<void> {
  const claim = await readClaim(host, volumeId);
  if (typeof claim !== 'object' || isOwnClaim(host, claim)) return;
  const status = await undefinedIfNotFound(runRbd(host, ['status', '--format', 'json'], volumeId));
  const { watchers = [] } = JSON.parse(status ?? '{}') as Watched;
  const clients = new Set([claim.address, ...watchers.map(({ address }) => address)].map(ipAddress));
  for (const address of clients) await fence(host, address);
  await breakClaim(host, volumeId, claim);
}

/** Also fences clients of that address that connect later. */
async function fence(host: QemuHost, address: string): Promise<void> {
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  if (own.some((entry) => entry.address === address)) {
    const message = 'the volume is attached on a host with the same address, which cannot be fenced';
    throw new ComputeError('refused', message);
  }
  const entry = `${address.includes(':') ? `[${address}]` : address}:0/0`;
  await runCeph(host, 'ceph', ['osd', 'blocklist', 'add', entry, String(FENCE_S)]);
}

function ipAddress(client: string): string {
  const [, address] = /^(?:v[12]:)?\[?([0-9a-fA-F.:]+?)\]?:\d+\/\d+$/.exec(client) ?? [];
  if (address === undefined) throw new ComputeError('transient', 'a client of the storage has no address');
  return address;
}
