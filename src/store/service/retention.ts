/**
 * Purges expired rows in batches. One statement scans a bounded number of the oldest rows, locks those that
 * may be deleted, skips rows locked by others, and deletes the rest. It never waits, holds its locks only
 * briefly, and is safe to run in several processes at once.
 */
import type { Sql } from '../../kernel/sql.ts';
import { LIMITS } from '../../spec/limits.ts';
import { STAFF_LIMITS } from '../../spec/staff/roles.ts';

/** A table whose old rows are deleted. */
export interface Purge {
  readonly table: string;
  /** The indexed column that sorts rows by age: a time, or an id that begins with its time. */
  readonly by: string;
  readonly type: 'uuid' | 'timestamptz';
  /** The condition of the partial index, if it has one. */
  readonly where?: string;
  /** An additional condition for deletion; `aged` is the row and NOW the business time. */
  readonly removableWhen?: string;
  /** Rows are deleted from the default partition, or from the named one (partitions.ts). */
  readonly partitioned?: true;
}

const NOW = '$4::timestamptz';

export const PURGES = {
  audit: { table: 'audit_events', by: 'id', type: 'uuid', partitioned: true },
  staffLog: { table: 'staff_log', by: 'id', type: 'uuid' },
  customerNotes: { table: 'customer_notes', by: 'id', type: 'uuid' },
  approvals: { table: 'approval_requests', by: 'id', type: 'uuid' },
  approvalInputs: { table: 'approval_inputs', by: 'expires_at', type: 'timestamptz' },
  staffSessions: {
    table: 'staff_sessions',
    by: 'id',
    type: 'uuid',
    removableWhen: `(aged.created_at <= ${NOW} - interval '${STAFF_LIMITS.sessionMaxHours} hours'
      or aged.seen_at <= ${NOW} - interval '${STAFF_LIMITS.sessionIdleMinutes} minutes')`,
  },
  staffTokens: {
    table: 'staff_tokens',
    by: 'id',
    type: 'uuid',
    removableWhen: `aged.expires_at <= ${NOW}`,
  },
  // The log names them as long as its entries are kept.
  staff: {
    table: 'staff',
    by: 'id',
    type: 'uuid',
    removableWhen: `aged.disabled_at <= ${NOW} - interval '${STAFF_LIMITS.logRetentionDays} days'`,
  },
  // Keep a delivery that is still to be sent, however old it is.
  deliveries: {
    table: 'deliveries',
    by: 'id',
    type: 'uuid',
    partitioned: true,
    removableWhen: 'aged.due_at is null',
  },
  // Delete only events that were numbered (so their deliveries exist) and that no kept delivery refers to.
  events: {
    table: 'events',
    by: 'id',
    type: 'uuid',
    partitioned: true,
    removableWhen: `aged.seq is not null and not exists (
      select from deliveries d where d.event_id = aged.id and (d.due_at is not null or d.on_request)
         and (d.due_at is not null
           or d.created_at >= ${NOW} - interval '${LIMITS.deliveryRetentionDays} days'))`,
  },
  idempotency: { table: 'idempotency', by: 'created_at', type: 'timestamptz' },
  actions: { table: 'actions', by: 'id', type: 'uuid', removableWhen: `aged.status <> 'running'` },
  sessions: {
    table: 'sessions',
    by: 'id',
    type: 'uuid',
    removableWhen: `(aged.created_at <= ${NOW} - interval '${LIMITS.sessionMaxDays} days'
      or aged.seen_at <= ${NOW} - interval '${LIMITS.sessionIdleHours} hours')`,
  },
  metrics: { table: 'metrics', by: 'hour', type: 'timestamptz', partitioned: true },
  minuteMetrics: {
    table: 'metric_points',
    by: 'starts_at',
    type: 'timestamptz',
    partitioned: true,
    where: 'aged.step_s = 60',
  },
  fiveMinuteMetrics: {
    table: 'metric_points',
    by: 'starts_at',
    type: 'timestamptz',
    partitioned: true,
    where: 'aged.step_s = 300',
  },
  mails: { table: 'mails', by: 'created_at', type: 'timestamptz', where: 'aged.due_at is null' },
  mailLinks: { table: 'mail_links', by: 'expires_at', type: 'timestamptz' },
  availability: { table: 'availability', by: 'day', type: 'timestamptz' },
  tickets: {
    table: 'tickets',
    by: 'updated_at',
    type: 'timestamptz',
    where: `aged.status = 'closed'`,
  },
  ticketMails: { table: 'ticket_mails', by: 'received_at', type: 'timestamptz' },
  abuseReports: { table: 'abuse_reports', by: 'closed_at', type: 'timestamptz' },
  floods: { table: 'floods', by: 'ended_at', type: 'timestamptz' },
  abuseReporters: { table: 'abuse_reporters', by: 'expires_at', type: 'timestamptz' },
  legalOrders: {
    table: 'legal_orders',
    by: 'closed_at',
    type: 'timestamptz',
    where: 'aged.closed_at is not null',
  },
  figures: { table: 'figures', by: 'hour', type: 'timestamptz' },
  addressHistory: { table: 'address_assignments', by: 'expires_at', type: 'timestamptz' },
  announcements: { table: 'announcements', by: 'ends_at', type: 'timestamptz' },
  // Kept until the announcement ends.
  announcementDismissals: {
    table: 'announcement_dismissals',
    by: 'dismissed_at',
    type: 'timestamptz',
    removableWhen: `exists (select from announcements a
      where a.id = aged.announcement_id and a.ends_at <= ${NOW})`,
  },
  mailingRecipients: {
    table: 'mailing_recipients',
    by: 'added_at',
    type: 'timestamptz',
    removableWhen: `exists (select from mailings m
      where m.id = aged.mailing_id and m.finished_at is not null)`,
  },
  mailings: {
    table: 'mailings',
    by: 'id',
    type: 'uuid',
    removableWhen: `aged.finished_at is not null
      and not exists (select from mailing_recipients r where r.mailing_id = aged.id)`,
  },
  orderDrafts: { table: 'order_drafts', by: 'expires_at', type: 'timestamptz' },
  usedChallenges: { table: 'used_challenges', by: 'expires_at', type: 'timestamptz' },
  consoleTickets: { table: 'console_tickets', by: 'expires_at', type: 'timestamptz' },
  // A bucket that has refilled equals no bucket. Real time from the database's clock, as in
  // store/customers/tokens.ts.
  rateBuckets: {
    table: 'rate_buckets',
    by: 'token_id',
    type: 'uuid',
    removableWhen: `aged.tat < clock_timestamp() - interval '1 day'`,
  },
  // In real time as well: a full bucket equals no bucket.
  attemptBuckets: {
    table: 'attempt_buckets',
    by: 'full_at',
    type: 'timestamptz',
    removableWhen: 'aged.full_at < clock_timestamp()',
  },
  attemptKeys: {
    table: 'attempt_keys',
    by: 'ends_at',
    type: 'timestamptz',
    removableWhen: 'aged.ends_at < clock_timestamp()',
  },
  windows: {
    table: 'maintenance_windows',
    by: 'id',
    type: 'uuid',
    removableWhen: `coalesce(aged.ended_at, aged.ends_at)
      < ${NOW} - interval '${LIMITS.auditRetentionDays} days'`,
  },
  // A server refers to the images it was installed from and has in its drive, a snapshot to that on its disk.
  deletedImages: {
    table: 'images',
    by: 'deleted_at',
    type: 'timestamptz',
    where: 'aged.deleted_at is not null and aged.blob_key is null',
    removableWhen: `not exists (select from servers s where s.image_id = aged.id)
      and not exists (select from servers s where s.iso_image_id = aged.id)
      and not exists (select from snapshots s
                       where s.customer_id = aged.customer_id and s.image_id = aged.id)`,
  },
} as const satisfies Record<string, Purge>;

