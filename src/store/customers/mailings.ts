/** Mailings to sets of customers: who is in the set, and how far each mailing is. */
import type { Sql } from '../../kernel/sql.ts';
import type { MailingCriteria, MailingKind, MailingState } from '../../spec/staff/talking.ts';
import { conditionsFor, parametersFor } from '../parameters.ts';

export interface MailingRow {
  readonly id: string;
  readonly kind: MailingKind;
  readonly subject: string;
  readonly body: string;
  /** As staff chose them. */
  readonly criteria: MailingCriteria;
  readonly status: MailingState;
  readonly total: number;
  readonly sent: number;
  readonly failed: number;
  readonly left_out: number;
  readonly next_at: Date;
  readonly created_at: Date;
  readonly finished_at: Date | null;
}

const COLUMNS = `id, kind, subject, body, criteria, status, total, sent, failed, left_out, next_at,
  created_at, finished_at`;

/** Omitted fields match everyone. Servers that are being deleted do not count. */
export interface RecipientFilter {
  /** Leaves out those without a confirmed address, and those who turned news off. */
  readonly news?: true;
  readonly hasServers?: true;
  readonly hasNoServers?: true;
  readonly region?: string;
  readonly hostId?: string;
  readonly plan?: string;
  readonly tag?: string;
  readonly belowCents?: bigint;
  readonly aboveCents?: bigint;
  readonly isFrozen?: boolean;
  readonly isConfirmed?: boolean;
}

const OWN = `exists (select from servers s where s.customer_id = c.id and s.status <> 'destroying'`;

const CONDITIONS = {
  news: `$news::bool and c.email_confirmed_at is not null and c.news_off_at is null`,
  hasServers: `$hasServers::bool and ${OWN})`,
  hasNoServers: `$hasNoServers::bool and not ${OWN})`,
  region: `${OWN} and s.region_id = $region)`,
  hostId: `${OWN} and s.host_id = $hostId::uuid)`,
  plan: `${OWN} and s.plan_id = $plan)`,
  tag: 'exists (select from customer_tags t where t.tag = $tag and t.customer_id = c.id)',
  belowCents: 'b.balance_cents < $belowCents',
  aboveCents: 'b.balance_cents > $aboveCents',
  isFrozen: '(c.frozen_at is not null) = $isFrozen',
  isConfirmed: '(c.email_confirmed_at is not null) = $isConfirmed',
};

function recipientsSql(filter: RecipientFilter): string {
  return `from customers c join balances b on b.customer_id = c.id
    where c.deleting_at is null and ${conditionsFor(filter, CONDITIONS)}`;
}

/** Returns how many customers match, and the oldest accounts among them. */
export async function previewRecipients(
  tx: Sql,
  filter: RecipientFilter,
  limit: number,
): Promise<{ readonly count: number; readonly first: { readonly id: string; readonly email: string }[] }> {
  const row = await tx.row<{ count: number }>(
    `select count(*)::int as count ${recipientsSql(filter)}`,
    filter,
  );
  const first = await tx.rows<{ id: string; email: string }>(
    `select c.id, c.email ${recipientsSql(filter)} order by c.id limit $limit`,
    { ...filter, limit },
  );
  return { count: row?.count ?? 0, first };
}

/** Fixes the set: customers who match later are not in it. Returns how many there are, 0 adds nothing. */
export async function insertMailing(
  tx: Sql,
  row: Omit<MailingRow, 'total' | 'sent' | 'failed' | 'left_out' | 'finished_at'>,
  filter: RecipientFilter,
): Promise<number> {
  const columns = 'id, kind, subject, body, criteria, status, next_at, created_at';
  const counted = await tx.row<{ count: number }>(
    `select count(*)::int as count ${recipientsSql(filter)}`,
    filter,
  );
  if (!counted || counted.count === 0) return 0;
  await tx.run(`insert into mailings (${columns}, total) values (${parametersFor(columns)}, $total)`, {
    ...row,
    total: counted.count,
  });
  const added = await tx.run(
    `insert into mailing_recipients (mailing_id, customer_id, added_at)
     select $mailingId, c.id, $addedAt ${recipientsSql(filter)}`,
    { ...filter, mailingId: row.id, addedAt: row.created_at },
  );
  // Between the two statements, an account may have been created or deleted.
  if (added !== counted.count) {
    if (added === 0) return 0;
    await tx.run('update mailings set total = $2 where id = $1', [row.id, added]);
  }
  return added;
}

export async function findMailing(tx: Sql, id: string): Promise<MailingRow | undefined> {
  return await tx.row<MailingRow>(`select ${COLUMNS} from mailings where id = $1`, [id]);
}

export async function lockMailing(tx: Sql, id: string): Promise<MailingRow | undefined> {
  return await tx.row<MailingRow>(`select ${COLUMNS} from mailings where id = $1 for update`, [id]);
}

