/** Compares an existing server with the file: unchanged, changed in place, or rebuilt. */
import type { UpdateServer } from '@skerry/sdk';
import type { Actual, ActualServer } from '../actual.ts';
import type { Desired, Placed, WantedServer } from '../desired.ts';
import type { Fault } from '../faults.ts';
import { labelsAfterInstall, managedLabels } from '../labels.ts';
import { changeBackups } from './backups.ts';
import { compareInstall } from './install.ts';
import { type Action, type Comparison, changeOf, type Labels, type Rdns } from './plan.ts';
import { protectionChanges } from './protection.ts';

export interface CompareContext {
  readonly desired: Desired;
  readonly actual: Actual;
  /** Servers of the project. */
  readonly own: readonly ActualServer[];
  /** IDs of existing SSH keys, by their names in the file. */
  readonly keys: ReadonlyMap<string, string>;
}
export type ServerComparison = Omit<Comparison, 'ids'>;

export function changeServer(
  wanted: Placed<WantedServer>,
  found: ActualServer,
  context: CompareContext,
  resizes = false,
): ServerComparison {
  const { name } = wanted;
  const install = compareInstall(wanted, found, context.actual);
  const { image } = install;
  const rdns = diffRdns(wanted, found);
  const { patch, reasons } = createPatch(wanted, found, context.desired.project);
  const backups = changeBackups(wanted, found.id, context.actual.backups?.get(found.id), resizes);
  const changes = [...install.reasons, ...reasons, ...backups.reasons, ...rdnsReasons(rdns, found)];
  const noted = [...install.notes, ...backups.notes];
  const notes = [...collectNotes(wanted, found, context.keys, image === undefined), ...noted];
  const isBusy = found.status === 'provisioning' || found.status === 'installing';
  const wait: Action = { do: 'wait_server', server: name };
  if (changes.length === 0) {
    const item = changeOf('server', name, {
      changeType: 'wait',
      id: found.id,
      reasons: [],
      actions: [wait],
    });
    return { items: isBusy ? [item] : [], faults: install.faults, notes };
  }
  const faults = [...install.faults, ...suspendedFaults(wanted, found, image !== undefined)];
  const labelsBefore = patch.labels ?? found.labels;
  const labels = labelsAfterInstall(wanted, labelsBefore);
  const settle: Action[] = isBusy ? [{ do: 'settle_server', server: name }] : [];
  const rebuild: Action[] =
    image === undefined
      ? []
      : [...settle, { do: 'rebuild_server', id: found.id, server: wanted, image, labels, labelsBefore }];
  const waits = isBusy || rebuild.length > 0 || (hasRdns(rdns) && found.ipv4 === null);
  const item = changeOf('server', name, {
    changeType: image === undefined ? 'change' : 'rebuild',
    id: found.id,
    reasons: changes,
    destroys: image === undefined ? null : `the disk of server ${name}`,
    actions: [
      ...(reasons.length > 0 ? [{ do: 'update_server', id: found.id, patch } as const] : []),
      ...backups.actions,
      ...rebuild,
      ...(waits ? [wait] : []),
      ...rdnsActions(name, rdns),
    ],
  });
  return { items: [item], faults, notes };
}

function createPatch(
  wanted: WantedServer,
  found: ActualServer,
  project: string,
): { readonly patch: UpdateServer; readonly reasons: readonly string[] } {
  const { tags, autoRenew, protection } = wanted;
  const labels = wanted.labels && { ...wanted.labels, ...managedLabels(found.labels, project) };
  const byLabel = labels ? labelChanges(found.labels, labels) : [];
  const byTag = tags ? tagChanges(found.tags, tags) : [];
  const changesRenewal = autoRenew !== undefined && autoRenew !== found.auto_renew;
  const byProtection = protectionChanges(protection, found.protection);
  const patch: UpdateServer = {
    ...(labels && byLabel.length > 0 ? { labels } : {}),
    ...(tags && byTag.length > 0 ? { tags: [...tags] } : {}),
    ...(changesRenewal ? { auto_renew: autoRenew } : {}),
    ...(byProtection.length > 0 ? { protection: { ...protection } } : {}),
  };
  const byRenew = changesRenewal ? [`auto_renew: ${found.auto_renew} → ${autoRenew}`] : [];
  return { patch, reasons: [...byTag, ...byLabel, ...byRenew, ...byProtection] };
}

