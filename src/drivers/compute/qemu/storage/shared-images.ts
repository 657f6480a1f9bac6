/** Images in the Ceph pool: what volumes, disks, and snapshots there have in common. */
import { networkInterfaces } from 'node:os';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { GIB } from '../space.ts';
import { CephRefusedError, requireCeph, runCeph, undefinedIfNotFound } from './ceph.ts';
import { breakClaim, isOwnClaim, readClaim } from './claims.ts';

/** QEMU takes the exclusive lock when it writes: a client that lost it cannot write again unnoticed. */
const FEATURES = 'layering,exclusive-lock';

/** Runs `rbd` with an image of the pool. */
export async function runRbd(host: QemuHost, args: readonly string[], image: string): Promise<string> {
  return await runCeph(host, 'rbd', [...args, '--pool', requireCeph(host).pool, '--image', image]);
}

/** Returns the size that a guest sees; undefined if the image, or that snapshot of it, does not exist. */
export async function readImageBytes(
  host: QemuHost,
  image: string,
  snapshot: string | null = null,
): Promise<number | undefined> {
  const of = snapshot === null ? [] : ['--snap', snapshot];
  const text = await undefinedIfNotFound(runRbd(host, ['info', '--format', 'json', ...of], image));
  return text === undefined ? undefined : (JSON.parse(text) as { readonly size: number }).size;
}

/** Creates an empty image unless it exists. `size` is a number with a unit, such as `10G`. */
export async function createImage(host: QemuHost, image: string, size: string): Promise<void> {
  const words = ['create', '--size', size, '--image-feature', FEATURES];
  await ignoreError('EEXIST', runRbd(host, words, image));
}

/** Creates a snapshot of the image unless it exists. */
export async function createImageSnapshot(host: QemuHost, image: string, name: string): Promise<void> {
  await ignoreError('EEXIST', runRbd(host, ['snap', 'create', '--no-progress', '--snap', name], image));
}

/** Creates an image with the content of a snapshot, which stays below it. */
export async function cloneImage(
  host: QemuHost,
  from: { readonly image: string; readonly snapshot: string },
  image: string,
): Promise<void> {
  const { pool } = requireCeph(host);
  // The second format needs no protected snapshot.
  const words = ['clone', '--image-feature', FEATURES, '--rbd-default-clone-format', '2'];
  await runCeph(host, 'rbd', [...words, `${pool}/${from.image}@${from.snapshot}`, `${pool}/${image}`]);
}

/** Returns false if there is no image. */
export async function enlargeImage(host: QemuHost, image: string, sizeGb: number): Promise<boolean> {
  const sizeBytes = await readImageBytes(host, image);
  if (sizeBytes === undefined) return false;
  if (sizeBytes < sizeGb * GIB)
    await runRbd(host, ['resize', '--no-progress', '--size', `${sizeGb}G`], image);
  return true;
}

export async function renameImage(host: QemuHost, from: string, to: string): Promise<void> {
  const { pool } = requireCeph(host);
  await runCeph(host, 'rbd', ['rename', `${pool}/${from}`, `${pool}/${to}`]);
}

/** Deletes the image with its snapshots. Succeeds if it does not exist. */
export async function removeImage(host: QemuHost, image: string): Promise<void> {
  for (const words of [['snap', 'purge'], ['rm']])
    await undefinedIfNotFound(runRbd(host, [...words, '--no-progress'], image));
}

/** Returns the names of all images of the pool that start with the prefix. */
export async function listImages(host: QemuHost, prefix: string): Promise<string[]> {
  const { pool } = requireCeph(host);
  const names = JSON.parse(await runCeph(host, 'rbd', ['ls', '--format', 'json', '--pool', pool]));
  return (names as readonly string[]).filter((name) => name.startsWith(prefix));
}

async function ignoreError(code: string, work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof CephRefusedError) || error.code !== code) throw error;
  });
}

/** The clients that have an image open. */
interface Watched {
  readonly watchers?: readonly { readonly address: string }[];
}

/** A fenced host must be restarted before it may connect again, which only the cluster's operator allows. */
const FENCE_S = 10 * 365 * 86_400;

/**
 * Fences the host that has the claim on the images, and every other host that has one of them open, and ends
 * the claim. Whole hosts are fenced, not only the QEMU that has an image open: another one could be about to
 * open it. From here on, all of their writes fail.
 */
export async function seizeImages(host: QemuHost, claimId: string, images: readonly string[]): Promise<void> {
  const claim = await readClaim(host, claimId);
  if (claim === 'never') return;
  if (claim !== 'none' && isOwnClaim(host, claim)) return;
  const open = await readWatchers(host, images);
  // A machine that was moved to the lost host may run there although its claim never followed.
  const others = claim === 'none' ? open.filter((address) => !isOwnAddress(address)) : open;
  const claimed = claim === 'none' ? [] : [ipAddress(claim.address)];
  for (const address of new Set([...claimed, ...others])) await fence(host, address);
  if (claim !== 'none') await breakClaim(host, claimId, claim);
}

/** Returns the addresses of the clients that have one of the images open. */
async function readWatchers(host: QemuHost, images: readonly string[]): Promise<string[]> {
  const addresses = [];
  for (const image of images) {
    const status = await undefinedIfNotFound(runRbd(host, ['status', '--format', 'json'], image));
    const { watchers = [] } = JSON.parse(status ?? '{}') as Watched;
    addresses.push(...watchers.map(({ address }) => ipAddress(address)));
  }
  return addresses;
}

function isOwnAddress(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return own.some((entry) => entry.address === address);
}

/** Also fences clients of that address that connect later. */
async function fence(host: QemuHost, address: string): Promise<void> {
  if (isOwnAddress(address)) {
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
