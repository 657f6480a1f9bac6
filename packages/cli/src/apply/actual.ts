/** The current account, as far as a file can describe it. */
import type {
  Alert,
  FirewallGroup,
  Image,
  ListedSshKey,
  Pages,
  Plan,
  Quote,
  Region,
  Server,
  Skerry,
  Snapshot,
  Volume,
} from '@skerry/sdk';
import { Failure } from '../exit-codes.ts';
import { type BackupsAndPrices, fetchBackups } from './backups.ts';
import type { Desired } from './desired.ts';
import { isImage } from './images.ts';
import {
  type PendingRebuild,
  PROJECT_LABEL,
  parsePending,
  resolvePendingDigest,
  withDigest,
} from './labels.ts';

export type ActualServer = Omit<Server, 'object' | 'paid_until' | 'action' | 'created_at' | 'updated_at'>;
export type ActualVolume = Omit<Volume, 'object' | 'device' | 'labels' | 'lost_at' | 'action' | 'created_at'>;
export type ActualGroup = Omit<FirewallGroup, 'object' | 'created_at'>;
export type ActualAlert = Omit<Alert, 'object' | 'firing' | 'created_at'>;
export type ActualSnapshot = Pick<Snapshot, 'id' | 'name' | 'region' | 'status'>;
type ActualKey = Pick<ListedSshKey, 'id' | 'name' | 'fingerprint'>;
export type ActualImage = Pick<
  Image,
  'id' | 'family' | 'version' | 'cloud_init' | 'released_at' | 'deprecated_at'
>;
type ActualPlan = Pick<Plan, 'id' | 'cycles' | 'available_in'>;

export interface Actual extends Partial<BackupsAndPrices> {
  readonly servers: readonly ActualServer[];
  readonly volumes: readonly ActualVolume[];
  readonly groups: readonly ActualGroup[];
  readonly keys: readonly ActualKey[];
  readonly alerts: readonly ActualAlert[];
  readonly images: readonly ActualImage[];
  /** Fetched if the file may name one as an image. */
  readonly snapshots: readonly ActualSnapshot[];
  readonly plans: readonly ActualPlan[];
  readonly regions: readonly Pick<Region, 'id'>[];
  /** By server ID: the price of the plan in the file. Absent: such a server is replaced. */
  readonly resizes?: ReadonlyMap<string, Quote>;
}

/** The account, and details that are not compared. */
export interface FetchedAccount extends Actual {
  /** By server ID: the digest of the user data on its disk, if the label does not show it yet. */
  readonly finalDigests: ReadonlyMap<string, string | null>;
  /** By server ID: a rebuild that is still running. */
  readonly pending: ReadonlyMap<string, PendingRebuild>;
}

/** Far above every quota; a plan made from an incomplete list would be wrong. */
const RESOURCES_MAX = 10_000;

export async function fetchActual(
  skerry: Skerry,
  desired: Desired,
  { signal, resize }: { readonly signal: AbortSignal; readonly resize: boolean },
): Promise<FetchedAccount> {
  const call = { signal };
  const ordersServers = (desired.servers ?? []).some(({ absent }) => !absent);
  const [allServers, volumes, allGroups, keys, images, plans, regions, alerts] = await Promise.all([
    fetchAll(skerry.servers.list({}, call)),
    // Also without volumes in the file: the plan tells which volumes a deleted server leaves behind.
    fetchAll(skerry.volumes.list({}, call)),
    // Also without groups in the file: a replacement server gets the firewall groups of its predecessor.
    ordersServers || desired.groups.length > 0 ? fetchAll(skerry.firewallGroups.list({}, call)) : [],
    ordersServers || desired.sshKeys.length > 0 ? fetchAll(skerry.sshKeys.list({}, call)) : [],
    ordersServers ? fetchAll(skerry.images.list({}, call)) : [],
    ordersServers ? fetchAll(skerry.plans.list({}, call)) : [],
    ordersServers || desired.volumes.length > 0 ? fetchAll(skerry.regions.list({}, call)) : [],
    desired.alerts.length > 0 ? fetchAll(skerry.alerts.list({}, call)) : [],
  ]);
  const namesSnapshot = (desired.servers ?? []).some((one) => !one.absent && !isImage(one.image, images));
  const snapshots = namesSnapshot ? await fetchAll(skerry.snapshots.list({}, call)) : [];
  // Treat a server that is being deleted as deleted.
  const listed = allServers.filter(({ status }) => status !== 'destroying');
  const gone = new Set(allServers.filter((one) => !listed.includes(one)).map(({ id }) => id));
  const groups = allGroups.map((group) => ({
    ...group,
    applied_to: group.applied_to.filter((id) => !gone.has(id)),
  }));
  const { servers, finalDigests, pending } = await resolvePending(skerry, listed);
  const catalog = { images, plans, regions, snapshots };
  const withBackups = await fetchBackups(skerry, desired, { servers, signal });
  const listedToo = { volumes, groups, keys, alerts, ...catalog, ...withBackups };
  const account = { servers, finalDigests, pending, ...listedToo };
  return resize ? { ...account, resizes: await quoteResizes(skerry, desired, { servers, signal }) } : account;
}

/** Quotes the servers of the project that have another plan than in the file, in the same region. */
async function quoteResizes(
  skerry: Skerry,
  { servers: wanted = [], project }: Desired,
  { servers, signal }: { readonly servers: readonly ActualServer[]; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, Quote>> {
  const quotes = new Map<string, Quote>();
  for (const server of wanted) {
    if (server.absent) continue;
    const { name, plan, region } = server;
    for (const found of servers) {
      const isSame = found.name === name && found.labels[PROJECT_LABEL] === project;
      if (!isSame || found.region !== region || found.plan === plan) continue;
      const params = { plan, restart: true };
      const asked = { operation: 'server.resize', resource: found.id, params } as const;
      quotes.set(found.id, await skerry.quotes.create(asked, { signal }));
    }
  }
  return quotes;
}

/** Until its outcome is known, a rebuild counts as successful: a server shows the digest of its new data. */
async function resolvePending(
  skerry: Skerry,
  listed: readonly Server[],
): Promise<Pick<FetchedAccount, 'servers' | 'finalDigests' | 'pending'>> {
  const servers: Server[] = [];
  const finalDigests = new Map<string, string | null>();
  const pending = new Map<string, PendingRebuild>();
  for (const server of listed) {
    const pendingRebuild = parsePending(server.labels);
    const digest = pendingRebuild && (await resolvePendingDigest(skerry, server, pendingRebuild));
    if (pendingRebuild && digest === undefined) pending.set(server.id, pendingRebuild);
    if (pendingRebuild && digest !== undefined) finalDigests.set(server.id, digest);
    const holds = digest === undefined ? pendingRebuild?.after : digest;
    servers.push(pendingRebuild ? { ...server, labels: withDigest(server.labels, holds ?? null) } : server);
  }
  return { servers, finalDigests, pending };
}

export async function fetchAll<T>(pages: Pages<T>): Promise<T[]> {
  const items = await pages.all(RESOURCES_MAX + 1);
  if (items.length <= RESOURCES_MAX) return items;
  throw new Failure(
    'refused',
    `the account has more than ${RESOURCES_MAX} resources of one kind, which is too many to compare`,
  );
}
