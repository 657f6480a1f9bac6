/** Compares the file's SSH keys with the account's. Plans a key if its name is free, never a replacement. */
import type { Actual } from '../actual.ts';
import type { Desired } from '../desired.ts';
import type { Fault } from '../faults.ts';
import type { Comparison, PlanItem } from './plan.ts';

export function compareKeys(desired: Desired, actual: Actual): Comparison {
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
      items.push({
        changeType: 'create',
        kind: 'ssh_key',
        name: key.name,
        id: null,
        reasons: [key.fingerprint],
        destroys: null,
        actions: [{ do: 'create_key', key }],
      });
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
        faults.push({
          place,
          message: `more than one SSH key is named "${key}"; use its ID`,
          exit: 'usage',
        });
      } else ids.set(key, match.id);
    });
  }
  return { items, faults, notes: [], ids };
}
