/** The servers of a project, found by its label and their names; no other is ever touched. */
import type { ActualServer } from '../actual.ts';
import type { DesiredServer, Placed, WantedServer } from '../desired.ts';
import type { Fault } from '../faults.ts';
import { PROJECT_LABEL } from '../file/fields.ts';
import type { Heirs } from './groups.ts';
import { orderOf } from './install.ts';
import type { Compared, Item } from './plan.ts';
import { compareServer, isMarked, markOf, predecessorOf } from './replace.ts';
import { destroyActs, type Ground, leftVolumes, rdnsActs, wantedRdns } from './server.ts';

export function compareServers(given: Omit<Ground, 'own'>): Compared & { readonly heirs: Heirs } {
  const { desired, actual } = given;
  const items: Item[] = [];
  const faults: Fault[] = [];
  const notes: string[] = [];
  const ids = new Map<string, string>();
  const heirs = new Map<string, string>();
  if (desired.servers === undefined) return { items, faults, notes, ids, heirs };
  const { project } = desired;
  const own = actual.servers.filter(({ labels }) => labels[PROJECT_LABEL] === project);
  const ground = { ...given, own };
  const kept = new Set<string>();
  for (const wanted of desired.servers) {
    const { name, place } = wanted;
    const found = findOwn(wanted, own);
    if (found !== undefined && 'ids' in found) {
      const message = `the project has more than one server "${name}" (${found.ids.join(', ')}): rename or destroy one of them by its id`;
      faults.push({ place, message, exit: 'conflict' });
      continue;
    }
    if (found === undefined && isForeign(name, actual.servers)) {
      faults.push({ place, message: foreign(name, project), exit: 'conflict' });
    }
    if (wanted.absent) continue;
    if (found) {
      kept.add(found.id);
      ids.set(name, found.id);
      const before = predecessorOf(found, own);
      if (before) heirs.set(before.id, name);
    }
    const compared = found ? compareServer(wanted, found, ground) : newServer(wanted, ground);
    for (const { sign, id } of compared.items) if (sign === 'replace' && id !== null) heirs.set(id, name);
    items.push(...compared.items);
    faults.push(...compared.faults);
    notes.push(...compared.notes);
  }
  const absent = new Set(desired.servers.filter((server) => server.absent).map(({ name }) => name));
  for (const server of own.filter(({ id }) => !kept.has(id))) {
    const gone = absent.has(server.name) ? 'it is to be absent' : 'the file has it no more';
    const other = isMarked(server) ? 'another one has replaced it' : 'the one before it is as the file says';
    items.push(goodbye(server, ids.has(server.name) ? other : gone, ground));
  }
  // Whose name is in doubt may be what another step would destroy.
  return { items: faults.length > 0 ? [] : items, faults, notes: [...notes, ...oneByOne(items)], ids, heirs };
}

/**
 * The one that is not marked as replaced, or else the one marked last: a run was cut short between the mark and what was to come in
 * its place. But where a file was put back meanwhile, the one that it speaks of is there still, and has the data.
 */
function findOwn(
  wanted: Placed<DesiredServer>,
  own: readonly ActualServer[],
): ActualServer | { readonly ids: readonly string[] } | undefined {
  const namesakes = own.filter(({ name }) => name === wanted.name);
  const unmarked = namesakes.filter((server) => !isMarked(server));
  if (unmarked.length > 1) return { ids: unmarked.map(({ id }) => id) };
  const fits = ({ plan, region }: ActualServer) =>
    !wanted.absent && plan === wanted.plan && region === wanted.region;
  const candidates = namesakes.some(fits) ? namesakes.filter(fits) : namesakes;
  const [only] = candidates.filter((server) => !isMarked(server));
  if (only) return only;
  const last = Math.max(...candidates.map(markOf));
  const marked = candidates.filter((server) => markOf(server) === last);
  return marked.length > 1 ? { ids: marked.map(({ id }) => id) } : marked[0];
}

/** One image that cannot be installed must not take them all. */
function oneByOne(items: readonly Item[]): string[] {
  const count = items.filter(({ sign }) => sign === 'rebuild').length;
  return count > 1
    ? [
        `${count} servers are rebuilt one at a time; if one of them fails, those after it are left as they are`,
      ]
    : [];
}

/** One of no project: what another project has is in its own file. */
function isForeign(name: string, servers: readonly ActualServer[]): boolean {
  return servers.some((server) => server.name === name && !Object.hasOwn(server.labels, PROJECT_LABEL));
}

function foreign(name: string, project: string): string {
  const take = `skerry server update ${name} --add-label ${PROJECT_LABEL}=${project}`;
  return `a server "${name}" is there outside of the project: rename one of the two, or take it in by \`${take}\``;
}

function newServer(wanted: Placed<WantedServer>, ground: Ground): Omit<Compared, 'ids'> {
  const { name, plan, region, billingMonths = 1 } = wanted;
  const { act, image, faults } = orderOf(wanted, ground.actual, ground.desired.project, billingMonths);
  if (!act) return { items: [], faults, notes: [] };
  const months = billingMonths === 1 ? '1 month' : `${billingMonths} months`;
  const item: Item = {
    sign: 'create',
    kind: 'server',
    name,
    id: null,
    reasons: [`plan ${plan} in ${region} with ${image}, ${months} paid in advance`],
    loses: null,
    acts: [act, { do: 'wait_server', server: name }, ...rdnsActs(name, wantedRdns(wanted, null))],
  };
  return { items: [item], faults, notes: [] };
}

function goodbye(server: ActualServer, why: string, ground: Ground): Item {
  return {
    sign: 'destroy',
    kind: 'server',
    name: server.name,
    id: server.id,
    reasons: [why, ...leftVolumes(server, ground)],
    loses: `server ${server.name}`,
    acts: destroyActs(server, ground),
  };
}
