/**
 * Compares firewall groups. The file names groups, so their names must be unique; only
 * `absent: true` deletes a group.
 */
import type { Actual, ActualGroup } from '../actual.ts';
import { type Desired, isWanted, type Rule, type WantedGroup } from '../desired.ts';
import type { Fault } from '../faults.ts';
import { PROJECT_LABEL } from '../labels.ts';
import { type Action, type Comparison, changeOf, type PlanItem } from './plan.ts';
import type { PlannedServers } from './volumes.ts';

const NAMES_SHOWN = 10;

/** Names of replacement servers, by the ID of the server that each replaces. */
export type Replacements = ReadonlyMap<string, string>;

export function compareGroups(
  desired: Desired,
  actual: Actual,
  servers: PlannedServers,
  replacements: Replacements,
): Comparison {
  const items: PlanItem[] = [];
  const faults: Fault[] = [];
  const ids = new Map<string, string>();
  const own = new Set(
    actual.servers.filter(({ labels }) => labels[PROJECT_LABEL] === desired.project).map(({ id }) => id),
  );
  for (const wanted of desired.groups) {
    const { place, name } = wanted;
    const namesakes = actual.groups.filter((group) => group.name === name);
    const [found] = namesakes;
    if (namesakes.length > 1) {
      const same = namesakes.map(({ id }) => id).join(', ');
      const message = `more than one firewall group is named "${name}" (${same}); rename all but one`;
      faults.push({ place, message, exit: 'conflict' });
      continue;
    }
    if (found) ids.set(name, found.id);
    if (isWanted(wanted)) {
      const item = found
        ? changeItem(wanted, found, { own, planned: servers, actual, replacements })
        : createItem(wanted);
      if (item) items.push(item);
    } else if (found) {
      const others = findOutsiders(found, own).length;
      if (others > 0) {
        const count = others === 1 ? 'a server' : `${others} servers`;
        const message = `is applied to ${count} outside of the project`;
        faults.push({ place, message: `${message}; remove it there first`, exit: 'conflict' });
      } else items.push(destroyItem(found, servers, actual));
    }
  }
  const namedInFile = new Set(desired.groups.map(({ name }) => name));
  for (const group of actual.groups.filter(({ name }) => !namedInFile.has(name))) {
    // Use the ID as the key: groups outside of the file may share a name.
    const { actions, reasons } = inheritFirewalls(group.id, group, servers, replacements);
    if (actions.length === 0) continue;
    ids.set(group.id, group.id);
    const { name, id } = group;
    items.push(changeOf('firewall_group', name, { id, reasons, actions }));
  }
  return { items, faults, notes: [], ids };
}

/** A replacement server gets all firewall groups of its predecessor. */
function inheritFirewalls(
  key: string,
  found: ActualGroup,
  planned: PlannedServers,
  replacements: Replacements,
): Changes {
  const servers = [...replacements].flatMap(([old, name]) => {
    const id = planned.staying.get(name)?.id;
    const isIn = id !== undefined && found.applied_to.includes(id);
    return found.applied_to.includes(old) && !isIn ? [name] : [];
  });
  if (servers.length === 0) return { actions: [], reasons: [] };
  return {
    actions: [{ do: 'apply_group', group: key, servers, keptIds: found.applied_to, removedIds: [] }],
    reasons: servers.map((name) => `applied to the new ${name}, like its predecessor`),
  };
}

function createItem(group: WantedGroup): PlanItem {
  const { name, servers = [], rules = [] } = group;
  return changeOf('firewall_group', name, {
    changeType: 'create',
    reasons: [
      `${formatRuleCount(rules.length)}, default: ${group.defaultAction}`,
      ...(servers.length > 0 ? [`applied to ${servers.join(', ')}`] : []),
    ],
    actions: [
      { do: 'create_group', group },
      ...(servers.length > 0
        ? [{ do: 'apply_group', group: name, servers, keptIds: [], removedIds: [] } as const]
        : []),
    ],
  });
}

interface Changes {
  readonly actions: readonly Action[];
  readonly reasons: readonly string[];
}
interface ChangeContext {
  readonly own: ReadonlySet<string>;
  readonly planned: PlannedServers;
  readonly actual: Actual;
  readonly replacements: Replacements;
}

