/**
 * Labels are written as a whole, and others write them, too: each change is made to what is there right before it.
 *
 * A rebuild is only begun when it is accepted. Until it is known how it ended, the label of the user data says both that of before and
 * that of after; whoever reads it then asks the audit log. A run that ends between the rebuild and its mark leaves the former label:
 * the next one rebuilds again, and never takes a disk for what it is not.
 */
import type { Server, Skerry } from '@skerry/sdk';
import { failIfGivenUp } from '../../commands/server/wait-for-server.ts';
import { Failure } from '../../exit-codes.ts';
import { USER_DATA_LABEL } from '../file/fields.ts';
import type { Labels } from '../plan/plan.ts';

/** Digests of user data; null: none. */
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

/** Why the last rebuild did not come to its end; null: it did. */
export async function rebuildFailure(skerry: Skerry, server: Server): Promise<string | null> {
  try {
    await failIfGivenUp(skerry, server, 'rebuild');
    return null;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

/** The digest that holds by now; undefined: the rebuild is still under way. */
export async function resolvePendingDigest(
  skerry: Skerry,
  server: Server,
  { before, after }: PendingRebuild,
): Promise<string | null | undefined> {
  if (server.status !== 'running' && server.status !== 'stopped') return undefined;
  return (await rebuildFailure(skerry, server)) === null ? after : before;
}

/** What differs between the two is written, all else stays as it is by now. */
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

/** Changes labels as they are right now. */
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
