/**
 * Compares volumes by name, because they have no labels. They grow and move; only `absent: true` deletes one.
 */
import type { Actual, ActualServer, ActualVolume } from '../actual.ts';
import { type Desired, isWanted, type Placed, type WantedVolume } from '../desired.ts';
import type { Fault } from '../faults.ts';
import { PROJECT_LABEL } from '../labels.ts';
import { isDetached } from './install.ts';
import { type Action, type Comparison, changeOf, type PlanItem } from './plan.ts';
import { protectionChanges } from './protection.ts';
import { describeSuspended } from './server.ts';

/** The servers after the run, as far as volumes and firewall groups depend on them. */
export interface PlannedServers {
  /** By name: existing servers that stay. */
  readonly staying: ReadonlyMap<string, ActualServer>;
  /** IDs of servers that are deleted at the end. */
  readonly leaving: ReadonlySet<string>;
}

export function compareVolumes(desired: Desired, actual: Actual, servers: PlannedServers): Comparison {
  const items: PlanItem[] = [];
  const faults: Fault[] = [];
  const notes: string[] = [];
  const ids = new Map<string, string>();
  for (const wanted of desired.volumes) {
    const { place, name } = wanted;
    const namesakes = actual.volumes.filter((volume) => volume.name === name);
    const [found] = namesakes;
    const conflict = (message: string) => faults.push({ place, message, exit: 'conflict' });
    if (namesakes.length > 1) {
      const same = namesakes.map(({ id }) => id).join(', ');
      conflict(`more than one volume is named "${name}" (${same}); rename all but one`);
      continue;
    }
    if (found) ids.set(name, found.id);
    const holder = found && actual.servers.find(({ id }) => id === found.attached_to);
    const isOurs = !holder || holder.labels[PROJECT_LABEL] === desired.project;
    if (!isWanted(wanted)) {
      if (found && !isOurs)
        conflict(`is attached to ${holder.name}, which is outside of the project; detach it first`);
      else if (found) items.push(destroyItem(found, holder));
    } else if (found) {
      const moves = wanted.server !== undefined && holder?.name !== wanted.server;
      if (!isOurs && moves) {
        conflict(`is attached to ${holder.name}, which is outside of the project; detach it first`);
      }
      for (const message of findImpossibleChanges(wanted, found)) conflict(message);
      const item = changeItem(wanted, found, holder, servers);
      if (item) items.push(item);
      for (const message of findSuspendedConflicts(wanted, item, servers)) conflict(message);
      notes.push(...filesystemNotes(wanted, found));
    } else if (actual.regions.some(({ id }) => id === wanted.region)) {
      const item = createItem(wanted, servers);
      items.push(item);
      for (const message of findSuspendedConflicts(wanted, item, servers)) conflict(message);
    } else {
      const message = `region "${wanted.region}" not found; see \`skerry region list\``;
      faults.push({ place: `${place}.region`, message, exit: 'usage' });
    }
  }
  return { items, faults, notes, ids };
}

function findImpossibleChanges(wanted: Placed<WantedVolume>, found: ActualVolume): string[] {
  return [
    ...(wanted.region === found.region ? [] : [`is in ${found.region} and cannot move to ${wanted.region}`]),
    ...(wanted.sizeGb >= found.size_gb
      ? []
      : [`has ${found.size_gb} GiB and cannot shrink (size_gb: ${wanted.sizeGb})`]),
    ...(wanted.encrypted === undefined || wanted.encrypted === found.encrypted
      ? []
      : [`is ${found.encrypted ? '' : 'not '}encrypted, which cannot be changed`]),
  ];
}

/** A suspended server cannot attach a volume. */
function findSuspendedConflicts(
  { server }: WantedVolume,
  item: PlanItem | undefined,
  { staying }: PlannedServers,
): string[] {
  const attaches = item?.actions.some((act) => act.do === 'attach_volume');
  return attaches && server && staying.get(server)?.status === 'suspended'
    ? [`cannot be attached: ${describeSuspended(server)}`]
    : [];
}

