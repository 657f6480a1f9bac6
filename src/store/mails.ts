/** Mails: the queue of what is to be sent, and what became of it. */
import type { Sql } from '../kernel/sql.ts';
import type { MailKind } from '../spec/mails.ts';

export type MailStatus = 'queued' | 'sending' | 'sent' | 'failed' | 'unknown' | 'stale' | 'dropped';
export type MailFault = 'unreachable' | 'deferred' | 'refused' | 'unrenderable';

/** A claimed mail. */
export interface MailRow {
  readonly id: string;
  readonly customer_id: string;
  readonly kind: MailKind;
  readonly data_sealed: string;
  readonly to_address: string | null;
  /** `sending`: another holder gave it away and was not heard of again. */
  readonly status: 'queued' | 'sending';
  readonly stale_at: Date | null;
  /** Times in a row that it met its last fault. */
  readonly attempts: number;
  readonly fault: MailFault | null;
  readonly lease_id: string;
  readonly created_at: Date;
}

/** Queues a mail, due at once; does nothing where this kind was queued for this cause before. */
export async function insertMail(
  tx: Sql,
  mail: {
    readonly id: string;
    readonly customerId: string;
    readonly kind: MailKind;
    readonly cause: string;
    readonly urgent: boolean;
    readonly dataSealed: string;
    readonly toAddress: string | null;
    readonly staleAt: Date | null;
    readonly now: Date;
  },
): Promise<void> {
  await tx.run(
    `insert into mails (id, customer_id, kind, cause, urgent, data_sealed, to_address, stale_at, due_at, created_at)
     values ($1, $2, $3, $4, $9, $5, $6, $7, $8, $8)
     on conflict (kind, cause) do nothing`,
    [
      mail.id,
      mail.customerId,
      mail.kind,
      mail.cause,
      mail.dataSealed,
      mail.toAddress,
      mail.staleAt,
      mail.now,
      mail.urgent,
    ],
  );
}

const CLAIMABLE_SQL = 'due_at <= $1 and (leased_until is null or leased_until < clock_timestamp())';

/** Leases due mails: urgent ones first, then the most overdue. The lease ends by itself: the database's clock counts. */
export async function claimMails(
  tx: Sql,
  claim: { leaseId: string; now: Date; leaseS: number; limit: number },
): Promise<MailRow[]> {
  // An array, not a join: the planner cannot tell how few the computed limit leaves, and would join by reading the whole table.
  return await tx.rows<MailRow>(
    `with urgent as (
       select id from mails where urgent and ${CLAIMABLE_SQL} order by due_at limit $2 for update skip locked
     ), others as (
       select id from mails where not urgent and ${CLAIMABLE_SQL}
        order by due_at limit (select $2 - count(*) from urgent) for update skip locked)
     update mails m set lease_id = $3, leased_until = clock_timestamp() + make_interval(secs => $4)
      where m.id = any (array(select id from urgent union all select id from others))
     returning m.id, m.customer_id, m.kind, m.data_sealed, m.to_address, m.status, m.stale_at, m.attempts, m.fault,
       m.lease_id, m.created_at`,
    [claim.now, claim.limit, claim.leaseId, claim.leaseS],
  );
}

export async function extendMailLease(tx: Sql, leaseId: string, leaseS: number): Promise<void> {
  await tx.run(
    `update mails set leased_until = clock_timestamp() + make_interval(secs => $2) where lease_id = $1`,
    [leaseId, leaseS],
  );
}

/** Gives back what was claimed and not finished. */
export async function releaseMailLease(tx: Sql, leaseId: string): Promise<void> {
  await tx.run(`update mails set lease_id = null, leased_until = null where lease_id = $1`, [leaseId]);
}

/** Notes that the mail is being given away from now on; false when it is no longer ours. */
export async function markMailSending(tx: Sql, mail: Pick<MailRow, 'id' | 'lease_id'>): Promise<boolean> {
  const marked = await tx.run(
    `update mails set status = 'sending' where id = $1 and lease_id = $2 and status = 'queued'`,
    [mail.id, mail.lease_id],
  );
  return marked === 1;
}

/** The end of a mail: its text and its address are forgotten. False when it is no longer ours. */
export async function finishMail(
  tx: Sql,
  mail: Pick<MailRow, 'id' | 'lease_id'>,
  end: {
    readonly status: Exclude<MailStatus, 'queued' | 'sending'>;
    readonly fault?: MailFault;
    readonly sentAt?: Date;
  },
): Promise<boolean> {
  const ended = await tx.run(
    `update mails
        set status = $3, fault = $4, sent_at = $5, due_at = null, stale_at = null, data_sealed = null, to_address = null,
            lease_id = null, leased_until = null
      where id = $1 and lease_id = $2`,
    [mail.id, mail.lease_id, end.status, end.fault ?? null, end.sentAt ?? null],
  );
  return ended === 1;
}

/** Lets go of the mail until `dueAt`: it was surely not sent. False when it is no longer ours. */
export async function delayMail(
  tx: Sql,
  mail: Pick<MailRow, 'id' | 'lease_id'>,
  next: { readonly dueAt: Date; readonly attempts: number; readonly fault: MailFault },
): Promise<boolean> {
  const delayed = await tx.run(
    `update mails
        set status = 'queued', due_at = $3, attempts = $4, fault = $5, lease_id = null, leased_until = null
      where id = $1 and lease_id = $2`,
    [mail.id, mail.lease_id, next.dueAt, next.attempts, next.fault],
  );
  return delayed === 1;
}

/** The mail server takes mails again: those that wait for it are due now. */
export async function retryUnreachableMails(tx: Sql, now: Date): Promise<void> {
  await tx.run(
    `update mails set due_at = $1, attempts = 0
      where due_at > $1 and fault = 'unreachable' and lease_id is null`,
    [now],
  );
}

/** When the next mail is due, held or not. */
export async function nextMailDue(tx: Sql): Promise<Date | null> {
  const row = await tx.row<{ due_at: Date }>(
    `select due_at from mails where due_at is not null order by due_at limit 1`,
  );
  return row?.due_at ?? null;
}

/** Whether a mail is held by somebody, or due. */
export async function hasPendingMails(tx: Sql, now: Date): Promise<boolean> {
  const due = await nextMailDue(tx);
  if (due !== null && due <= now) return true;
  const row = await tx.row<{ held: boolean }>(
    `select exists (select from mails where lease_id is not null and leased_until > clock_timestamp()) as held`,
  );
  return row?.held ?? false;
}

export interface MailRecipientRow {
  readonly email: string;
  readonly openpgp_key: string | null;
  readonly openpgp_since: Date | null;
}

/** Where mails to a customer go, and the key they are encrypted to. Undefined once the customer is gone or going. */
export async function findMailRecipient(tx: Sql, customerId: string): Promise<MailRecipientRow | undefined> {
  return await tx.row<MailRecipientRow>(
    `select email, openpgp_key, openpgp_since from customers where id = $1 and deleting_at is null`,
    [customerId],
  );
}
