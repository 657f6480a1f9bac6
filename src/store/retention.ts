/**
 * Removing what is too old, a batch at a time. One statement looks at the oldest rows, a bounded number whether they may go
 * or not, locks those that may, passing by what somebody else holds, and removes them. So it waits for nobody, nobody
 * waits long for it, and several processes may do it at once.
 */
import type { Sql } from '../kernel/sql.ts';
import { LIMITS } from '../spec/limits.ts';

/** A table from which old rows are removed. */
export interface Purge {
  readonly table: string;
  /** The column, with an index, by which rows come oldest first: a time, or an id that begins with its time. */
  readonly by: string;
  readonly type: 'uuid' | 'timestamptz';
  /** What every row of that index is. */
  readonly where?: string;
  /** What else is true of a row that may go; `aged` is the row and NOW the business time. */
  readonly removableWhen?: string;
}

const NOW = '$4::timestamptz';

export const PURGES = {
  audit: { table: 'audit_events', by: 'id', type: 'uuid' },
  // What is still to be sent stays, however old.
  deliveries: { table: 'deliveries', by: 'id', type: 'uuid', removableWhen: 'aged.due_at is null' },
  // Only what was numbered, which is when its deliveries are made, and none of which needs it any more.
  events: {
    table: 'events',
    by: 'id',
    type: 'uuid',
    removableWhen: `aged.seq is not null and not exists (
      select from deliveries d where d.event_id = aged.id and (d.due_at is not null or d.on_request)
         and (d.due_at is not null or d.created_at >= ${NOW} - interval '${LIMITS.deliveryRetentionDays} days'))`,
  },
  idempotency: { table: 'idempotency', by: 'created_at', type: 'timestamptz' },
  sessions: {
    table: 'sessions',
    by: 'id',
    type: 'uuid',
    removableWhen: `(aged.created_at <= ${NOW} - interval '${LIMITS.sessionMaxDays} days'
      or aged.seen_at <= ${NOW} - interval '${LIMITS.sessionIdleHours} hours')`,
  },
  metrics: { table: 'metrics', by: 'hour', type: 'timestamptz' },
  mails: { table: 'mails', by: 'created_at', type: 'timestamptz', where: 'aged.due_at is null' },
  mailLinks: { table: 'mail_links', by: 'expires_at', type: 'timestamptz' },
  consoleTickets: { table: 'console_tickets', by: 'expires_at', type: 'timestamptz' },
  // One that is full again is as good as none. Real time: the database's, as where it is drawn on.
  rateBuckets: {
    table: 'rate_buckets',
    by: 'token_id',
    type: 'uuid',
    removableWhen: `aged.tat < clock_timestamp() - interval '1 day'`,
  },
  windows: {
    table: 'maintenance_windows',
    by: 'id',
    type: 'uuid',
    removableWhen: `coalesce(aged.ended_at, aged.ends_at) < ${NOW} - interval '${LIMITS.auditRetentionDays} days'`,
  },
  // A server names the image that it was installed from, and a snapshot that of the disk in it.
  deletedImages: {
    table: 'images',
    by: 'deleted_at',
    type: 'timestamptz',
    where: 'aged.deleted_at is not null and aged.blob_key is null',
    removableWhen: `not exists (select from servers s where s.image_id = aged.id)
      and not exists (select from snapshots s where s.customer_id = aged.customer_id and s.image_id = aged.id)`,
  },
} as const satisfies Record<string, Purge>;

export interface PurgeBatch {
  /** Where the last batch ended, as it was given; null: at the oldest aged. */
  readonly from: string | null;
  /** Only what is before it, of the column's type. */
  readonly until: Date | string;
  readonly now: Date;
  /** How many rows are looked at. */
  readonly limit: number;
}

export interface Purged {
  readonly gone: number;
  readonly looked: number;
  /** Where the next batch begins; null when nothing was looked at. */
  readonly reached: string | null;
}

const FIRST = { uuid: '00000000-0000-0000-0000-000000000000', timestamptz: '-infinity' } as const;

export async function purgeBatch(sql: Sql, purge: Purge, batch: PurgeBatch): Promise<Purged> {
  const from = batch.from ?? FIRST[purge.type];
  const row = await sql.row<Purged>(statement(purge), [from, batch.until, batch.limit, batch.now]);
  return row ?? { gone: 0, looked: 0, reached: null };
}

/**
 * By `ctid`, which is where the row lies: whoever changes it meanwhile moves it, and it stays until the next time. The next
 * batch begins where this one ended, so that it need not step over what was just removed, or may not go.
 */
function statement({ table, by, type, where, removableWhen }: Purge): string {
  return `with looked as materialized (
       select aged.ctid, aged.${by} as age from ${table} as aged
        where aged.${by} >= $1::${type} and aged.${by} < $2::${type} ${where === undefined ? '' : `and ${where}`}
        order by aged.${by} limit $3),
     doomed as materialized (
       select aged.ctid from ${table} as aged
        where aged.ctid = any (array(select ctid from looked)) and ${NOW} is not null ${removableWhen === undefined ? '' : `and ${removableWhen}`}
          for update of aged skip locked),
     gone as (
       delete from ${table} as aged where aged.ctid = any (array(select ctid from doomed)) returning 1)
     select (select count(*)::int from gone) as gone, (select count(*)::int from looked) as looked,
            (select age::text from looked order by age desc limit 1) as reached`;
}
