/**
 * Retention: one rule per kind of row that is kept for a limited time. Everything else is permanent
 * (transfers, top-ups, deposits, customers' resources) or deleted when it completes (operations, tasks,
 * uploads, expiring snapshots, resting addresses).
 */
import { firstIdAt } from '../../kernel/ids.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { ABUSE_LIMITS } from '../../spec/staff/abuse.ts';
import { FIGURES_KEPT_DAYS } from '../../spec/staff/figures.ts';
import { FLOOD_LIMITS } from '../../spec/staff/floods.ts';
import { LEGAL_LIMITS } from '../../spec/staff/legal.ts';
import { STAFF_LIMITS } from '../../spec/staff/roles.ts';
import { TALKING_LIMITS } from '../../spec/staff/talking.ts';
import { PURGES, type Purge, purgeBatch } from '../../store/service/retention.ts';
import type { Service } from '../context.ts';
import { AVAILABILITY_KEEP_MS } from '../health/availability.ts';

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
  staffLog: { purge: PURGES.staffLog, keepMs: STAFF_LIMITS.logRetentionDays * DAY_MS, batch: BATCH },
  customerNotes: {
    purge: PURGES.customerNotes,
    keepMs: STAFF_LIMITS.logRetentionDays * DAY_MS,
    batch: BATCH,
  },
  approvals: { purge: PURGES.approvals, keepMs: STAFF_LIMITS.logRetentionDays * DAY_MS, batch: BATCH },
  approvalInputs: { purge: PURGES.approvalInputs, keepMs: 0, batch: BATCH },
  staffSessions: { purge: PURGES.staffSessions, keepMs: 0, batch: BATCH },
  staffTokens: { purge: PURGES.staffTokens, keepMs: 0, batch: BATCH },
  staff: { purge: PURGES.staff, keepMs: 0, batch: BATCH },
  deliveries: { purge: PURGES.deliveries, keepMs: LIMITS.deliveryRetentionDays * DAY_MS, batch: BATCH },
  events: { purge: PURGES.events, keepMs: LIMITS.eventRetentionDays * DAY_MS, batch: BATCH },
  idempotency: {
    purge: PURGES.idempotency,
    keepMs: LIMITS.idempotencyRetentionHours * HOUR_MS,
    batch: BATCH,
  },
  actions: { purge: PURGES.actions, keepMs: LIMITS.actionRetentionDays * DAY_MS, batch: BATCH },
  sessions: { purge: PURGES.sessions, keepMs: 0, batch: BATCH },
  metrics: { purge: PURGES.metrics, keepMs: LIMITS.metricsRetentionDays * DAY_MS, batch: 2 * BATCH },
  // A row goes when its last point is too old.
  minuteMetrics: {
    purge: PURGES.minuteMetrics,
    keepMs: (LIMITS.minuteMetricsHours + 1) * HOUR_MS,
    batch: BATCH,
  },
  fiveMinuteMetrics: {
    purge: PURGES.fiveMinuteMetrics,
    keepMs: (LIMITS.fiveMinuteMetricsHours + 5) * HOUR_MS,
    batch: BATCH,
  },
  // After this, the same cause could be mailed again.
  mails: { purge: PURGES.mails, keepMs: LIMITS.mailRetentionDays * DAY_MS, batch: BATCH },
  mailLinks: { purge: PURGES.mailLinks, keepMs: LIMITS.mailLinkRetentionDays * DAY_MS, batch: BATCH },
  availability: { purge: PURGES.availability, keepMs: AVAILABILITY_KEEP_MS, batch: BATCH },
  tickets: { purge: PURGES.tickets, keepMs: LIMITS.ticketRetentionDays * DAY_MS, batch: 100 },
  ticketMails: { purge: PURGES.ticketMails, keepMs: LIMITS.ticketMailRetentionDays * DAY_MS, batch: BATCH },
  abuseReports: {
    purge: PURGES.abuseReports,
    keepMs: ABUSE_LIMITS.retentionDays * DAY_MS,
    batch: 50,
  },
  floods: { purge: PURGES.floods, keepMs: FLOOD_LIMITS.retentionDays * DAY_MS, batch: BATCH },
  abuseReporters: { purge: PURGES.abuseReporters, keepMs: 0, batch: BATCH },
  legalOrders: { purge: PURGES.legalOrders, keepMs: LEGAL_LIMITS.retentionDays * DAY_MS, batch: 50 },
  figures: { purge: PURGES.figures, keepMs: FIGURES_KEPT_DAYS * DAY_MS, batch: BATCH },
  addressHistory: { purge: PURGES.addressHistory, keepMs: 0, batch: BATCH },
  announcements: {
    purge: PURGES.announcements,
    keepMs: TALKING_LIMITS.announcementRetentionDays * DAY_MS,
    batch: BATCH,
  },
  announcementDismissals: { purge: PURGES.announcementDismissals, keepMs: 0, batch: BATCH },
  mailingRecipients: {
    purge: PURGES.mailingRecipients,
    keepMs: TALKING_LIMITS.recipientRetentionDays * DAY_MS,
    batch: BATCH,
  },
  mailings: { purge: PURGES.mailings, keepMs: TALKING_LIMITS.mailingRetentionDays * DAY_MS, batch: BATCH },
  orderDrafts: { purge: PURGES.orderDrafts, keepMs: 0, batch: BATCH },
  usedChallenges: { purge: PURGES.usedChallenges, keepMs: 0, batch: BATCH },
  consoleTickets: { purge: PURGES.consoleTickets, keepMs: 0, batch: BATCH },
  rateBuckets: { purge: PURGES.rateBuckets, keepMs: 0, batch: BATCH },
  attemptBuckets: { purge: PURGES.attemptBuckets, keepMs: 0, batch: BATCH },
  attemptKeys: { purge: PURGES.attemptKeys, keepMs: 0, batch: BATCH },
  // The statement keeps ended windows as long as the audit log.
  windows: { purge: PURGES.windows, keepMs: 0, batch: BATCH },
  deletedImages: { purge: PURGES.deletedImages, keepMs: 0, batch: 100 },
} as const satisfies Record<keyof typeof PURGES, RetentionRule>;

export type RetentionName = keyof typeof RETENTION;
export const RETENTION_NAMES = Object.keys(RETENTION) as RetentionName[];

/** No id is greater. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Deletes the rows that a rule no longer keeps, and yields how many each batch deleted. Of a partitioned
 * table, those of the default partition or of the given one.
 */
export async function* purgeExpired(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  rule: RetentionName,
  partition?: string,
): AsyncGenerator<number> {
  const { purge, keepMs, batch }: RetentionRule = RETENTION[rule];
  for (let from: string | null = null; ; ) {
    const now = clock.now();
    const before = new Date(now.getTime() - keepMs);
    // With `keepMs` 0, an id may be from the current millisecond.
    const until = purge.type === 'uuid' ? (keepMs === 0 ? LAST_ID : firstIdAt(before)) : before;
    const { gone, looked, reached } = await purgeBatch(db, purge, {
      ...{ from, until, now, limit: batch },
      ...(partition === undefined ? {} : { partition }),
    });
    yield gone;
    const hasMoved: boolean = gone > 0 || reached !== from;
    if (looked < batch || !hasMoved) return;
    from = reached;
  }
}
