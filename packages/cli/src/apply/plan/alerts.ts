/**
 * Compares alerts. The file names alerts, so their names must be unique; only `absent: true` deletes one.
 */
import type { UpdateAlert } from '@skerry/sdk';
import type { Actual, ActualAlert } from '../actual.ts';
import { type Desired, isWanted, type WantedAlert } from '../desired.ts';
import type { Fault } from '../faults.ts';
import { type Comparison, changeOf, type PlanItem } from './plan.ts';
import type { PlannedServers } from './volumes.ts';

export function compareAlerts(desired: Desired, actual: Actual, servers: PlannedServers): Comparison {
  const items: PlanItem[] = [];
  const faults: Fault[] = [];
  const ids = new Map<string, string>();
  for (const wanted of desired.alerts) {
    const { name, place } = wanted;
    const namesakes = actual.alerts.filter((alert) => alert.name === name);
    const [found] = namesakes;
    if (namesakes.length > 1) {
      const same = namesakes.map(({ id }) => id).join(', ');
      const message = `more than one alert is named "${name}" (${same}); rename all but one`;
      faults.push({ place, message, exit: 'conflict' });
      continue;
    }
    if (found) ids.set(name, found.id);
    if (!isWanted(wanted)) {
      if (found) items.push(destroyItem(found));
      continue;
    }
    const item = found ? changeItem(wanted, found, servers, actual) : createItem(wanted);
    if (item) items.push(item);
  }
  return { items, faults, notes: [], ids };
}

function createItem(alert: WantedAlert): PlanItem {
  const { name, metric, compare = 'gt', value, window = '5m', servers, labelSelector, enabled } = alert;
  const bound = value === undefined ? '' : ` ${compare === 'gt' ? 'above' : 'below'} ${value}`;
  const watched = servers?.join(', ') ?? describeSelector(labelSelector ?? '');
  return changeOf('alert', name, {
    changeType: 'create',
    reasons: [`${metric}${bound} for ${window}, of ${watched}${enabled === false ? ', disabled' : ''}`],
    actions: [{ do: 'create_alert', alert }],
  });
}

function changeItem(
  wanted: WantedAlert,
  found: ActualAlert,
  { staying }: PlannedServers,
  { servers: all }: Actual,
): PlanItem | undefined {
  const { name, metric, compare, value, window, servers, labelSelector, enabled } = wanted;
  const members = { metric, compare, value, window, enabled };
  const changed = (Object.keys(members) as (keyof typeof members)[]).filter(
    (member) => members[member] !== undefined && members[member] !== found[member],
  );
  const reasons = changed.map((member) => `${member}: ${found[member] ?? 'none'} → ${members[member]}`);
  const patch: Record<string, unknown> = Object.fromEntries(
    changed.map((member) => [member, members[member]]),
  );
  // A value of another metric has another unit, so the service wants it again.
  if (patch.metric !== undefined && value !== undefined) patch.value = value;
  const before = describeWatched(found, all);
  // A replacement has the same name but a different ID.
  const here = servers?.map((server) => staying.get(server)?.id);
  const isSame =
    here?.length === found.servers?.length && here?.every((id) => id && found.servers?.includes(id));
  if (servers && !isSame) {
    const after = servers.join(', ');
    reasons.push(
      before === after ? `servers: ${after}, including the new server` : `servers: ${before} → ${after}`,
    );
  }
  if (labelSelector !== undefined && sortSelector(labelSelector) !== sortSelector(found.label_selector)) {
    patch.label_selector = labelSelector;
    reasons.push(`servers: ${before} → ${describeSelector(labelSelector)}`);
  }
  if (reasons.length === 0) return undefined;
  const moved = servers && !isSame ? servers : undefined;
  const action = { do: 'update_alert', alert: name, patch: patch as UpdateAlert, servers: moved } as const;
  return changeOf('alert', name, { id: found.id, reasons, actions: [action] });
}

/** `env=prod, team=web` in the order and the form in which the service shows it. */
function sortSelector(text: string | null): string | null {
  const pairs = text?.split(',').map((pair) => pair.trim().replace('==', '='));
  return pairs?.sort().join(',') ?? null;
}

function describeSelector(selector: string): string {
  return selector.trim() === '' ? 'all servers' : `servers with ${selector}`;
}

function describeWatched({ servers, label_selector }: ActualAlert, all: Actual['servers']): string {
  if (label_selector !== null) return describeSelector(label_selector);
  const names = servers?.map((id) => all.find((server) => server.id === id)?.name ?? id) ?? [];
  return names.join(', ') || 'none';
}

function destroyItem({ id, name }: ActualAlert): PlanItem {
  return changeOf('alert', name, {
    changeType: 'destroy',
    id,
    reasons: ['marked as absent'],
    destroys: `alert ${name}`,
    actions: [{ do: 'delete_alert', id }],
  });
}
