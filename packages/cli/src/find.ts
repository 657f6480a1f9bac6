/** Finds a resource by its ID, or by its name if only one resource has it. */
import {
  type Alert,
  type ErrorCode,
  type FirewallGroup,
  type Image,
  isApiError,
  type ListedSshKey,
  type Pages,
  type Server,
  type Skerry,
  type Snapshot,
  type Volume,
} from '@skerry/sdk';
import { Failure } from './exit-codes.ts';

interface Named {
  readonly id: string;
}
interface Lookup<T> {
  get(id: string): Promise<T>;
  list(query: { readonly filter: { readonly name: string } }): Pages<T>;
}

/** Bounds the list of IDs in an error message. */
const MATCHES_MAX = 10;
const IMAGE_ID = /^(img|custom)_/;

export const findServer = finderOf<Server>('server', 'srv_', ({ servers }) => servers);
export const findVolume = finderOf<Volume>('volume', 'vol_', ({ volumes }) => volumes);
export const findSnapshot = finderOf<Snapshot>('snapshot', 'snap_', ({ snapshots }) => snapshots);
export const findAlert = finderOf<Alert>('alert', 'alr_', ({ alerts }) => alerts);
export const findFirewallGroup = finderOf<FirewallGroup>(
  'firewall group',
  'fwg_',
  ({ firewallGroups }) => firewallGroups,
);
/** Treats keys with the same name and the same fingerprint as one key. */
export const findSshKey = finderOf<ListedSshKey>(
  'SSH key',
  'k_',
  ({ sshKeys }) => sshKeys,
  ({ fingerprint }) => fingerprint,
);

/** The operations that the finders call. */
export const FIND_SERVER = ['servers.get', 'servers.list'] as const;
export const FIND_VOLUME = ['volumes.get', 'volumes.list'] as const;
export const FIND_SNAPSHOT = ['snapshots.get', 'snapshots.list'] as const;
export const FIND_ALERT = ['alerts.get', 'alerts.list'] as const;
export const FIND_FIREWALL_GROUP = ['firewall_groups.get', 'firewall_groups.list'] as const;
export const FIND_SSH_KEY = ['ssh_keys.get', 'ssh_keys.list'] as const;
export const FIND_IMAGE = ['images.get', 'images.list'] as const;

/** The name of an image on the command line: `debian-13`, or the name that its owner chose. */
export function imageName({ id, type, name, family, version, variant }: Image): string {
  if (type === 'custom') return name ?? id;
  return [family, version, variant].filter(Boolean).join('-');
}

/**
 * Finds an image by its ID, by its name, or by its family alone: then the newest version on offer.
 * Fetches the whole list: it is short, and a dash may be part of a family or of a version.
 */
export async function findImage(skerry: Skerry, text: string): Promise<Image> {
  if (IMAGE_ID.test(text)) return await skerry.images.get(text);
  const images = await skerry.images.list().all();
  const wanted = text.toLowerCase();
  const named = images.filter((image) => imageName(image).toLowerCase() === wanted);
  const own = named.filter(({ type }) => type === 'custom');
  if (own.length > 0) return requireSingle(own, 'image', text);
  const ofFamily = images.filter(
    ({ type, family, deprecated_at }) => type === 'official' && family === wanted && !deprecated_at,
  );
  const newestFirst = ofFamily.sort((one, other) => other.released_at.localeCompare(one.released_at));
  const [found] = [...named, ...newestFirst];
  if (found) return found;
  throw new Failure('not_found', `image "${text}" not found; see \`skerry image list\``);
}

/** Resources with the same identity are interchangeable. */
function finderOf<T extends Named>(
  noun: string,
  prefix: string,
  resource: (skerry: Skerry) => Lookup<T>,
  identity: (thing: T) => string = ({ id }) => id,
): (skerry: Skerry, text: string) => Promise<T> {
  return async (skerry, text) => {
    // A name may look like an ID.
    const byId = text.startsWith(prefix) ? await nullIf('not_found', resource(skerry).get(text)) : null;
    if (byId) return byId;
    const found = await resource(skerry)
      .list({ filter: { name: text } })
      .all(MATCHES_MAX);
    const different = new Map(found.map((thing) => [identity(thing), thing]));
    return requireSingle([...different.values()], noun, text);
  };
}

/** Returns the only match, or fails with `not_found`. */
export function requireSingle<T extends Named>(found: readonly T[], noun: string, text: string): T {
  const [one] = found;
  if (one === undefined) throw new Failure('not_found', `${noun} "${text}" not found`);
  if (found.length === 1) return one;
  const ids = found.map(({ id }) => id).join(', ');
  throw new Failure('not_found', `more than one ${noun} is named "${text}"; use an ID: ${ids}`);
}

/** Returns an ID as is, so that deleted servers can be named too; looks up a name. */
export async function resolveServerId(skerry: Skerry, text: string): Promise<string> {
  return text.startsWith('srv_') ? text : (await findServer(skerry, text)).id;
}

/** Returns an ID as is, so that deleted images can be named too; looks up a name. */
export async function resolveImageId(skerry: Skerry, text: string): Promise<string> {
  return IMAGE_ID.test(text) ? text : (await findImage(skerry, text)).id;
}

/** Waits for a call to the service; null if it fails with this code. */
export async function nullIf<T>(code: ErrorCode, call: Promise<T>): Promise<T | null> {
  return await call.catch((error: unknown) => {
    if (isApiError(error, code)) return null;
    throw error;
  });
}
