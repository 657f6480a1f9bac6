/**
 * What is kept for a time, and how long: one row for each kind. What is not here stays: the books (transfers, top-ups,
 * deposits), what customers have, and what goes by itself when it is done (operations, tasks, uploads, snapshots with a
 * date, addresses that rest).
 */
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { PURGES, type Purge } from '../../store/retention.ts';

export interface RetentionRule {
  readonly purge: Purge;
  /** How long a row is kept, from the time in the column that the purge goes by. 0: its own conditions say. */
  readonly keepMs: number;
  /** Rows of one statement: so many are locked for well under 50 ms. */
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
  // Beyond that, nothing is mailed for the same cause again.
  mails: { purge: PURGES.mails, keepMs: LIMITS.mailRetentionDays * DAY_MS, batch: BATCH },
  mailLinks: { purge: PURGES.mailLinks, keepMs: LIMITS.mailLinkRetentionDays * DAY_MS, batch: BATCH },
  consoleTickets: { purge: PURGES.consoleTickets, keepMs: 0, batch: BATCH },
  rateBuckets: { purge: PURGES.rateBuckets, keepMs: 0, batch: BATCH },
  windows: { purge: PURGES.windows, keepMs: 0, batch: BATCH },
  deletedImages: { purge: PURGES.deletedImages, keepMs: 0, batch: 100 },
} as const satisfies Record<keyof typeof PURGES, RetentionRule>;

export type RetentionName = keyof typeof RETENTION;
export const RETENTION_NAMES = Object.keys(RETENTION) as RetentionName[];
