/** Volumes have no labels: the account has one of a name. They grow and move; only `absent: true` destroys one. */
import type { Actual, ActualServer, ActualVolume } from '../actual.ts';
import { type Desired, isWanted, type Placed, type WantedVolume } from '../desired.ts';
import type { Fault } from '../faults.ts';
import { PROJECT_LABEL } from '../file/fields.ts';
import type { Action, Comparison, PlanItem } from './plan.ts';
import { describeSuspended } from './server.ts';

/** What becomes of servers, as far as volumes and firewall groups have to know. */
export interface PlannedServers {
  /** By name: the server that is there now and stays. */
  readonly staying: ReadonlyMap<string, ActualServer>;
  /** Ids of those that are destroyed at the end. */
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
      conflict(`there is more than one volume "${name}": rename one of them`);
      continue;
    }
    if (found) ids.set(name, found.id);
    const holder = found && actual.servers.find(({ id }) => id === found.attached_to);
    const isOurs = !holder || holder.labels[PROJECT_LABEL] === desired.project;
    if (!isWanted(wanted)) {
      if (found && !isOurs)
        conflict(`is attached to ${holder.name}, which is outside of the project: detach it first`);
      else if (found) items.push(destroyItem(found, holder));
    } else if (found) {
      const moves = wanted.server !== undefined && holder?.name !== wanted.server;
      if (!isOurs && moves) {
        conflict(`is attached to ${holder.name}, which is outside of the project: detach it first`);
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
      const message = `there is no region "${wanted.region}": see \`skerry region list\``;
      faults.push({ place: `${place}.region`, message, exit: 'usage' });
    }
  }
  return { items, faults, notes, ids };
}

function findImpossibleChanges(wanted: Placed<WantedVolume>, found: ActualVolume): string[] {
  return [
    ...(wanted.region === found.region ? [] : [`is in ${found.region}: it cannot go to ${wanted.region}`]),
    ...(wanted.sizeGb >= found.size_gb
      ? []
      : [`has ${found.size_gb} GiB: it cannot be made smaller (size_gb: ${wanted.sizeGb})`]),
    ...(wanted.encrypted === undefined || wanted.encrypted === found.encrypted
      ? []
      : [`is ${found.encrypted ? '' : 'not '}encrypted: that is fixed when it is made`]),
  ];
}

/** What is suspended takes no volume. */
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
    : [
        `volume ${name} is noted down as ${found.filesystem ?? 'without a filesystem'}: that cannot be changed`,
      ];
}

function createItem(volume: WantedVolume, servers: PlannedServers): PlanItem {
  const { name, sizeGb, region, server } = volume;
  return {
    changeType: 'create',
    kind: 'volume',
    name,
    id: null,
    reasons: [
      `${sizeGb} GiB in ${region}${volume.encrypted ? ', encrypted' : ''}${server ? `, attached to ${server}` : ''}`,
    ],
    destroys: null,
    actions: [{ do: 'create_volume', volume }, ...(server ? attachActions(name, server, servers) : [])],
  };
}

function changeItem(
  { name, sizeGb, server }: WantedVolume,
  found: ActualVolume,
  holder: ActualServer | undefined,
  servers: PlannedServers,
): PlanItem | undefined {
  const actions: Action[] = [];
  const reasons: string[] = [];
  if (sizeGb > found.size_gb) {
    actions.push({ do: 'grow_volume', volume: name, sizeGb });
    reasons.push(`size_gb: ${found.size_gb} → ${sizeGb}`);
  }
  // The one that has the name is another one when it is replaced.
  const there = server ? servers.staying.get(server)?.id : undefined;
  const isThere = server ? there !== undefined && there === found.attached_to : found.attached_to === null;
  if (server !== undefined && !isThere) {
    const stops = holder?.status === 'running' && servers.leaving.has(holder.id);
    if (stops) actions.push({ do: 'stop_server', id: holder.id });
    if (found.attached_to !== null) actions.push({ do: 'detach_volume', volume: name });
    if (server !== null) actions.push(...attachActions(name, server, servers));
    const from = holder?.name ?? (found.attached_to === null ? 'none' : 'another server');
    reasons.push(
      from === server
        ? `server: comes along to the ${there ? 'other' : 'new'} ${server}`
        : `server: ${from} → ${server ?? 'none'}`,
    );
    if (stops) {
      const which = from === server ? `the ${from} that goes` : from;
      reasons.push(`${which} is stopped before, so that all it has written is on the volume`);
    } else if (holder?.status === 'running') {
      reasons.push(`${from} runs: unmount it there first, it is detached while in use`);
    }
  }
  if (actions.length === 0) return undefined;
  return { changeType: 'change', kind: 'volume', name, id: found.id, reasons, destroys: null, actions };
}

/** One that is still being installed takes no volume yet; of one that is made or rebuilt now its own item waits. */
function attachActions(volume: string, server: string, { staying }: PlannedServers): Action[] {
  const status = staying.get(server)?.status;
  const waits = status === 'provisioning' || status === 'installing';
  return [
    ...(waits ? [{ do: 'wait_server', server } as const] : []),
    { do: 'attach_volume', volume, server },
  ];
}

function destroyItem(volume: ActualVolume, holder: ActualServer | undefined): PlanItem {
  const { id, name, attached_to, size_gb, region } = volume;
  const whose = holder
    ? `detached from ${holder.name} before`
    : 'attached to nothing: a volume is of no project, so whether it is of this one cannot be told';
  return {
    changeType: 'destroy',
    kind: 'volume',
    name,
    id,
    reasons: ['it is to be absent', `${size_gb} GiB in ${region}, ${whose}`],
    destroys: `volume ${name}`,
    actions: [{ do: 'delete_volume', id, attached: attached_to !== null }],
  };
}
