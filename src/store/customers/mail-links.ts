/** Single-use links in mails. Only a digest of each token is stored. */
import type { Sql } from '../../kernel/sql.ts';
import type { MailKind } from '../../spec/mails/kinds.ts';

/** The purpose of a link: see `src/store/migrations/0017_accounts.sql`. */
export type LinkPurpose = 'confirm' | 'change' | 'reset' | 'undo';

export interface MailLinkRow {
  readonly digest: Buffer;
  readonly customer_id: string;
  readonly purpose: LinkPurpose;
  /** The address that it was created for. */
  readonly email: string;
  readonly email_key: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly used_at: Date | null;
  /** Incorrect one-time codes. */
  readonly wrong_codes: number;
}

const COLUMNS =
  'digest, customer_id, purpose, email, email_key, created_at, expires_at, used_at, wrong_codes';
const SWEEP_BATCH = 100;

/** Inserts the link, and deletes some that expired before `forgetBefore`. */
export async function insertMailLink(
  tx: Sql,
  row: Omit<MailLinkRow, 'used_at' | 'wrong_codes'>,
  forgetBefore: Date,
): Promise<void> {
  await tx.run(
    `with swept as (
       delete from mail_links where digest in (
         select digest from mail_links where expires_at <= $forgetBefore
          order by expires_at limit ${SWEEP_BATCH} for update skip locked))
     insert into mail_links (digest, customer_id, purpose, email, email_key, created_at, expires_at)
     values ($digest, $customer_id, $purpose, $email, $email_key, $created_at, $expires_at)`,
    { ...row, forgetBefore },
  );
}

/** Returns undefined when the link does not exist or was invalidated. */
export async function findMailLink(tx: Sql, digest: Buffer): Promise<MailLinkRow | undefined> {
  return await tx.row<MailLinkRow>(`select ${COLUMNS} from mail_links where digest = $1 and not dropped`, [
    digest,
  ]);
}

export async function markLinkUsed(tx: Sql, digest: Buffer, now: Date): Promise<void> {
  await tx.run(`update mail_links set used_at = $2 where digest = $1`, [digest, now]);
}

/** Counts an incorrect code. The caller holds the customer's lock. */
export async function incrementLinkWrongCodes(tx: Sql, digest: Buffer): Promise<void> {
  await tx.run(`update mail_links set wrong_codes = wrong_codes + 1 where digest = $1`, [digest]);
}

/**
 * Invalidates the customer's unused links of these purposes. Their rows stay, because they count for rate
 * limits.
 */
export async function invalidateLinks(
  tx: Sql,
  customerId: string,
  purposes: readonly LinkPurpose[],
): Promise<void> {
  await tx.run(
    `update mail_links set dropped = true
      where customer_id = $1 and purpose = any($2::text[]) and used_at is null and not dropped`,
    [customerId, purposes],
  );
}

/** Invalidates every link created for the customer since `since`, except one. */
export async function invalidateLinksSince(
  tx: Sql,
  customerId: string,
  since: Date,
  except: Buffer,
): Promise<void> {
  await tx.run(
    `update mail_links set dropped = true
      where customer_id = $1 and created_at >= $2 and digest <> $3 and not dropped`,
    [customerId, since, except],
  );
}

/** Lists when recent links were created for one account, and for one address; oldest first. */
export async function listRecentLinks(
  tx: Sql,
  owner: { readonly customerId: string; readonly emailKey: string },
  since: Date,
): Promise<{ readonly of_account: Date[]; readonly to_address: Date[] }> {
  const createdAt = (column: string, value: string) =>
    `array(select created_at from mail_links
            where ${column} = ${value} and created_at > $3 and purpose <> 'undo' order by created_at)`;
  const row = await tx.row<{ of_account: Date[]; to_address: Date[] }>(
    `select ${createdAt('customer_id', '$1')} as of_account, ${createdAt('email_key', '$2')} as to_address`,
    [owner.customerId, owner.emailKey, since],
  );
  return row ?? { of_account: [], to_address: [] };
}

/** Whether the owner of another account may still undo a change away from this address. */
export async function isReservedForOwner(
  tx: Sql,
  emailKey: string,
  customerId: string | null,
  now: Date,
): Promise<boolean> {
  const row = await tx.row(
    `select from mail_links where email_key = $1 and purpose = 'undo' and used_at is null and not dropped
        and expires_at > $3 and customer_id is distinct from $2 limit 1`,
    [emailKey, customerId, now],
  );
  return row !== undefined;
}

/** Returns the address that the account will have once its link is used. */
export async function findPendingEmail(tx: Sql, customerId: string, now: Date): Promise<string | undefined> {
  const row = await tx.row<{ email: string }>(
    `select email from mail_links
      where customer_id = $1 and purpose = 'change' and used_at is null and not dropped and expires_at > $2
      order by created_at desc limit 1`,
    [customerId, now],
  );
  return row?.email;
}

/** Counts the mails of one kind sent to the customer since then, up to `limit`. */
export async function countMailsSince(
  tx: Sql,
  mails: { readonly customerId: string; readonly kind: MailKind; readonly since: Date },
  limit: number,
): Promise<number> {
  const row = await tx.row<{ count: bigint }>(
    `select count(*) from (
       select from mails where customer_id = $1 and created_at > $3 and kind = $2 limit $4) as sent`,
    [mails.customerId, mails.kind, mails.since, limit],
  );
  return Number(row?.count ?? 0n);
}

// ---- password reset requests, until a worker has looked up their accounts

export interface ResetRequestRow {
  readonly id: string;
  readonly email_sealed: string;
  readonly ip_country: string;
  readonly requested_at: Date;
}

/** Returns false when `limit` requests are already waiting. */
export async function insertResetRequest(tx: Sql, row: ResetRequestRow, limit: number): Promise<boolean> {
  const inserted = await tx.run(
    `insert into reset_requests (id, email_sealed, ip_country, requested_at)
     select $1, $2, $3, $4
      where (select count(*) from (select from reset_requests limit $5) as waiting) < $5`,
    [row.id, row.email_sealed, row.ip_country, row.requested_at, limit],
  );
  return inserted === 1;
}

export async function findResetRequest(tx: Sql, id: string): Promise<ResetRequestRow | undefined> {
  return await tx.row<ResetRequestRow>(
    `select id, email_sealed, ip_country, requested_at from reset_requests where id = $1`,
    [id],
  );
}

/** Returns false when another worker has already handled it. */
export async function deleteResetRequest(tx: Sql, id: string): Promise<boolean> {
  return (await tx.run(`delete from reset_requests where id = $1`, [id])) === 1;
}
