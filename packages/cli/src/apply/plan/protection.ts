/** Protection: changes by the file, and a plan that would destroy something protected. */
import type { Actual } from '../actual.ts';
import type { DesiredProtection } from '../desired.ts';
import type { Fault } from '../faults.ts';
import { type Action, KIND_NAMES, type Kind, type PlanItem } from './plan.ts';

interface Protected {
  readonly delete: boolean;
  readonly rebuild?: boolean;
}

/** Describes the members that the file changes. */
export function protectionChanges(
  wanted: DesiredProtection | undefined,
  found: Protected | undefined,
): string[] {
  return (['delete', 'rebuild'] as const)
    .filter((member) => wanted?.[member] !== undefined && wanted[member] !== found?.[member])
    .map((member) => `protection.${member}: ${found?.[member] ?? false} → ${wanted?.[member]}`);
}

/**
 * Finds actions that the service would refuse halfway through the run. A file that lifts a protection must be
 * applied before it destroys, so that one edit never does both.
 */
export function protectionFaults(items: readonly PlanItem[], actual: Actual): Fault[] {
  return items.flatMap(({ actions }) => actions.flatMap((act) => findFault(act, actual)));
}

function findFault(act: Action, { servers, volumes }: Actual): Fault[] {
  if (act.do !== 'destroy_server' && act.do !== 'rebuild_server' && act.do !== 'delete_volume') return [];
  const [kind, list] =
    act.do === 'delete_volume' ? (['volume', volumes] as const) : (['server', servers] as const);
  const found = list.find(({ id }) => id === act.id);
  const member = act.do === 'rebuild_server' ? 'rebuild' : 'delete';
  const protection: Protected = found?.protection ?? { delete: false };
  return found !== undefined && protection[member] ? [describeFault(kind, found, member)] : [];
}

function describeFault(
  kind: Kind,
  { id, name }: { readonly id: string; readonly name: string },
  member: 'delete' | 'rebuild',
): Fault {
  const action = member === 'rebuild' ? 'a rebuild' : 'deletion';
  const command = `skerry ${kind} update ${id} --${member}-protection=false`;
  const message = `is protected against ${action}; run \`${command}\` first`;
  return { place: `${KIND_NAMES[kind]} ${name}`, message, exit: 'conflict' };
}
