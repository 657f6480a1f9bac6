/**
 * The labels that `apply` manages. They are written as a whole, and other clients write them too: each change
 * is applied to the latest labels.
 *
 * A rebuild is accepted before it is done. Until its outcome is known, the label of the user data contains
 * the digests of both before and after, and a reader asks the audit log. If a run ends between the rebuild
 * and this mark, the old label stays and the next run rebuilds again, so a label never describes data that is
 * not on the disk.
 */

import type { Server, Skerry } from '@skerry/sdk';
import type { WantedServer } from './desired.ts';
import type { Labels } from './plan/plan.ts';

/** Labels mark ownership: a server with the project label may be deleted. */
export const PROJECT_LABEL = 'skerry-project';
export const USER_DATA_LABEL = 'skerry-user-data';
export const REPLACED_LABEL = 'skerry-replaced';
export const OWN_LABELS: readonly string[] = [PROJECT_LABEL, USER_DATA_LABEL, REPLACED_LABEL];

/** Returns the labels that `apply` does not manage. */
export function userLabels(found: Labels): Labels {
  return Object.fromEntries(Object.entries(found).filter(([key]) => !OWN_LABELS.includes(key)));
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
  return withDigest(labels, userData?.digest ?? null);
}

/** Digests of user data; null: no user data. */
export interface PendingRebuild {
  readonly before: string | null;
  readonly after: string | null;
}

const NONE = 'none';
const PENDING_PATTERN = /^pending:([^:]+):([^:]+)$/;

export function parsePending(labels: Labels): PendingRebuild | null {
  const [, after, before] = PENDING_PATTERN.exec(labels[USER_DATA_LABEL] ?? '') ?? [];
  if (after === undefined || before === undefined) return null;
  return { before: before === NONE ? null : before, after: after === NONE ? null : after };
}

export function withPending(labels: Labels, { before, after }: PendingRebuild): Labels {
  if (before === after) return withDigest(labels, after);
  return { ...labels, [USER_DATA_LABEL]: `pending:${after ?? NONE}:${before ?? NONE}` };
}

export function userDataDigest(labels: Labels): string | null {
  return labels[USER_DATA_LABEL] ?? null;
}

export function withDigest(labels: Labels, digest: string | null): Labels {
  const { [USER_DATA_LABEL]: _former, ...others } = labels;
  return digest === null ? others : { ...others, [USER_DATA_LABEL]: digest };
}

/** Returns the reason why the latest rebuild failed; null: it succeeded. */
export async function rebuildFailure(
  skerry: Skerry,
  { id, name, action }: Pick<Server, 'id' | 'name'> & Partial<Pick<Server, 'action'>>,
): Promise<string | null> {
  if (action === undefined) return await auditedFailure(skerry, id, name);
  const filter = { command: 'server.rebuild' } as const;
  const { data } = await skerry.actions.ofServer(id, { filter, page_size: 1 }).first();
  const cause = data[0]?.error ?? null;
  return cause && `could not rebuild ${name} (${cause.code}): ${cause.message}`;
}

/** A service before API 1.7 has no actions; its audit log has the end of a rebuild that failed. */
async function auditedFailure(skerry: Skerry, resource: string, name: string): Promise<string | null> {
  const filter = { resource, action: 'server.rebuild' } as const;
  const { data } = await skerry.auditEvents.list({ filter, page_size: 1 }).first();
  const [last] = data;
  const isByService = last?.actor_token === null && last.actor_session === null;
  return isByService && last.result === 'error' ? `could not rebuild ${name}` : null;
}

/** Returns the digest of the user data on the disk; undefined: the rebuild is still running. */
export async function resolvePendingDigest(
  skerry: Skerry,
  server: Server,
  { before, after }: PendingRebuild,
): Promise<string | null | undefined> {
  if (server.status !== 'running' && server.status !== 'stopped') return undefined;
  return (await rebuildFailure(skerry, server)) === null ? after : before;
}

/** Applies the difference between `before` and `after` to the latest labels. */
export function mergeLabels(now: Labels, before: Labels, after: Labels): Labels {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const merged = new Map(Object.entries(now));
  for (const key of keys) {
    const value = after[key];
    if (value === before[key]) continue;
    if (value === undefined) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

interface LabelWriter {
  readonly skerry: Skerry;
  readonly signal: AbortSignal;
}

/** Changes the latest labels. */
export async function updateLabels(
  { skerry, signal }: LabelWriter,
  id: string,
  change: (now: Labels) => Labels,
): Promise<void> {
  const now = (await skerry.servers.get(id, { signal })).labels;
  const labels = change(now);
  if (isEqual(now, labels)) return;
  await skerry.servers.update(id, { labels: { ...labels } }, { signal });
}

function isEqual(one: Labels, other: Labels): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}
