/** Compares the file with the account and returns the changes that make the account match. Pure. */
import type { Actual } from '../actual.ts';
import type { Desired } from '../desired.ts';
import type { Fault } from '../faults.ts';
import { compareGroups } from './groups.ts';
import { compareKeys } from './keys.ts';
import type { Plan, PlanItem } from './plan.ts';
import { compareServers } from './servers.ts';
import { compareVolumes, type PlannedServers } from './volumes.ts';

export function compare(
  desired: Desired,
  actual: Actual,
): { readonly plan: Plan; readonly faults: readonly Fault[] } {
  const keys = compareKeys(desired, actual);
  const servers = compareServers({ desired, actual, keys: keys.ids });
  const planned = planServers(servers.items, servers.ids, actual);
  const groups = compareGroups(desired, actual, planned, servers.replacements);
  const volumes = compareVolumes(desired, actual, planned);
  const all = [keys, groups, volumes, servers];
  const plan = {
    project: desired.project,
    items: all.flatMap(({ items }) => items),
    notes: all.flatMap(({ notes }) => notes),
    ids: { ssh_key: keys.ids, firewall_group: groups.ids, volume: volumes.ids, server: servers.ids },
  };
  return { plan, faults: all.flatMap(({ faults }) => faults) };
}

function planServers(
  items: readonly PlanItem[],
  ids: ReadonlyMap<string, string>,
  { servers }: Actual,
): PlannedServers {
  const leaving = new Set(
    items.flatMap(({ actions }) => actions.flatMap((act) => (act.do === 'destroy_server' ? [act.id] : []))),
  );
  const staying = [...ids].flatMap(([name, id]) => {
    const server = servers.find((one) => one.id === id);
    return server && !leaving.has(id) ? [[name, server] as const] : [];
  });
  return { staying: new Map(staying), leaving };
}
