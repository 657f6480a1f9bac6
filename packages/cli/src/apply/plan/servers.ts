/** Compares the servers of a project, found by its label and their names. No other server is ever changed. */
import type { ActualServer } from '../actual.ts';
import type { DesiredServer, Placed, WantedServer } from '../desired.ts';
import type { Fault } from '../faults.ts';
import { PROJECT_LABEL } from '../labels.ts';
import type { Replacements } from './groups.ts';
import { orderServer } from './install.ts';
import { type Comparison, changeOf, type PlanItem } from './plan.ts';
import { compareServer, findPredecessor, getReplacedMark, isMarkedReplaced } from './replace.ts';
import {
  type CompareContext,
  describeDetachedVolumes,
  destroyActions,
  diffRdns,
  rdnsActions,
} from './server.ts';

export function compareServers(
  given: Omit<CompareContext, 'own'>,
): Comparison & { readonly replacements: Replacements } {
  const { desired, actual } = given;
  const items: PlanItem[] = [];
  const faults: Fault[] = [];
  const notes: string[] = [];
  const ids = new Map<string, string>();
  const replacements = new Map<string, string>();
  if (desired.servers === undefined) return { items, faults, notes, ids, replacements };
  const { project } = desired;
  const own = actual.servers.filter(({ labels }) => labels[PROJECT_LABEL] === project);
  const ground = { ...given, own };
  const kept = new Set<string>();
  for (const wanted of desired.servers) {
    const { name, place } = wanted;
    const found = findProjectServer(wanted, own);
    if (found !== undefined && 'ids' in found) {
      const message =
        `the project has more than one server "${name}" (${found.ids.join(', ')}); ` +
        'rename or delete one of them by its ID';
      faults.push({ place, message, exit: 'conflict' });
      continue;
    }
    if (found === undefined && existsOutsideProject(name, actual.servers)) {
      faults.push({ place, message: describeOutsideServer(name, project), exit: 'conflict' });
    }
    if (wanted.absent) continue;
    if (found) {
      kept.add(found.id);
      ids.set(name, found.id);
      const before = findPredecessor(found, own);
      if (before) replacements.set(before.id, name);
    }
    const compared = found ? compareServer(wanted, found, ground) : createItem(wanted, ground);
    for (const { changeType, id } of compared.items)
      if (changeType === 'replace' && id !== null) replacements.set(id, name);
    items.push(...compared.items);
    faults.push(...compared.faults);
    notes.push(...compared.notes);
  }
  const absent = new Set(desired.servers.filter((server) => server.absent).map(({ name }) => name));
  for (const server of own.filter(({ id }) => !kept.has(id))) {
    const gone = absent.has(server.name) ? 'marked as absent' : 'no longer in the file';
    const other = isMarkedReplaced(server) ? 'it was replaced' : 'an earlier server matches the file';
    items.push(destroyItem(server, ids.has(server.name) ? other : gone, ground));
  }
  // With ambiguous names, a step might delete the wrong server.
  return {
    items: faults.length > 0 ? [] : items,
    faults,
    notes: [...notes, ...rebuildNotes(items)],
    ids,
    replacements,
  };
}

/**
 * Finds the server of a name: the one without a replacement mark, or else the one with the latest mark, if a
 * run was interrupted before it created the replacement. If the file was reverted meanwhile, the original
 * server that it describes still exists and has the data.
 */
function findProjectServer(
  wanted: Placed<DesiredServer>,
  own: readonly ActualServer[],
): ActualServer | { readonly ids: readonly string[] } | undefined {
  const namesakes = own.filter(({ name }) => name === wanted.name);
  const unmarked = namesakes.filter((server) => !isMarkedReplaced(server));
  if (unmarked.length > 1) return { ids: unmarked.map(({ id }) => id) };
  const matchesPlacement = ({ plan, region }: ActualServer) =>
    !wanted.absent && plan === wanted.plan && region === wanted.region;
  const candidates = namesakes.some(matchesPlacement) ? namesakes.filter(matchesPlacement) : namesakes;
  const [only] = candidates.filter((server) => !isMarkedReplaced(server));
  if (only) return only;
  const last = Math.max(...candidates.map(getReplacedMark));
  const marked = candidates.filter((server) => getReplacedMark(server) === last);
  return marked.length > 1 ? { ids: marked.map(({ id }) => id) } : marked[0];
}

/** An image that cannot be installed must not take down all servers. */
function rebuildNotes(items: readonly PlanItem[]): string[] {
  const count = items.filter(({ changeType }) => changeType === 'rebuild').length;
  return count > 1
    ? [`${count} servers are rebuilt one at a time; if one of them fails, the remaining ones are not rebuilt`]
    : [];
}

/** Servers of another project are in that project's own file. */
function existsOutsideProject(name: string, servers: readonly ActualServer[]): boolean {
  return servers.some((server) => server.name === name && !Object.hasOwn(server.labels, PROJECT_LABEL));
}

function describeOutsideServer(name: string, project: string): string {
  const adopt = `skerry server update ${name} --add-label ${PROJECT_LABEL}=${project}`;
  const reason = `server "${name}" exists outside of the project`;
  return `${reason}; rename one of them, or add it to the project with \`${adopt}\``;
}

function createItem(wanted: Placed<WantedServer>, context: CompareContext): Omit<Comparison, 'ids'> {
  const { name, plan, region, billingMonths = 1 } = wanted;
  const { actual, desired } = context;
  const { action, image, faults } = orderServer(wanted, actual, desired, billingMonths);
  if (!action) return { items: [], faults, notes: [] };
  const months = billingMonths === 1 ? '1 month' : `${billingMonths} months`;
  const item = changeOf('server', name, {
    changeType: 'create',
    reasons: [
      `plan ${plan} in ${region} with ${image}, ${months} paid in advance`,
      ...(wanted.backups && wanted.backups.enabled !== false ? ['it is backed up'] : []),
      ...(wanted.start === false ? ['it is not started'] : []),
    ],
    actions: [action, { do: 'wait_server', server: name }, ...rdnsActions(name, diffRdns(wanted, null))],
  });
  return { items: [item], faults, notes: [] };
}

function destroyItem(server: ActualServer, why: string, context: CompareContext): PlanItem {
  return changeOf('server', server.name, {
    changeType: 'destroy',
    id: server.id,
    reasons: [why, ...describeDetachedVolumes(server, context)],
    destroys: `server ${server.name}`,
    actions: destroyActions(server, context),
  });
}
