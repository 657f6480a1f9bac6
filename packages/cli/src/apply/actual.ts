/** What is there: all of the account that a file may speak of. */
import type {
  FirewallGroup,
  Image,
  ListedSshKey,
  Pages,
  Plan,
  Region,
  Server,
  Skerry,
  Volume,
} from '@skerry/sdk';
import { Failure } from '../exit-codes.ts';
import { type Pending, pendingOf, settledDigest, withDigest } from './act/labels.ts';
import type { Desired } from './desired.ts';

export type ActualServer = Pick<
  Server,
  | 'id'
  | 'name'
  | 'status'
  | 'suspended_reason'
  | 'plan'
  | 'region'
  | 'image'
  | 'ipv4'
  | 'ipv6'
  | 'ssh_keys'
  | 'tags'
  | 'labels'
  | 'billing_months'
  | 'auto_renew'
  | 'price_usd_cycle'
>;
export type ActualVolume = Pick<
  Volume,
  'id' | 'name' | 'size_gb' | 'region' | 'attached_to' | 'encrypted' | 'filesystem'
>;
export type ActualGroup = Pick<FirewallGroup, 'id' | 'name' | 'applied_to' | 'rules' | 'default_action'>;
export type ActualKey = Pick<ListedSshKey, 'id' | 'name' | 'fingerprint'>;
export type ActualImage = Pick<
  Image,
  'id' | 'family' | 'version' | 'cloud_init' | 'released_at' | 'deprecated_at'
>;
export type ActualPlan = Pick<Plan, 'id' | 'cycles' | 'available_in'>;

export interface Actual {
  readonly servers: readonly ActualServer[];
  readonly volumes: readonly ActualVolume[];
  readonly groups: readonly ActualGroup[];
  readonly keys: readonly ActualKey[];
  readonly images: readonly ActualImage[];
  readonly plans: readonly ActualPlan[];
  readonly regions: readonly Pick<Region, 'id'>[];
}

/** Also what is not compared. */
export interface Fetched extends Actual {
  /** By server id: the digest of the user data that its disk has by now, where the label does not say so yet. */
  readonly settled: ReadonlyMap<string, string | null>;
  /** By server id: what is being installed on it, and what was before. */
  readonly pending: ReadonlyMap<string, Pending>;
}

/** Far above every quota; a plan made from half a list would be wrong. */
const THINGS_MAX = 10_000;

export async function fetchActual(skerry: Skerry, desired: Desired, signal: AbortSignal): Promise<Fetched> {
  const call = { signal };
  const orders = (desired.servers ?? []).some(({ absent }) => !absent);
  const [allServers, volumes, allGroups, keys, images, plans, regions] = await Promise.all([
    whole(skerry.servers.list({}, call)),
    // Also where the file has none: a server that goes leaves its volumes behind, which is said.
    whole(skerry.volumes.list({}, call)),
    // Also where the file has none: a server that comes in the place of another one is behind its filters.
    orders || desired.groups.length > 0 ? whole(skerry.firewallGroups.list({}, call)) : [],
    orders || desired.sshKeys.length > 0 ? whole(skerry.sshKeys.list({}, call)) : [],
    orders ? whole(skerry.images.list({}, call)) : [],
    orders ? whole(skerry.plans.list({}, call)) : [],
    orders || desired.volumes.length > 0 ? whole(skerry.regions.list({}, call)) : [],
  ]);
  // One that is on its way out is not there any more.
  const listed = allServers.filter(({ status }) => status !== 'destroying');
  const gone = new Set(allServers.filter((one) => !listed.includes(one)).map(({ id }) => id));
  const groups = allGroups.map((group) => ({
    ...group,
    applied_to: group.applied_to.filter((id) => !gone.has(id)),
  }));
  const { servers, settled, pending } = await readPending(skerry, listed);
  return { servers, settled, pending, volumes, groups, keys, images, plans, regions };
}

/** Whose rebuild was begun has the label of what it becomes, until it is known that it does not. */
async function readPending(
  skerry: Skerry,
  listed: readonly Server[],
): Promise<Pick<Fetched, 'servers' | 'settled' | 'pending'>> {
  const servers: Server[] = [];
  const settled = new Map<string, string | null>();
  const pending = new Map<string, Pending>();
  for (const server of listed) {
    const mark = pendingOf(server.labels);
    const digest = mark && (await settledDigest(skerry, server, mark));
    if (mark && digest === undefined) pending.set(server.id, mark);
    if (mark && digest !== undefined) settled.set(server.id, digest);
    const holds = digest === undefined ? mark?.after : digest;
    servers.push(mark ? { ...server, labels: withDigest(server.labels, holds ?? null) } : server);
  }
  return { servers, settled, pending };
}

async function whole<T>(pages: Pages<T>): Promise<T[]> {
  const items = await pages.all(THINGS_MAX + 1);
  if (items.length <= THINGS_MAX) return items;
  throw new Failure(
    'refused',
    `the account has more than ${THINGS_MAX} things of one kind: too many to compare`,
  );
}
