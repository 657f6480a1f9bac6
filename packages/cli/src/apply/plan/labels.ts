/**
 * Compares labels and tags: a list in the file is complete, except for our own labels; an omitted one is
 * ignored.
 */
import type { WantedServer } from '../desired.ts';
import { PROJECT_LABEL, REPLACED_LABEL, USER_DATA_LABEL } from '../file/fields.ts';
import type { Labels } from './plan.ts';

/** Returns the labels that `apply` does not manage. */
export function userLabels(found: Labels): Labels {
  const ours = [PROJECT_LABEL, USER_DATA_LABEL, REPLACED_LABEL];
  return Object.fromEntries(Object.entries(found).filter(([key]) => !ours.includes(key)));
}

/** Returns the labels of a new server. */
export function initialLabels({ labels, userData }: WantedServer, project: string): Labels {
  return {
    ...labels,
    [PROJECT_LABEL]: project,
    ...(userData ? { [USER_DATA_LABEL]: userData.digest } : {}),
  };
}

/** Returns the current labels of an existing server that `apply` manages. */
export function managedLabels(found: Labels, project: string): Labels {
  const kept = [USER_DATA_LABEL, REPLACED_LABEL].flatMap((key) => {
    const value = found[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  return { [PROJECT_LABEL]: project, ...Object.fromEntries(kept) };
}

/** After a rebuild, the disk has the user data of the file, or none. */
export function labelsAfterInstall({ userData }: WantedServer, labels: Labels): Labels {
  const { [USER_DATA_LABEL]: _before, ...others } = labels;
  return userData ? { ...others, [USER_DATA_LABEL]: userData.digest } : others;
}

export function labelChanges(found: Labels, wanted: Labels): string[] {
  const keys = [...new Set([...Object.keys(found), ...Object.keys(wanted)])].sort();
  return keys
    .filter((key) => found[key] !== wanted[key])
    .map((key) => `label ${key}: ${formatValue(found[key])} → ${formatValue(wanted[key])}`);
}

export function tagChanges(found: readonly string[], wanted: readonly string[]): string[] {
  const same = found.length === wanted.length && wanted.every((tag) => found.includes(tag));
  const list = (tags: readonly string[]) => tags.join(', ') || 'none';
  return same ? [] : [`tags: ${list(found)} → ${list(wanted)}`];
}

function formatValue(value: string | undefined): string {
  return value === undefined ? 'none' : value || "''";
}
