/** Compares the file with the account and returns the changes that make the account match. Pure. */
import type { Actual } from '../actual.ts';
import type { Desired } from '../desired.ts';
import type { Fault } from '../faults.ts';
import { compareAlerts } from './alerts.ts';
import { compareGroups } from './groups.ts';
import { type Comparison, changeOf, type Plan, type PlanItem } from './plan.ts';
import { protectionFaults } from './protection.ts';
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
  const alerts = compareAlerts(desired, actual, planned);
  const all = [keys, groups, volumes, servers, alerts];
  const plan = {
    project: desired.project,
    items: all.flatMap(({ items }) => items),
    notes: all.flatMap(({ notes }) => notes),
    ids: {
      ...{ ssh_key: keys.ids, firewall_group: groups.ids, volume: volumes.ids, server: servers.ids },
      alert: alerts.ids,
    },
  };
  const faults = [...all.flatMap((each) => each.faults), ...protectionFaults(plan.items, actual)];
  return { plan, faults };
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

/** Plans a key if its name is free, never a replacement. */
function compareKeys(desired: Desired, actual: Actual): Comparison {
  const items: PlanItem[] = [];
  const faults: Fault[] = [];
  const ids = new Map<string, string>();
  for (const key of desired.sshKeys) {
    const namesakes = actual.keys.filter(({ name }) => name === key.name);
    const same = namesakes.find(({ fingerprint }) => fingerprint === key.fingerprint);
    if (same) ids.set(key.name, same.id);
    else if (namesakes.length > 0) {
      const fingerprint = namesakes[0]?.fingerprint;
      const message = `another key is named "${key.name}" (${fingerprint}); use a different name`;
      faults.push({ place: key.place, message, exit: 'conflict' });
    } else {
      const actions = [{ do: 'create_key', key } as const];
      items.push(
        changeOf('ssh_key', key.name, { changeType: 'create', reasons: [key.fingerprint], actions }),
      );
    }
  }
  const fromFile = new Set(desired.sshKeys.map(({ name }) => name));
  for (const server of desired.servers ?? []) {
    if (server.absent) continue;
    server.sshKeys.forEach((key, at) => {
      if (fromFile.has(key)) return;
      const found = actual.keys.filter(({ id, name }) => id === key || name === key);
      const match = found.find(({ id }) => id === key) ?? found[0];
      const place = `${server.place}.ssh_keys[${at}]`;
      if (match === undefined) {
        faults.push({ place, message: `SSH key "${key}" not found`, exit: 'usage' });
      } else if (found.length > 1 && match.id !== key) {
        const message = `more than one SSH key is named "${key}"; use its ID`;
        faults.push({ place, message, exit: 'usage' });
      } else ids.set(key, match.id);
    });
  }
  return { items, faults, notes: [], ids };
}
