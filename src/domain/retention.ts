/**
 * Retention: one rule per kind of row that is kept for a limited time. Everything else is permanent
 * (transfers, top-ups, deposits, customers' resources) or deleted when it completes (operations, tasks,
 * uploads, expiring snapshots, resting addresses).
 */
import { firstIdAt } from '../kernel/ids.ts';
import { DAY_MS, HOUR_MS } from '../kernel/time.ts';
import { LIMITS } from '../spec/limits.ts';
import { PURGES, type Purge, purgeBatch } from '../store/service/retention.ts';
import type { Service } from './context.ts';

export interface RetentionRule {
  readonly purge: Purge;
  /** The retention from the time in the purge's column. 0: the purge's own conditions decide. */
  readonly keepMs: number;
  /** Rows per statement, so that they are locked for well under 50 ms. */
  readonly batch: number;
}

const BATCH = 500;

export const RETENTION = {
  audit: { purge: PURGES.audit, keepMs: LIMITS.auditRetentionDays * DAY_MS, batch: BATCH },
  deliveries: { purge: PURGES.deliveries, keepMs: LIMITS.deliveryRetentionDays * DAY_MS, batch: BATCH },
  events: { purge: PURGES.events, keepMs: LIMITS.eventRetentionDays * DAY_MS, batch: BATCH },
  idempotency: {
    purge: PURGES.idempotency,
    keepMs: LIMITS.idempotencyRetentionHours * HOUR_MS,
    batch: BATCH,
  },
  sessions: { purge: PURGES.sessions, keepMs: 0, batch: BATCH },
  metrics: { purge: PURGES.metrics, keepMs: LIMITS.metricsRetentionDays * DAY_MS, batch: 2 * BATCH },
  // After this, the same cause could be mailed again.
  mails: { purge: PURGES.mails, keepMs: LIMITS.mailRetentionDays * DAY_MS, batch: BATCH },
  mailLinks: { purge: PURGES.mailLinks, keepMs: LIMITS.mailLinkRetentionDays * DAY_MS, batch: BATCH },
  consoleTickets: { purge: PURGES.consoleTickets, keepMs: 0, batch: BATCH },
  rateBuckets: { purge: PURGES.rateBuckets, keepMs: 0, batch: BATCH },
  windows: { purge: PURGES.windows, keepMs: 0, batch: BATCH },
  deletedImages: { purge: PURGES.deletedImages, keepMs: 0, batch: 100 },
} as const satisfies Record<keyof typeof PURGES, RetentionRule>;

export type RetentionName = keyof typeof RETENTION;
export const RETENTION_NAMES = Object.keys(RETENTION) as RetentionName[];

/** The position of a pass: a rule, and the place in its table (null: at the oldest row). */
export interface PurgeCursor {
  readonly rule: RetentionName;
  readonly from: string | null;
}

export const FIRST_PURGE_CURSOR: PurgeCursor = { rule: RETENTION_NAMES[0] ?? 'audit', from: null };

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

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
    from: cursor.from,
    until,
    now,
    limit: batch,
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
