/**
 * Deleting an account: what blocks it, and the rows to delete. The books (transfers, balance, top-ups,
 * deposits) and, for their 90 days, the audit rows and the address history are kept under the bare id.
 */
import type { Sql } from '../../kernel/sql.ts';

export interface DeletionBlockers {
  readonly servers: bigint;
  /** How many of them are under a legal hold. */
  readonly held: bigint;
  /** Whether a payment is confirming or withheld. */
  readonly paying: boolean;
}

/** Reads what blocks the deletion. Exact while the caller holds the lock on the customer's balance. */
export async function readDeletionBlockers(tx: Sql, customerId: string): Promise<DeletionBlockers> {
  const row = await tx.row<DeletionBlockers>(
    `select count(*) filter (where status <> 'destroying') as servers,
            count(*) filter (where held_at is not null) as held,
            exists (select from topups where customer_id = $1 and status = 'confirming') as paying
       from servers where customer_id = $1`,
    [customerId],
  );
  return row ?? { servers: 0n, held: 0n, paying: false };
}

/** Returns false when the deletion had already begun. */
export async function markDeleting(tx: Sql, customerId: string, now: Date): Promise<boolean> {
  const marked = await tx.run('update customers set deleting_at = $2 where id = $1 and deleting_at is null', [
    customerId,
    now,
  ]);
  return marked === 1;
}

/** Whether the account is being deleted, or was deleted. */
export async function isDeletingCustomer(tx: Sql, customerId: string): Promise<boolean> {
  const row = await tx.row('select from customers where id = $1 and deleting_at is not null', [customerId]);
  return row !== undefined;
}

export interface DeletingCustomer {
  readonly email: string;
  /** A frozen account stays unchanged until the operator unfreezes it. */
  readonly frozen_at: Date | null;
  readonly deleting_at: Date;
  readonly deleted_at: Date | null;
}

const FIND_DELETING = `select email, frozen_at, deleting_at, deleted_at from customers
  where id = $1 and deleting_at is not null`;

/** Finds a customer whose account is being deleted, or was deleted. */
export async function findDeletingCustomer(
  tx: Sql,
  customerId: string,
): Promise<DeletingCustomer | undefined> {
  return await tx.row<DeletingCustomer>(FIND_DELETING, [customerId]);
}

/** Does the same, and locks the row against everything that refers to the customer. */
export async function lockDeletingCustomer(
  tx: Sql,
  customerId: string,
): Promise<DeletingCustomer | undefined> {
  return await tx.row<DeletingCustomer>(`${FIND_DELETING} for update`, [customerId]);
}

/** Revokes all access: sessions, tokens, tickets, links and the second factor. */
export async function revokeAccess(tx: Sql, customerId: string): Promise<void> {
  await tx.run('delete from sessions where customer_id = $1', [customerId]);
  await tx.run('delete from console_tickets where customer_id = $1', [customerId]);
  await tx.run('delete from api_tokens where customer_id = $1', [customerId]);
  await tx.run('delete from mail_links where customer_id = $1', [customerId]);
  await tx.run('delete from totp_secrets where customer_id = $1', [customerId]);
  await tx.run('delete from passkeys where customer_id = $1', [customerId]);
}