function filesystemNotes({ name, filesystem }: WantedVolume, found: ActualVolume): string[] {
  return filesystem === undefined || filesystem === found.filesystem
    ? []
    : [`volume ${name} has filesystem: ${found.filesystem ?? 'none'}, which cannot be changed`];
}

function createItem(volume: WantedVolume, servers: PlannedServers): PlanItem {
  const { name, sizeGb, region, server, encrypted } = volume;
  const attached = server ? `, attached to ${server}` : '';
  return changeOf('volume', name, {
    changeType: 'create',
    reasons: [`${sizeGb} GiB in ${region}${encrypted ? ', encrypted' : ''}${attached}`],
    actions: [{ do: 'create_volume', volume }, ...(server ? attachActions(volume, server, servers) : [])],
  });
}

function changeItem(
  wanted: WantedVolume,
  found: ActualVolume,
  holder: ActualServer | undefined,
  servers: PlannedServers,
): PlanItem | undefined {
  const { name, sizeGb, protection, server } = wanted;
  const actions: Action[] = [];
  const reasons: string[] = [];
  if (sizeGb > found.size_gb) {
    actions.push({ do: 'update_volume', volume: name, patch: { size_gb: sizeGb } });
    reasons.push(`size_gb: ${found.size_gb} → ${sizeGb}`);
  }
  const protects = protectionChanges(protection, found.protection);
  if (protects.length > 0) {
    actions.push({ do: 'update_volume', volume: name, patch: { protection: { ...protection } } });
    reasons.push(...protects);
  }
  // A replacement has the same name but a different ID.
  const there = server ? servers.staying.get(server)?.id : undefined;
  const isThere = server ? there !== undefined && there === found.attached_to : found.attached_to === null;
  if (server !== undefined && !isThere) {
    const stops = holder?.status === 'running' && servers.leaving.has(holder.id);
    if (stops) actions.push({ do: 'stop_server', id: holder.id });
    if (found.attached_to !== null) actions.push({ do: 'detach_volume', volume: name });
    if (server !== null) actions.push(...attachActions(wanted, server, servers, found));
    const from = holder?.name ?? (found.attached_to === null ? 'none' : 'another server');
    reasons.push(
      from === server
        ? `server: moves to the ${there ? 'other' : 'new'} ${server}`
        : `server: ${from} → ${server ?? 'none'}`,
    );
    if (stops) {
      const which = from === server ? `the old ${from}` : from;
      reasons.push(`${which} is stopped first, so that all its writes reach the volume`);
    } else if (holder?.status === 'running') {
      reasons.push(`${from} is running: unmount the volume first, it is detached while in use`);
    }
  }
  if (reasons.length === 0) return undefined;
  return changeOf('volume', name, { id: found.id, reasons, actions });
}

/**
 * A server that is being installed cannot attach a volume; one created or rebuilt now has its own wait. The
 * order of a new server attaches what is not attached elsewhere.
 */
function attachActions(
  { name }: WantedVolume,
  server: string,
  { staying }: PlannedServers,
  found?: ActualVolume,
): Action[] {
  if (!staying.has(server) && isDetached(found)) return [];
  const status = staying.get(server)?.status;
  const waits = status === 'provisioning' || status === 'installing';
  return [
    ...(waits ? [{ do: 'wait_server', server } as const] : []),
    { do: 'attach_volume', volume: name, server },
  ];
}

function destroyItem(volume: ActualVolume, holder: ActualServer | undefined): PlanItem {
  const { id, name, size_gb, region } = volume;
  const whose = holder
    ? `detached from ${holder.name} first`
    : 'not attached: volumes have no project, so check that it belongs to this one';
  return changeOf('volume', name, {
    changeType: 'destroy',
    id,
    reasons: ['marked as absent', `${size_gb} GiB in ${region}, ${whose}`],
    destroys: `volume ${name}`,
    actions: [{ do: 'delete_volume', id }],
  });
}
