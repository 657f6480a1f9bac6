/** Mails: the send queue and the outcome of each mail. */
import type { Sql } from '../kernel/sql.ts';
import type { MailKind } from '../spec/mails/kinds.ts';
import { nextDue } from './leases.ts';

export type MailStatus = 'queued' | 'sending' | 'sent' | 'failed' | 'unknown' | 'stale' | 'dropped';
export type MailFault = 'unreachable' | 'deferred' | 'refused' | 'unrenderable';

/** A claimed mail. */
export interface MailRow {
  readonly id: string;
  readonly customer_id: string;
  readonly kind: MailKind;
  readonly data_sealed: string;
  readonly to_address: string | null;
  /** `sending`: another leaseholder handed it to the mail server and never reported the outcome. */
  readonly status: 'queued' | 'sending';
  readonly stale_at: Date | null;
  /** Consecutive failures with the current fault. */
  readonly attempts: number;
  readonly fault: MailFault | null;
  readonly lease_id: string;
  readonly created_at: Date;
}

/** Queues a mail, due now. Does nothing if this kind was already queued for this cause. */
export async function insertMail(
  tx: Sql,
  mail: {
    readonly id: string;
    readonly customerId: string;
    readonly kind: MailKind;
    readonly cause: string;
    readonly urgent: boolean;
    readonly bulk: boolean;
    readonly dataSealed: string;
    readonly toAddress: string | null;
    readonly staleAt: Date | null;
    readonly now: Date;
  },
): Promise<void> {
  await tx.run(
    `insert into mails (id, customer_id, kind, cause, urgent, bulk, data_sealed, to_address, stale_at, due_at,
                        created_at)
     values ($id, $customerId, $kind, $cause, $urgent, $bulk, $dataSealed, $toAddress, $staleAt, $now, $now)
     on conflict (kind, cause) do nothing`,
    mail,
  );
}

const CLAIMABLE_SQL = 'due_at <= $1 and (leased_until is null or leased_until < clock_timestamp())';

/**
 * Leases due mails: urgent ones first, bulk ones last, and the most overdue of each first. The lease expires
 * on the database's clock.
 */
export async function claimMails(
  tx: Sql,
  claim: { leaseId: string; now: Date; leaseS: number; limit: number },
): Promise<MailRow[]> {
  // An array, not a join: the planner cannot estimate the computed limit, and would scan the whole table for
  // a join.
  return await tx.rows<MailRow>(
    `with urgent as (
       select id from mails where urgent and ${CLAIMABLE_SQL} order by due_at limit $2 for update skip locked
     ), others as (
       select id from mails where not urgent and not bulk and ${CLAIMABLE_SQL}
        order by due_at limit (select $2 - count(*) from urgent) for update skip locked
     ), rest as (
       select id from mails where bulk and ${CLAIMABLE_SQL}
        order by due_at limit (select $2 - (select count(*) from urgent) - count(*) from others)
          for update skip locked)
     update mails m set lease_id = $3, leased_until = clock_timestamp() + make_interval(secs => $4)
      where m.id = any (array(select id from urgent union all select id from others
                            union all select id from rest))
     returning m.id, m.customer_id, m.kind, m.data_sealed, m.to_address, m.status, m.stale_at, m.attempts,
       m.fault, m.lease_id, m.created_at`,
    [claim.now, claim.limit, claim.leaseId, claim.leaseS],
  );
}

/** Marks the mail as handed to the mail server. Returns false when the lease was lost. */
export async function markMailSending(tx: Sql, mail: Pick<MailRow, 'id' | 'lease_id'>): Promise<boolean> {
  const marked = await tx.run(
    `update mails set status = 'sending' where id = $1 and lease_id = $2 and status = 'queued'`,
    [mail.id, mail.lease_id],
  );
  return marked === 1;
}

/** Finishes a mail and erases its text and address. Returns false when the lease was lost. */
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
        set status = $3, fault = $4, sent_at = $5, due_at = null, stale_at = null, data_sealed = null,
            to_address = null, lease_id = null, leased_until = null
      where id = $1 and lease_id = $2`,
    [mail.id, mail.lease_id, end.status, end.fault ?? null, end.sentAt ?? null],
  );
  return ended === 1;
}

/** Releases a mail that was certainly not sent until `dueAt`. Returns false when the lease was lost. */
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

/** Makes a queued mail due now. Returns false if it is not queued. */
export async function retryMail(
  tx: Sql,
  mail: { readonly id: string; readonly now: Date },
): Promise<boolean> {
  return (
    (await tx.run(
      'update mails set due_at = least(due_at, $now) where id = $id and due_at is not null',
      mail,
    )) === 1
  );
}

/** Drops a queued mail. Returns false if a worker has it, or it is not queued. */
export async function giveUpMail(tx: Sql, id: string): Promise<boolean> {
  const dropped = await tx.run(
    `update mails
        set status = 'dropped', due_at = null, stale_at = null, data_sealed = null, to_address = null,
            lease_id = null, leased_until = null
      where id = $1 and due_at is not null and (leased_until is null or leased_until < clock_timestamp())`,
    [id],
  );
  return dropped === 1;
}

/** Makes the mails that wait for an unreachable mail server due now, because it accepts mail again. */
export async function retryUnreachableMails(tx: Sql, now: Date): Promise<void> {
  await tx.run(
    `update mails set due_at = $1, attempts = 0
      where due_at > $1 and fault = 'unreachable' and lease_id is null`,
    [now],
  );
}

/** Whether a mail is leased or due. */
export async function hasPendingMails(tx: Sql, now: Date): Promise<boolean> {
  const due = await nextDue(tx, 'mails');
  if (due !== null && due <= now) return true;
  const row = await tx.row<{ leased: boolean }>(
    `select exists (
       select from mails where lease_id is not null and leased_until > clock_timestamp()) as leased`,
  );
  return row?.leased ?? false;
}

export interface MailRecipientRow {
  readonly email: string;
  readonly openpgp_key: string | null;
  readonly openpgp_since: Date | null;
}

/**
 * Finds the recipient of a customer's mails, with their OpenPGP key. Undefined if the account is being
 * deleted.
 */
export async function findMailRecipient(tx: Sql, customerId: string): Promise<MailRecipientRow | undefined> {
  return await tx.row<MailRecipientRow>(
    `select email, openpgp_key, openpgp_since from customers where id = $1 and deleting_at is null`,
    [customerId],
  );
}
