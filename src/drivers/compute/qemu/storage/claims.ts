/**
 * Which host has a shared volume or disk: a lock in the cluster, next to the image. QEMU opens an image only
 * on the host that has its claim. A claim has no expiry: it ends when the image is given up, or when it is
 * taken from a host that was fenced. RBD's own exclusive lock is no claim, because clients pass it to each
 * other.
 */
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { CephRefusedError, requireCeph, runCeph, undefinedIfNotFound } from './ceph.ts';

const LOCK = 'skerry';

export interface Claim {
  /** Name of the host. */
  readonly host: string;
  /** The client that placed it, and its address: IP address, port, and a number. */
  readonly client: string;
  readonly address: string;
}

const objectName = (volumeId: string) => `skerry-claim-${volumeId}`;

/** `none`: no host has the volume. `never`: it never had a claim, so it never had an image either. */
export async function readClaim(host: QemuHost, volumeId: string): Promise<Claim | 'none' | 'never'> {
  const words = ['lock', 'info', objectName(volumeId), LOCK, '--format', 'json'];
  const text = await undefinedIfNotFound(runRados(host, words));
  if (text === undefined) return 'never';
  const { lockers } = JSON.parse(text) as {
    readonly lockers: readonly { readonly name: string; readonly cookie: string; readonly addr: string }[];
  };
  const [locker] = lockers;
  return locker ? { host: locker.cookie, client: locker.name, address: locker.addr } : 'none';
}

/** Whether the claim is one of this host, under any of its names. */
export function isOwnClaim({ options }: QemuHost, claim: Claim): boolean {
  return options.hosts.includes(claim.host);
}

/** Throws `transient` if another host has the volume. */
export async function requireUnclaimed(host: QemuHost, volumeId: string): Promise<void> {
  const claim = await readClaim(host, volumeId);
  if (typeof claim === 'object' && !isOwnClaim(host, claim)) throw claimedElsewhere(claim);
}

export async function requireOwnClaim(host: QemuHost, volumeId: string): Promise<void> {
  const claim = await readClaim(host, volumeId);
  if (typeof claim !== 'object')
    throw new ComputeError('transient', 'this host has no claim on the shared image');
  if (!isOwnClaim(host, claim)) throw claimedElsewhere(claim);
}

/** Claims the volume for this host. Throws `transient` while another host has it. */
export async function claimVolume(host: QemuHost, volumeId: string): Promise<void> {
  const claim = await readClaim(host, volumeId);
  if (typeof claim === 'object' && isOwnClaim(host, claim)) return;
  const words = ['lock', 'get', objectName(volumeId), LOCK, '--lock-type', 'exclusive'];
  try {
    await runRados(host, [...words, '--lock-cookie', host.options.hosts[0] ?? 'unnamed']);
  } catch (error) {
    if (!(error instanceof CephRefusedError)) throw error;
    // Another call was faster: of this host, or of another one.
    await requireUnclaimed(host, volumeId);
    throw error;
  }
}

/** Gives up a claim of this host, if it has one. */
export async function releaseClaim(host: QemuHost, volumeId: string): Promise<void> {
  const claim = await readClaim(host, volumeId);
  if (typeof claim === 'object' && isOwnClaim(host, claim)) await breakClaim(host, volumeId, claim);
}

/** Returns the claims, by their ids, of the host from which a machine comes. */
export async function readClaimsToTake(
  host: QemuHost,
  claimIds: readonly string[],
): Promise<Record<string, Claim>> {
  const claims: Record<string, Claim> = {};
  for (const id of claimIds) {
    if (!host.options.ceph)
      throw new ComputeError(
        'host',
        'no machine with a shared disk or volume can be moved to this host: it has no access',
      );
    const claim = await readClaim(host, id);
    if (typeof claim !== 'object' || isOwnClaim(host, claim))
      throw new ComputeError('transient', 'the shared image is not in use on the other host');
    claims[id] = claim;
  }
  return claims;
}

/** Claims the volume for this host in place of the host whose claim this is, and of no other one. */
export async function takeClaim(host: QemuHost, volumeId: string, from: Claim): Promise<void> {
  const claim = await readClaim(host, volumeId);
  const isThis = typeof claim === 'object' && claim.client === from.client && claim.host === from.host;
  if (isThis) await breakClaim(host, volumeId, claim);
  await claimVolume(host, volumeId);
}

/** Ends exactly this claim. A claim that has ended meanwhile is no error. */
export async function breakClaim(host: QemuHost, volumeId: string, claim: Claim): Promise<void> {
  const words = ['lock', 'break', objectName(volumeId), LOCK, claim.client, '--lock-cookie', claim.host];
  await undefinedIfNotFound(runRados(host, words));
}

/** Forgets that the volume ever existed. Its image is deleted. */
export async function deleteClaim(host: QemuHost, volumeId: string): Promise<void> {
  await undefinedIfNotFound(runRados(host, ['rm', objectName(volumeId)]));
}

function claimedElsewhere(claim: Claim): ComputeError {
  return new ComputeError('transient', `the shared image is still in use on host ${claim.host}`);
}

async function runRados(host: QemuHost, args: readonly string[]): Promise<string> {
  return await runCeph(host, 'rados', ['-p', requireCeph(host).pool, ...args]);
}
