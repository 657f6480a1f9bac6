/** Customers: their credentials, their address and key, and what they and the operator see of the account. */
import type { Sql } from '../../kernel/sql.ts';

export interface CustomerRow {
  readonly id: string;
  readonly public_no: bigint;
  readonly email: string;
  readonly email_key: string;
  readonly email_confirmed_at: Date | null;
  readonly password_hash: string;
  readonly recovery_digest: Buffer | null;
  readonly openpgp_fingerprint: string | null;
  readonly frozen_at: Date | null;
  /** Deletion has begun: sign-in is refused. */
  readonly deleting_at: Date | null;
  readonly created_at: Date;
}

const COLUMNS = `id, public_no, email, email_key, email_confirmed_at, password_hash, recovery_digest,
  openpgp_fingerprint, frozen_at, deleting_at, created_at`;

/** Creates the customer with a balance of 0. Returns false when the email address already has an account. */
export async function insertCustomer(
  tx: Sql,
  row: {
    readonly id: string;
    readonly publicNo: bigint;
    readonly email: string;
    readonly emailKey: string;
    readonly passwordHash: string;
    readonly recoveryDigest: Buffer;
    readonly createdAt: Date;
  },
): Promise<boolean> {
  const created = await tx.run(
    `with made as (
       insert into customers (id, public_no, email, email_key, password_hash, recovery_digest, created_at)
       values ($id, $publicNo, $email, $emailKey, $passwordHash, $recoveryDigest, $createdAt)
       on conflict (email_key) do nothing
       returning id)
     insert into balances (customer_id) select id from made`,
    row,
  );
  return created === 1;
}

export async function findCustomerByEmail(tx: Sql, emailKey: string): Promise<CustomerRow | undefined> {
  return await tx.row<CustomerRow>(`select ${COLUMNS} from customers where email_key = $1`, [emailKey]);
}

export async function findCustomer(tx: Sql, id: string): Promise<CustomerRow | undefined> {
  return await tx.row<CustomerRow>(`select ${COLUMNS} from customers where id = $1`, [id]);
}

/** Finds the owner of a session by the digest of its cookie. */
export async function findCustomerBySession(tx: Sql, digest: Buffer): Promise<CustomerRow | undefined> {
  return await tx.row<CustomerRow>(
    `select ${COLUMNS} from customers where id = (select customer_id from sessions where digest = $1)`,
    [digest],
  );
}

/** Locks the row until the transaction ends, so that changes to credentials run one after another. */
export async function lockCustomer(tx: Sql, id: string): Promise<CustomerRow | undefined> {
  return await tx.row<CustomerRow>(`select ${COLUMNS} from customers where id = $1 for no key update`, [id]);
}

export async function updatePassword(tx: Sql, id: string, passwordHash: string): Promise<void> {
  await tx.run(`update customers set password_hash = $2 where id = $1`, [id, passwordHash]);
}

export async function updateRecovery(tx: Sql, id: string, recoveryDigest: Buffer): Promise<void> {
  await tx.run(`update customers set recovery_digest = $2 where id = $1`, [id, recoveryDigest]);
}

/** Sets the address and since when its mailbox is confirmed; null: not confirmed. */
export async function updateEmail(
  tx: Sql,
  id: string,
  email: { readonly address: string; readonly key: string; readonly confirmedAt: Date | null },
): Promise<void> {
  await tx.run(
    `update customers set email = $address, email_key = $key, email_confirmed_at = $confirmedAt
      where id = $id`,
    { ...email, id },
  );
}

/** Sets the current key; null removes it. An updated copy of the same key (a new expiry) keeps its age. */
export async function updateOpenPgpKey(
  tx: Sql,
  id: string,
  key: { readonly armored: string; readonly fingerprint: string } | null,
  now: Date,
): Promise<void> {
  await tx.run(
    `update customers
        set openpgp_key = $2, openpgp_fingerprint = $3,
            openpgp_since = case when $3::text is null then null
                                 when openpgp_fingerprint = $3 then openpgp_since else $4::timestamptz end
      where id = $1`,
    [id, key?.armored ?? null, key?.fingerprint ?? null, now],
  );
}

/** Removes the key if it was set after `since`. */
export async function removeOpenPgpKeySince(tx: Sql, id: string, since: Date): Promise<void> {
  await tx.run(
    `update customers set openpgp_key = null, openpgp_fingerprint = null, openpgp_since = null
      where id = $1 and openpgp_since > $2`,
    [id, since],
  );
}

/** Turns news by mail off since then, or on with null. Returns false if it is so already. */
export async function setNewsOff(tx: Sql, id: string, since: Date | null): Promise<boolean> {
  const changed = await tx.run(
    `update customers set news_off_at = $2::timestamptz
      where id = $1 and (news_off_at is null) <> ($2::timestamptz is null)`,
    [id, since],
  );
  return changed === 1;
}

