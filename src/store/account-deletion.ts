/**
 * Deleting an account: what stands in its way, and its rows. The books (transfers, balance, top-ups, deposits) and, for their 90
 * days, the audit rows stay under the bare id.
 */
import type { Sql } from '../kernel/sql.ts';

export interface DeletionBlockers {
  readonly servers: bigint;
  /** Of them, under a legal hold. */
  readonly held: bigint;
  /** A payment is on its way or held back. */
  readonly paying: boolean;
}

/** What stands in the way. Exact under the lock of the customer's balance. */
export async function readDeletionBlockers(tx: Sql, customerId: string): Promise<DeletionBlockers> {
  const row = await tx.row<DeletionBlockers>(
    `select count(*) filter (where status <> 'destroying') as servers, count(*) filter (where held_at is not null) as held,
            exists (select from topups where customer_id = $1 and status = 'confirming') as paying
       from servers where customer_id = $1`,
    [customerId],
  );
  return row ?? { servers: 0n, held: 0n, paying: false };
}

/** False when it has begun before. */
export async function markDeleting(tx: Sql, customerId: string, now: Date): Promise<boolean> {
  const marked = await tx.run('update customers set deleting_at = $2 where id = $1 and deleting_at is null', [
    customerId,
    now,
  ]);
  return marked === 1;
}

/** Whether the account is being deleted, or was. */
export async function isDeletingCustomer(tx: Sql, customerId: string): Promise<boolean> {
  const row = await tx.row('select from customers where id = $1 and deleting_at is not null', [customerId]);
  return row !== undefined;
}

export interface DeletingCustomer {
  readonly email: string;
  /** Kept as it is until the operator unfreezes it. */
  readonly frozen_at: Date | null;
  readonly deleting_at: Date;
  readonly deleted_at: Date | null;
}

/** The customer whose account is being deleted, or was. */
export async function findDeletingCustomer(
  tx: Sql,
  customerId: string,
): Promise<DeletingCustomer | undefined> {
  return await tx.row<DeletingCustomer>(
    'select email, frozen_at, deleting_at, deleted_at from customers where id = $1 and deleting_at is not null',
    [customerId],
  );
}

/** The same, locked against everything that refers to the customer. */
export async function lockDeletingCustomer(
  tx: Sql,
  customerId: string,
): Promise<DeletingCustomer | undefined> {
  return await tx.row<DeletingCustomer>(
    'select email, frozen_at, deleting_at, deleted_at from customers where id = $1 and deleting_at is not null for update',
    [customerId],
  );
}

/** Ends every way in. */
export async function revokeAccess(tx: Sql, customerId: string): Promise<void> {
  await tx.run('delete from sessions where customer_id = $1', [customerId]);
  await tx.run('delete from console_tickets where customer_id = $1', [customerId]);
  await tx.run('delete from api_tokens where customer_id = $1', [customerId]);
  await tx.run('delete from mail_links where customer_id = $1', [customerId]);
  await tx.run('delete from totp_secrets where customer_id = $1', [customerId]);
}

/** Servers that are not being destroyed yet. */
export async function findRemainingServers(tx: Sql, customerId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from servers where customer_id = $1 and status <> 'destroying' order by id`,
    [customerId],
  );
  return rows.map(({ id }) => id);
}

/** Deletes what only rows are made of: keys, and the groups that no server has any more. */
export async function deleteKeysAndGroups(tx: Sql, customerId: string): Promise<void> {
  await tx.run('delete from ssh_keys where customer_id = $1', [customerId]);
  await tx.run(
    `delete from firewall_groups g where customer_id = $1
        and not exists (select from firewall_attachments a where a.group_id = g.id)`,
    [customerId],
  );
}

/** Marks detached volumes as deleted, as their customer would; those that have a disk to be removed. */
export async function softDeleteVolumes(tx: Sql, customerId: string, now: Date): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `with without_disk as (
       delete from volumes where customer_id = $1 and server_id is null and deleted_at is null and disk_gb = 0)
     update volumes set deleted_at = $2
      where customer_id = $1 and server_id is null and deleted_at is null and disk_gb > 0 returning id`,
    [customerId, now],
  );
  return rows.map(({ id }) => id);
}

/** Deletes the rows of snapshots that are not being made or restored; what is left of them is to be removed. */
export async function deleteIdleSnapshots(tx: Sql, customerId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `delete from snapshots n where customer_id = $1 and status <> 'creating'
        and not exists (select from operations o where o.snapshot_id = n.id) returning id`,
    [customerId],
  );
  return rows.map(({ id }) => id);
}

/** Ends uploads and hides images; the ids of the files that are to be removed. */
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

/** Forgets the images whose files are gone and that no server has any more. */
export async function purgeImages(tx: Sql, customerId: string): Promise<void> {
  await tx.run(
    `delete from images i where customer_id = $1 and deleted_at is not null and blob_key is null
        and not exists (select from servers s where s.customer_id = $1 and s.image_id = i.id)`,
    [customerId],
  );
}

/** Whether something still has to be removed from a machine or a disk. */
export async function hasRemainingResources(tx: Sql, customerId: string): Promise<boolean> {
  const row = await tx.row<{ standing: boolean }>(
    `select exists (select from servers where customer_id = $1)
         or exists (select from volumes where customer_id = $1)
         or exists (select from snapshots where customer_id = $1)
         or exists (select from image_uploads where customer_id = $1)
         or exists (select from images where customer_id = $1)
         or exists (select from firewall_groups where customer_id = $1) as standing`,
    [customerId],
  );
  return row?.standing ?? false;
}

/** Shown ids of the newest `most` subscriptions that the customer deleted since then: their deliveries may still be there. */
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

/** At most `limit` rows of the log of these subscriptions; how many there were. */
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

/** Ends the customer's subscriptions with their queues; which they were. */
export async function deleteWebhooks(tx: Sql, customerId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>('delete from webhooks where customer_id = $1 returning id', [
    customerId,
  ]);
  return rows.map(({ id }) => id);
}

/** Tables of which a customer may have any number of rows; `key` names one row, by the index on customers. */
const UNBOUNDED_TABLES = [
  { table: 'events', key: 'id', and: '' },
  { table: 'idempotency', key: 'key_digest', and: '' },
  // What tells the customer that all is gone is still to be sent.
  { table: 'mails', key: 'id', and: `and kind <> 'account_deleted'` },
] as const;

/** At most `limit` rows of each; how many there were. */
export async function deleteRecords(tx: Sql, customerId: string, limit: number): Promise<number> {
  let gone = 0;
  for (const { table, key, and } of UNBOUNDED_TABLES) {
    gone += await tx.run(
      `delete from ${table} where customer_id = $1 and ${key} in (
         select ${key} from ${table} where customer_id = $1 ${and} limit $2)`,
      [customerId, limit],
    );
  }
  // While one numbered event is left, the next one must not be given a number that is taken.
  await tx.run(
    `delete from event_counters where customer_id = $1 and not exists (select from events where customer_id = $1)`,
    [customerId],
  );
  return gone;
}

/** The row without a person in it; its former address may sign up anew. The caller has locked it. */
export async function anonymizeCustomer(tx: Sql, customerId: string, now: Date): Promise<void> {
  await tx.run(
    `update customers
        set email = 'deleted', email_key = 'deleted:' || id, email_confirmed_at = null, password_hash = '',
            recovery_digest = null, openpgp_key = null, openpgp_fingerprint = null, openpgp_since = null,
            deleted_at = $2
      where id = $1`,
    [customerId, now],
  );
}
