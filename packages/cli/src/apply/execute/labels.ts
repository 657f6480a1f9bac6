/**
 * Labels are written as a whole, and other clients write them too: each change is applied to the latest
 * labels.
 *
 * A rebuild is accepted before it is done. Until its outcome is known, the label of the user data contains
 * the digests of both before and after, and a reader asks the audit log. If a run ends between the rebuild
 * and this mark, the old label stays and the next run rebuilds again, so a label never describes data that is
 * not on the disk.
 */
import type { Server, Skerry } from '@skerry/sdk';
import { failIfGivenUp } from '../../commands/server/wait-for-server.ts';
import { Failure } from '../../exit-codes.ts';
import { USER_DATA_LABEL } from '../file/fields.ts';
import type { Labels } from '../plan/plan.ts';

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
export async function rebuildFailure(skerry: Skerry, server: Server): Promise<string | null> {
  try {
    await failIfGivenUp(skerry, server, 'rebuild');
    return null;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
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