/** Returns only differences. A server that does not exist yet has no reverse DNS. */
export function diffRdns({ rdns }: WantedServer, found: ActualServer | null): Rdns {
  const differs = (one: 'ipv4' | 'ipv6') =>
    rdns[one] !== undefined && rdns[one] !== (found?.[one]?.rdns ?? null);
  return {
    ...(differs('ipv4') ? { ipv4: rdns.ipv4 ?? null } : {}),
    ...(differs('ipv6') ? { ipv6: rdns.ipv6 ?? null } : {}),
  };
}

export function rdnsActions(server: string, rdns: Rdns): Action[] {
  return hasRdns(rdns) ? [{ do: 'set_rdns', server, rdns }] : [];
}

function hasRdns(rdns: Rdns): boolean {
  return Object.keys(rdns).length > 0;
}

function rdnsReasons(rdns: Rdns, found: ActualServer): string[] {
  const text = (host: string | null | undefined) => host ?? 'none';
  return (['ipv4', 'ipv6'] as const)
    .filter((one) => rdns[one] !== undefined)
    .map((one) => `rdns ${one}: ${text(found[one]?.rdns)} → ${text(rdns[one])}`);
}

function collectNotes(
  wanted: WantedServer,
  found: ActualServer,
  keys: ReadonlyMap<string, string>,
  keepsDisk: boolean,
): string[] {
  const { name, billingMonths } = wanted;
  const ids = wanted.sshKeys.map((key) => keys.get(key) ?? key);
  const sameKeys =
    ids.every((id) => found.ssh_keys.includes(id)) && found.ssh_keys.every((id) => ids.includes(id));
  const paid = found.billing_months;
  const notes: string[] = [];
  if (keepsDisk && !sameKeys) {
    notes.push(`server ${name} was installed with other SSH keys; they change only with a rebuild`);
  }
  if (billingMonths !== undefined && billingMonths !== paid) {
    notes.push(
      `server ${name} has a billing cycle of ${paid} months, which cannot be changed to ${billingMonths}`,
    );
  }
  if (found.status === 'suspended') notes.push(describeSuspended(name));
  return notes;
}

/** Changes that the service would refuse halfway through the run. */
export function suspendedFaults(
  { name, place }: Placed<WantedServer>,
  { status, suspended_reason }: ActualServer,
  rebuilds: boolean,
): Fault[] {
  if (status !== 'suspended' || !(rebuilds || suspended_reason === 'operator')) return [];
  const refusal = rebuilds ? 'cannot be rebuilt' : 'cannot be changed';
  return [{ place, message: `${refusal}: ${describeSuspended(name)}`, exit: 'conflict' }];
}

export function describeSuspended(name: string): string {
  return `server ${name} is suspended; see \`skerry server describe ${name}\``;
}

/** Deletes a server. Stops it first if it has volumes, so that its last writes are not lost. */
export function destroyActions(server: ActualServer, context: CompareContext): Action[] {
  const stops = server.status === 'running' && describeDetachedVolumes(server, context).length > 0;
  return [
    ...(stops ? [{ do: 'stop_server', id: server.id } as const] : []),
    { do: 'destroy_server', id: server.id },
  ];
}

/** Describes attached volumes that the file says nothing about. */
export function describeDetachedVolumes(
  { id, name, status }: ActualServer,
  { actual, desired }: CompareContext,
): string[] {
  const namedInFile = new Set(
    desired.volumes.filter((one) => one.absent || one.server !== undefined).map((one) => one.name),
  );
  return actual.volumes
    .filter((volume) => volume.attached_to === id && !namedInFile.has(volume.name))
    .map((volume) => {
      const first = status === 'running' ? 'the server is stopped, then the volume' : 'it';
      return `volume ${volume.name} is attached to ${name}: ${first} is detached and kept`;
    });
}

/** A list in the file is complete, except for our own labels. */
function labelChanges(found: Labels, wanted: Labels): string[] {
  const keys = [...new Set([...Object.keys(found), ...Object.keys(wanted)])].sort();
  return keys
    .filter((key) => found[key] !== wanted[key])
    .map((key) => `label ${key}: ${formatValue(found[key])} → ${formatValue(wanted[key])}`);
}

function tagChanges(found: readonly string[], wanted: readonly string[]): string[] {
  const same = found.length === wanted.length && wanted.every((tag) => found.includes(tag));
  const list = (tags: readonly string[]) => tags.join(', ') || 'none';
  return same ? [] : [`tags: ${list(found)} → ${list(wanted)}`];
}

function formatValue(value: string | undefined): string {
  return value === undefined ? 'none' : value || "''";
}
