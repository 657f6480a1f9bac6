/** Retention of bases and segments, of the running cluster and of those before a restore. */
import { DAY_MS } from '../../../kernel/time.ts';
import type { WalArchive } from '../../../ports/archives.ts';
import { latestTime } from '../backups/plan.ts';
import { type BaseName, parseBaseId, parseSegmentId, timelineOf } from './names.ts';
import { BASE_MAX_MS } from './plan.ts';

interface Base extends BaseName {
  readonly id: string;
}

interface Period {
  readonly current: WalArchive;
  readonly days: number;
  /** When the newest base began that could be restored; null: it does not matter. */
  readonly proved: Date | null;
  readonly signal: AbortSignal;
}

/**
 * The running cluster's newest base from before the period stays: a restore reaches all of the period. The
 * newest verified base stays, too, with all that follows.
 */
export async function deleteOld(
  archives: readonly WalArchive[],
  { current, days, proved, signal }: Period,
): Promise<void> {
  const now = await latestPlausible(current);
  const before = Math.min(now - days * DAY_MS, proved?.getTime() ?? Number.POSITIVE_INFINITY);
  for (const archive of archives) {
    signal.throwIfAborted();
    const keepsNewest = archive.cluster === current.cluster;
    const bases = (await archive.bases.list()).map((id) => ({ id, ...parseBaseId(id) }));
    const segments = await archive.segments.list();
    const expired = findExpired(bases, segments, { before, keepsNewest });
    // Bases last: without one, no one looks for segments.
    for (const id of expired.segments) {
      signal.throwIfAborted();
      await archive.segments.remove(id);
    }
    for (const id of expired.bases) await archive.bases.remove(id);
    for (const each of [archive.segments, archive.bases]) await each.tidy();
  }
}

/** After a leap of the clock, the base before the newest one says which time it may be. */
async function latestPlausible({ bases }: WalArchive): Promise<number> {
  const times = (await bases.list()).map((id) => parseBaseId(id).startedAt.getTime()).sort((a, b) => a - b);
  return Math.min(Date.now(), (times.at(-2) ?? Number.POSITIVE_INFINITY) + BASE_MAX_MS);
}

/** When the newest base began that counts; null if there is none. */
export function findNewestBase(ids: readonly string[]): Date | null {
  const until = latestTime(new Date());
  const times = ids.map((id) => parseBaseId(id).startedAt).filter((at) => at <= until);
  return times.reduce<Date | null>((newest, at) => (newest === null || at > newest ? at : newest), null);
}

/** Segments go with the bases of their timeline: a restore never leaves that of its base. */
export function findExpired(
  bases: readonly Base[],
  segments: readonly string[],
  { before, keepsNewest }: { readonly before: number; readonly keepsNewest: boolean },
): { readonly bases: readonly string[]; readonly segments: readonly string[] } {
  const sorted = [...bases].sort((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  const last = sorted.findLast(({ startedAt }) => startedAt.getTime() < before);
  const isKept = (base: Base) => base.startedAt.getTime() >= before || (keepsNewest && base === last);
  const firstByTimeline = new Map<number, string>();
  for (const { segment } of sorted.filter(isKept)) {
    const known = firstByTimeline.get(timelineOf(segment));
    if (known === undefined || segment < known) firstByTimeline.set(timelineOf(segment), segment);
  }
  const isNeeded = (segment: string) => {
    const first = firstByTimeline.get(timelineOf(segment));
    return first !== undefined && segment >= first;
  };
  return {
    bases: sorted.filter((base) => !isKept(base)).map(({ id }) => id),
    segments: segments.filter((id) => !isNeeded(parseSegmentId(id))),
  };
}
