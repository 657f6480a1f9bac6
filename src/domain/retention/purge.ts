/** One step of a round through all rules of retention. */
import { firstIdAt } from '../../kernel/ids.ts';
import { purgeBatch } from '../../store/retention.ts';
import type { Service } from '../context.ts';
import { RETENTION, RETENTION_NAMES, type RetentionName, type RetentionRule } from './rules.ts';

/** Where a round is: at which rule, and up to where of its table it has looked (null: at the oldest row). */
export interface PurgeCursor {
  readonly rule: RetentionName;
  readonly from: string | null;
}

export const FIRST_PURGE_CURSOR: PurgeCursor = { rule: RETENTION_NAMES[0] ?? 'audit', from: null };

/** Removes one batch; gives how many rows went and where to go on, null at the round's end. */
export async function purgeNext(
  service: Pick<Service, 'db' | 'clock'>,
  place: PurgeCursor,
): Promise<{ readonly gone: number; readonly next: PurgeCursor | null }> {
  const { purge, keepMs, batch }: RetentionRule = RETENTION[place.rule];
  const now = service.clock.now();
  const before = new Date(now.getTime() - keepMs);
  // An id of `keepMs` 0 may be of this very millisecond.
  const until = purge.type === 'uuid' ? (keepMs === 0 ? LAST_ID : firstIdAt(before)) : before;
  const { gone, looked, reached } = await purgeBatch(service.db, purge, {
    ...{ from: place.from, until, now, limit: batch },
  });
  const moved = gone > 0 || reached !== place.from;
  if (looked === batch && moved) return { gone, next: { rule: place.rule, from: reached } };
  return { gone, next: nextRuleCursor(place) };
}

/** The round without what is left of this rule: what fails must not keep the others waiting. */
export function nextRuleCursor({ rule }: PurgeCursor): PurgeCursor | null {
  const next = RETENTION_NAMES[RETENTION_NAMES.indexOf(rule) + 1];
  return next === undefined ? null : { rule: next, from: null };
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