function changeItem(
  { name, defaultAction, rules, servers }: WantedGroup,
  found: ActualGroup,
  { own, planned, actual, replacements }: ChangeContext,
): PlanItem | undefined {
  const actions: Action[] = [];
  const reasons: string[] = [];
  if (defaultAction !== found.default_action) {
    actions.push({ do: 'update_group', group: name, defaultAction });
    reasons.push(`default_action: ${found.default_action} → ${defaultAction}`);
  }
  if (rules && JSON.stringify(rules.map(formatRule)) !== JSON.stringify(found.rules.map(formatRule))) {
    actions.push({ do: 'replace_rules', group: name, rules });
    reasons.push(...ruleReasons(found.rules, rules));
  }
  // The rules also affect servers of the group that are not in the file.
  const outsiders = findOutsiders(found, own);
  if (actions.length > 0 && outsiders.length > 0) {
    reasons.push(`also affects servers outside of the project: ${formatNames(outsiders, actual)}`);
  }
  if (servers) {
    const here = servers.map((server) => planned.staying.get(server)?.id);
    const before = found.applied_to.filter((id) => own.has(id));
    if (here.length !== before.length || !here.every((id) => id !== undefined && before.includes(id))) {
      // A server that is being replaced keeps its firewall until it is deleted.
      const leaving = before.filter((id) => planned.leaving.has(id));
      const keptIds = [...outsiders, ...leaving];
      const removedIds = before.filter((id) => !here.includes(id) && !leaving.includes(id));
      actions.push({ do: 'apply_group', group: name, servers, keptIds, removedIds });
      const [from, to] = [formatNames(before, actual), servers.join(', ') || 'none'];
      reasons.push(
        from === to ? `applied to: ${to}, including the new server` : `applied to: ${from} → ${to}`,
      );
    }
  } else {
    const more = inheritFirewalls(name, found, planned, replacements);
    actions.push(...more.actions);
    reasons.push(...more.reasons);
  }
  if (actions.length === 0) return undefined;
  return changeOf('firewall_group', name, { id: found.id, reasons, actions });
}

function findOutsiders({ applied_to }: ActualGroup, own: ReadonlySet<string>): string[] {
  return applied_to.filter((id) => !own.has(id));
}

function formatNames(ids: readonly string[], { servers }: Actual): string {
  const names = ids.map((id) => servers.find((server) => server.id === id)?.name ?? id);
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
  return `${names.slice(0, NAMES_SHOWN).join(', ') || 'none'}${more}`;
}

function ruleReasons(found: readonly Rule[], wanted: readonly Rule[]): string[] {
  const [before, after] = [found.map(formatRule), wanted.map(formatRule)];
  const added = after.filter((rule) => !before.includes(rule)).map((rule) => `rule + ${rule}`);
  const gone = before.filter((rule) => !after.includes(rule)).map((rule) => `rule - ${rule}`);
  const changes = [...gone, ...added];
  return changes.length > 0 ? changes : ['rules: new order'];
}

/** `in tcp 443 from 0.0.0.0/0 accept` */
function formatRule({ direction, proto, port, source, action, note }: Rule): string {
  const peer = direction === 'in' ? 'from' : 'to';
  const ports = port === null ? '' : ` ${port}`;
  return `${direction} ${proto}${ports} ${peer} ${source} ${action}${note === null ? '' : ` (${note})`}`;
}

function formatRuleCount(count: number): string {
  return count === 1 ? '1 rule' : `${count || 'no'} rules`;
}

function destroyItem(
  { id, name, applied_to }: ActualGroup,
  { leaving }: PlannedServers,
  actual: Actual,
): PlanItem {
  const stripped = applied_to.filter((server) => !leaving.has(server));
  return changeOf('firewall_group', name, {
    changeType: 'destroy',
    id,
    reasons: [
      'marked as absent',
      ...(stripped.length > 0 ? [`no longer applied to: ${formatNames(stripped, actual)}`] : []),
    ],
    destroys: `firewall group ${name}`,
    actions: [{ do: 'delete_group', id }],
  });
}