/** Newest first. `beforeId` null: from the newest. */
export async function listMailings(
  tx: Sql,
  { beforeId, limit }: { readonly beforeId: string | null; readonly limit: number },
): Promise<MailingRow[]> {
  return await tx.rows<MailingRow>(
    `select ${COLUMNS} from mailings where $1::uuid is null or id < $1 order by id desc limit $2`,
    [beforeId, limit],
  );
}

/** Locks the oldest running mailing: the others wait for it, so that together they keep to the rate. */
export async function lockRunningMailing(tx: Sql): Promise<MailingRow | undefined> {
  return await tx.row<MailingRow>(
    `select ${COLUMNS} from mailings where status = 'running' order by id limit 1 for update`,
  );
}

/** Returns when the oldest running mailing continues; null if none runs. */
export async function nextMailingAt(tx: Sql): Promise<Date | null> {
  const row = await tx.row<{ next_at: Date }>(
    `select next_at from mailings where status = 'running' order by id limit 1`,
  );
  return row?.next_at ?? null;
}

/** Takes over the outcome of mails that left the queue. Deleted with their customer, they are gone. */
export async function settleRecipients(tx: Sql, mailingId: string, causePrefix: string): Promise<void> {
  await tx.run(
    `with queued as (
       select r.customer_id, m.status
         from mailing_recipients r
         left join mails m on m.kind = 'mailing' and m.cause = $2 || r.customer_id::text
        where r.mailing_id = $1 and r.status = 'queued'),
     ended as (
       update mailing_recipients r
          set status = case when q.status = 'sent' then 'sent'
                            when q.status in ('failed', 'unknown') then 'failed' else 'left_out' end
         from queued q
        where r.mailing_id = $1 and r.customer_id = q.customer_id and r.status = 'queued'
          and coalesce(q.status, 'gone') not in ('queued', 'sending')
       returning r.status)
     update mailings
        set sent = sent + (select count(*) from ended where status = 'sent'),
            failed = failed + (select count(*) from ended where status = 'failed'),
            left_out = left_out + (select count(*) from ended where status = 'left_out')
      where id = $1 and exists (select from ended)`,
    [mailingId, causePrefix],
  );
}

/** Returns paused and stopped mailings with mails that were already being sent. */
export async function listUnsettledMailings(tx: Sql): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from mailings where status in ('paused', 'stopped')
        and id in (select mailing_id from mailing_recipients where status = 'queued')`,
  );
  return rows.map(({ id }) => id);
}

/** Returns how many mails of the mailing are in the queue. */
export async function countQueuedRecipients(tx: Sql, mailingId: string): Promise<number> {
  const row = await tx.row<{ count: number }>(
    `select count(*)::int as count from mailing_recipients where mailing_id = $1 and status = 'queued'`,
    [mailingId],
  );
  return row?.count ?? 0;
}

export interface NextRecipientRow {
  readonly customer_id: string;
  /** Still a customer who may get it. */
  readonly wanted: boolean;
}

/** Returns the next customers to mail, by age of the account. */
export async function listNextRecipients(
  tx: Sql,
  { mailingId, isNews, limit }: { mailingId: string; isNews: boolean; limit: number },
): Promise<NextRecipientRow[]> {
  return await tx.rows<NextRecipientRow>(
    `select r.customer_id,
            coalesce(c.deleting_at is null and (not $isNews::bool or c.news_off_at is null), false) as wanted
       from (select customer_id from mailing_recipients
              where mailing_id = $mailingId and status = 'waiting' order by customer_id limit $limit) r
       left join customers c on c.id = r.customer_id`,
    { mailingId, isNews, limit },
  );
}

export async function markRecipients(
  tx: Sql,
  mailingId: string,
  { queued, leftOut }: { readonly queued: readonly string[]; readonly leftOut: readonly string[] },
): Promise<void> {
  await tx.run(
    `update mailing_recipients
        set status = case when customer_id = any($2::uuid[]) then 'queued' else 'left_out' end
      where mailing_id = $1 and customer_id = any($2::uuid[] || $3::uuid[])`,
    [mailingId, queued, leftOut],
  );
}

/** Takes mails that certainly were not sent out of the queue again: their customers wait. */
export async function withdrawQueuedMails(tx: Sql, mailingId: string, causePrefix: string): Promise<void> {
  await tx.run(
    `with withdrawn as (
       delete from mails m using mailing_recipients r
        where r.mailing_id = $1 and r.status = 'queued'
          and m.kind = 'mailing' and m.cause = $2 || r.customer_id::text
          and m.status = 'queued' and m.lease_id is null
       returning m.customer_id)
     update mailing_recipients r set status = 'waiting'
       from withdrawn w where r.mailing_id = $1 and r.customer_id = w.customer_id`,
    [mailingId, causePrefix],
  );
}

export async function saveMailing(
  tx: Sql,
  row: Pick<MailingRow, 'id' | 'status' | 'next_at' | 'finished_at'> & { readonly more_left_out: number },
): Promise<void> {
  await tx.run(
    `update mailings set status = $status, left_out = left_out + $more_left_out, next_at = $next_at,
            finished_at = $finished_at
      where id = $id`,
    row,
  );
}
