/** One step of a pass through all retention rules. */
import { firstIdAt } from '../../kernel/ids.ts';
import { purgeBatch } from '../../store/service/retention.ts';
import type { Service } from '../context.ts';
import { RETENTION, RETENTION_NAMES, type RetentionName, type RetentionRule } from './rules.ts';

/** The position of a pass: a rule, and the place in its table (null: at the oldest row). */
export interface PurgeCursor {
  readonly rule: RetentionName;
  readonly from: string | null;
}

export const FIRST_PURGE_CURSOR: PurgeCursor = { rule: RETENTION_NAMES[0] ?? 'audit', from: null };

/**
 * Deletes one batch. Returns the number of deleted rows and the next position; null at the end of the pass.
 */
export async function purgeNext(
  service: Pick<Service, 'db' | 'clock'>,
  cursor: PurgeCursor,
): Promise<{ readonly gone: number; readonly next: PurgeCursor | null }> {
  const { purge, keepMs, batch }: RetentionRule = RETENTION[cursor.rule];
  const now = service.clock.now();
  const before = new Date(now.getTime() - keepMs);
  // With `keepMs` 0, an id may be from the current millisecond.
  const until = purge.type === 'uuid' ? (keepMs === 0 ? LAST_ID : firstIdAt(before)) : before;
  const { gone, looked, reached } = await purgeBatch(service.db, purge, {
    ...{ from: cursor.from, until, now, limit: batch },
  });
  const moved = gone > 0 || reached !== cursor.from;
  if (looked === batch && moved) return { gone, next: { rule: cursor.rule, from: reached } };
  return { gone, next: nextRuleCursor(cursor) };
}

/** Skips the rest of this rule, so that a failing rule does not block the others. */
export function nextRuleCursor({ rule }: PurgeCursor): PurgeCursor | null {
  const next = RETENTION_NAMES[RETENTION_NAMES.indexOf(rule) + 1];
  return next === undefined ? null : { rule: next, from: null };
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