export interface PurgeBatch {
  /** Where the last batch ended, as returned in `reached`; null starts at the oldest row. */
  readonly from: string | null;
  /** The exclusive upper bound, of the column's type. */
  readonly until: Date | string;
  readonly now: Date;
  /** How many rows to scan. */
  readonly limit: number;
  /** The partition; absent: the default one. */
  readonly partition?: string;
}

export interface Purged {
  readonly gone: number;
  readonly looked: number;
  /** Where the next batch begins; null when no row was scanned. */
  readonly reached: string | null;
}

const FIRST = { uuid: '00000000-0000-0000-0000-000000000000', timestamptz: '-infinity' } as const;

export async function purgeBatch(sql: Sql, purge: Purge, batch: PurgeBatch): Promise<Purged> {
  const from = batch.from ?? FIRST[purge.type];
  const row = await sql.row<Purged>(statement(purge, batch.partition), [
    from,
    batch.until,
    batch.limit,
    batch.now,
  ]);
  return row ?? { gone: 0, looked: 0, reached: null };
}

/**
 * Selects rows by `ctid`, their physical location: a concurrent update moves the row, which then stays until
 * the next run. It is unique in one partition only. The next batch begins where this one ended, so it skips
 * rows that were deleted or have to stay.
 */
function statement(purge: Purge, partition = purge.table): string {
  const { by, type, where, removableWhen } = purge;
  const table = purge.partitioned ? `partitions.${partition}` : purge.table;
  const indexed = where === undefined ? '' : `and ${where}`;
  const removable = removableWhen === undefined ? '' : `and ${removableWhen}`;
  return `with looked as materialized (
       select aged.ctid, aged.${by} as age from ${table} as aged
        where aged.${by} >= $1::${type} and aged.${by} < $2::${type} ${indexed}
        order by aged.${by} limit $3),
     doomed as materialized (
       select aged.ctid from ${table} as aged
        where aged.ctid = any (array(select ctid from looked)) and ${NOW} is not null ${removable}
          for update of aged skip locked),
     gone as (
       delete from ${table} as aged where aged.ctid = any (array(select ctid from doomed)) returning 1)
     select (select count(*)::int from gone) as gone, (select count(*)::int from looked) as looked,
            (select age::text from looked order by age desc limit 1) as reached`;
}