/** Returns the servers that are not being destroyed yet. */
export async function findRemainingServers(tx: Sql, customerId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from servers where customer_id = $1 and status <> 'destroying' order by id`,
    [customerId],
  );
  return rows.map(({ id }) => id);
}

/** Deletes keys, alerts, preferences, coupon uses, places in mailings, tickets, notes, and unused groups. */
export async function deleteKeysAndGroups(tx: Sql, customerId: string): Promise<void> {
  await tx.run('delete from ssh_keys where customer_id = $1', [customerId]);
  await tx.run('delete from alerts where customer_id = $1', [customerId]);
  await tx.run('delete from saved_filters where customer_id = $1', [customerId]);
  await tx.run('delete from order_drafts where customer_id = $1', [customerId]);
  await tx.run('delete from announcement_dismissals where customer_id = $1', [customerId]);
  await tx.run('delete from mailing_recipients where customer_id = $1', [customerId]);
  await tx.run('delete from coupon_redemptions where customer_id = $1', [customerId]);
  await tx.run('delete from tickets where customer_id = $1', [customerId]);
  await tx.run('delete from customer_notes where customer_id = $1', [customerId]);
  await tx.run('delete from customer_tags where customer_id = $1', [customerId]);
  await tx.run(
    `delete from firewall_groups g where customer_id = $1
        and not exists (select from firewall_attachments a where a.group_id = g.id)`,
    [customerId],
  );
}

/**
 * Marks detached volumes as deleted, as the customer would. Returns those whose disk is still to be removed.
 */
export async function softDeleteVolumes(tx: Sql, customerId: string, now: Date): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `with without_disk as (
       delete from volumes where customer_id = $1 and server_id is null and deleted_at is null
         and disk_gb = 0)
     update volumes set deleted_at = $2
      where customer_id = $1 and server_id is null and deleted_at is null and disk_gb > 0 returning id`,
    [customerId, now],
  );
  return rows.map(({ id }) => id);
}

/**
 * Deletes snapshots that are not being created or restored. Returns their ids: their data is still to be
 * removed.
 */
export async function deleteIdleSnapshots(tx: Sql, customerId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `delete from snapshots n where customer_id = $1 and status <> 'creating'
        and not exists (select from operations o where o.snapshot_id = n.id) returning id`,
    [customerId],
  );
  return rows.map(({ id }) => id);
}

/** Cancels uploads and hides images. Returns the ids whose files are to be removed. */
export async function softDeleteImages(tx: Sql, customerId: string, now: Date): Promise<string[]> {
  const uploads = await tx.rows<{ id: string }>(
    'delete from image_uploads where customer_id = $1 returning id',
    [customerId],
  );
  const images = await tx.rows<{ id: string }>(
    'update images set deleted_at = $2 where customer_id = $1 and deleted_at is null returning id',
    [customerId, now],
  );
  return [...uploads, ...images].map(({ id }) => id);
}

/** Deletes the image rows whose files are removed and that no server uses. */
export async function purgeImages(tx: Sql, customerId: string): Promise<void> {
  await tx.run(
    `delete from images i where customer_id = $1 and deleted_at is not null and blob_key is null
        and not exists (select from servers s where s.customer_id = $1
                          and (s.image_id = i.id or s.iso_image_id = i.id))`,
    [customerId],
  );
}

/** Whether machines, disks or files of the customer still have to be removed. */
export async function hasRemainingResources(tx: Sql, customerId: string): Promise<boolean> {
  const row = await tx.row<{ remaining: boolean }>(
    `select exists (select from servers where customer_id = $1)
         or exists (select from volumes where customer_id = $1)
         or exists (select from snapshots where customer_id = $1)
         or exists (select from image_uploads where customer_id = $1)
         or exists (select from images where customer_id = $1)
         or exists (select from firewall_groups where customer_id = $1) as remaining`,
    [customerId],
  );
  return row?.remaining ?? false;
}

/**
 * Returns the shown ids of the newest `limit` webhooks that the customer deleted since then: their deliveries
 * may still exist.
 */
export async function findDeletedWebhooks(
  tx: Sql,
  customerId: string,
  since: Date,
  limit: number,
): Promise<string[]> {
  const rows = await tx.rows<{ resource: string | null }>(
    `select resource from audit_events
      where customer_id = $1 and action = 'webhook.delete' and created_at >= $2
      order by created_at desc nulls last, id desc nulls last limit $3`,
    [customerId, since, limit],
  );
  return rows.flatMap(({ resource }) => resource ?? []);
}

/** Deletes at most `limit` deliveries of these webhooks. Returns how many. */
export async function deleteDeliveries(
  tx: Sql,
  customerId: string,
  webhookIds: readonly string[],
  limit: number,
): Promise<number> {
  return await tx.run(
    `delete from deliveries where id in (
       select id from deliveries where webhook_id = any($2::uuid[]) and customer_id = $1 limit $3)`,
    [customerId, webhookIds, limit],
  );
}

/** Deletes the customer's webhooks with their queues. Returns their ids. */
export async function deleteWebhooks(tx: Sql, customerId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>('delete from webhooks where customer_id = $1 returning id', [
    customerId,
  ]);
  return rows.map(({ id }) => id);
}

/** Tables in which a customer may have any number of rows; `key` names one row, on an index by customer. */
const UNBOUNDED_TABLES = [
  { table: 'events', key: 'id', and: '' },
  { table: 'actions', key: 'id', and: '' },
  { table: 'idempotency', key: 'key_digest', and: '' },
  // The mail that confirms the deletion is still to be sent.
  { table: 'mails', key: 'id', and: `and kind <> 'account_deleted'` },
] as const;

/** Deletes at most `limit` rows of each. Returns how many. */
export async function deleteRecords(tx: Sql, customerId: string, limit: number): Promise<number> {
  let deleted = 0;
  for (const { table, key, and } of UNBOUNDED_TABLES) {
    deleted += await tx.run(
      `delete from ${table} where customer_id = $1 and ${key} in (
         select ${key} from ${table} where customer_id = $1 ${and} limit $2)`,
      [customerId, limit],
    );
  }
  // While a numbered event is left, the next one must not reuse its number.
  await tx.run(
    `delete from event_counters where customer_id = $1
        and not exists (select from events where customer_id = $1)`,
    [customerId],
  );
  return deleted;
}

/**
 * Removes all personal data from the row; its former address may sign up again. The caller holds its lock.
 */
export async function anonymizeCustomer(tx: Sql, customerId: string, now: Date): Promise<void> {
  await tx.run(
    `update customers
        set email = 'deleted', email_key = 'deleted:' || id, email_confirmed_at = null, password_hash = '',
            recovery_digest = null, openpgp_key = null, openpgp_fingerprint = null, openpgp_since = null,
            news_off_at = null, deleted_at = $2
      where id = $1`,
    [customerId, now],
  );
  await tx.run('update balances set own_limits = null where customer_id = $1', [customerId]);
}