export async function isNewsOff(tx: Sql, id: string): Promise<boolean> {
  return (
    (await tx.row('select from customers where id = $1 and news_off_at is not null', [id])) !== undefined
  );
}

export interface OwnAccountRow {
  readonly public_no: bigint;
  readonly email: string;
  readonly email_confirmed_at: Date | null;
  readonly openpgp_fingerprint: string | null;
  /** Whether a second factor is in use. */
  readonly totp: boolean;
  readonly balance_cents: bigint;
  readonly created_at: Date;
}

/** Reads the account as its owner sees it. */
export async function readOwnAccount(tx: Sql, id: string): Promise<OwnAccountRow | undefined> {
  return await tx.row<OwnAccountRow>(
    `select c.public_no, c.email, c.email_confirmed_at, c.openpgp_fingerprint, b.balance_cents, c.created_at,
            exists (select from totp_secrets t
                     where t.customer_id = c.id and t.confirmed_at is not null) as totp
       from customers c join balances b on b.customer_id = c.id where c.id = $1`,
    [id],
  );
}

interface AccountOfToken {
  readonly email: string;
  readonly frozen: boolean;
  readonly created_at: Date;
  readonly token_id: string;
  readonly token_name: string;
  readonly expires_at: Date | null;
}

/** Reads the account with one of its tokens. Undefined if the token was revoked. */
export async function readAccountOfToken(
  tx: Sql,
  customerId: string,
  tokenId: string | null,
): Promise<AccountOfToken | undefined> {
  return await tx.row<AccountOfToken>(
    `select c.email, c.frozen_at is not null as frozen, c.created_at,
            t.id as token_id, t.name as token_name, t.expires_at
       from customers c join api_tokens t on t.customer_id = c.id where c.id = $1 and t.id = $2`,
    [customerId, tokenId],
  );
}

/** Reads the fields of the session probe. */
export async function readSessionAccount(
  tx: Sql,
  id: string,
): Promise<
  { readonly public_no: bigint; readonly email: string; readonly balance_cents: bigint } | undefined
> {
  return await tx.row(
    `select c.public_no, c.email, b.balance_cents
       from customers c join balances b on b.customer_id = c.id where c.id = $1`,
    [id],
  );
}

/** Sets since when the panel's keyboard shortcuts are off; null: they are on. */
export async function setShortcutsOff(tx: Sql, customerId: string, since: Date | null): Promise<void> {
  await tx.run('update customers set shortcuts_off_at = $2 where id = $1', [customerId, since]);
}

/** Sets when the customer was frozen; null unfreezes. Returns false when nothing changes. */
export async function setCustomerFrozen(
  tx: Sql,
  customerId: string,
  frozenAt: Date | null,
): Promise<boolean> {
  const changed = await tx.run(
    'update customers set frozen_at = $2 where id = $1 and (frozen_at is null) <> ($2::timestamptz is null)',
    [customerId, frozenAt],
  );
  return changed === 1;
}

export interface CustomerOverview {
  readonly id: string;
  readonly email: string;
  readonly email_confirmed_at: Date | null;
  readonly has_openpgp_key: boolean;
  /** When the second factor was enabled, or null. */
  readonly totp_since: Date | null;
  readonly frozen_at: Date | null;
  readonly deleting_at: Date | null;
  readonly created_at: Date;
  readonly balance_cents: bigint;
  readonly servers: bigint;
  readonly suspended: bigint;
  readonly held: bigint;
  readonly volumes: bigint;
  readonly snapshots: bigint;
  readonly tokens: bigint;
  readonly sessions: bigint;
  /** Payments that are confirming or withheld. */
  readonly payments: bigint;
}

/** Reads the summary that an operator sees of a customer. Quotas bound what it counts. */
export async function readCustomerOverview(
  tx: Sql,
  customerId: string,
): Promise<CustomerOverview | undefined> {
  return await tx.row<CustomerOverview>(
    `select c.id, c.email, c.email_confirmed_at, c.openpgp_key is not null as has_openpgp_key, c.frozen_at,
            (select confirmed_at from totp_secrets t where t.customer_id = c.id) as totp_since,
            c.deleting_at, c.created_at, b.balance_cents, s.servers, s.suspended, s.held,
            (select count(*) from volumes v where v.customer_id = c.id and deleted_at is null) as volumes,
            (select count(*) from snapshots n where n.customer_id = c.id) as snapshots,
            (select count(*) from api_tokens t where t.customer_id = c.id) as tokens,
            (select count(*) from sessions e where e.customer_id = c.id) as sessions,
            (select count(*) from topups p where p.customer_id = c.id and status = 'confirming') as payments
       from customers c join balances b on b.customer_id = c.id,
            lateral (select count(*) as servers, count(*) filter (where status = 'suspended') as suspended,
                            count(*) filter (where held_at is not null) as held
                       from servers where customer_id = c.id) as s
      where c.id = $1`,
    [customerId],
  );
}
