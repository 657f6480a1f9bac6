/**
 * Task `account_delete`: removes an account's resources in steps. Every step looks at the current state and
 * may run twice. Removals on machines run in their own jobs and are checked again later. Once nothing is
 * left, the customer is anonymized. One final run follows, because a request admitted earlier may have
 * written something since.
 */
import { formatId, parseId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import {
  anonymizeCustomer,
  deleteDeliveries,
  deleteIdleSnapshots,
  deleteKeysAndGroups,
  deleteRecords,
  deleteWebhooks,
  findDeletedWebhooks,
  findDeletingCustomer,
  findRemainingServers,
  hasRemainingResources,
  lockDeletingCustomer,
  purgeImages,
  revokeAccess,
  softDeleteImages,
  softDeleteVolumes,
} from '../../../store/customers/deletion.ts';
import { shortenAssignments } from '../../../store/inventory/address-history.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import { deleteFloodsOf } from '../../../store/servers/floods.ts';
import { lockServer } from '../../../store/servers/servers.ts';
import { forgetReportsOf } from '../../../store/staff/abuse.ts';
import { enqueueTasks, type TaskResult } from '../../../store/tasks.ts';
import type { Service } from '../../context.ts';
import { charge } from '../../ledger/transfer.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { startRemoval } from '../../servers/operations/destroy.ts';

/** Rows per statement, so that none holds a lock for long. */
const BATCH = 1_000;
const DELETED_WEBHOOKS_MAX = 1_000;
/** In real time, so that other tasks are not blocked. */
const RUN_MAX_MS = 2_000;
/** Longer than any request runs. */
const FINAL_CHECK_MS = 2 * MINUTE_MS;

export async function tearDownAccount(service: Service, customerId: string): Promise<TaskResult> {
  const leaving = await findDeletingCustomer(service.db, customerId);
  if (!leaving) return 'done';
  const waitedMs = service.clock.now().getTime() - leaving.deleting_at.getTime();
  if (leaving.frozen_at !== null) return { againMs: recheckDelayMs(waitedMs) };
  await service.db.transaction((tx) => revokeAccess(tx, customerId));
  for (const id of await findRemainingServers(service.db, customerId)) await startServerRemoval(service, id);
  await service.db.transaction((tx) => removeBelongings(tx, customerId, service.clock.now()));
  if (await hasRemainingResources(service.db, customerId)) return { againMs: recheckDelayMs(waitedMs) };
  if (!(await removeRecords(service, customerId))) return { againMs: 0 };
  if (leaving.deleted_at !== null) return 'done';
  const forgotten = await forgetCustomer(service, customerId);
  return { againMs: forgotten ? FINAL_CHECK_MS : SECOND_MS };
}

/** Soon at first, then less often, up to once a day for a server on a broken host. */
function recheckDelayMs(waitedMs: number): number {
  return Math.min(Math.max(SECOND_MS / 2, waitedMs / 4), DAY_MS);
}

/** Starts the removal of a server, unless it is under a legal hold. */
async function startServerRemoval(service: Service, id: string): Promise<void> {
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, id);
    if (!server || server.status === 'destroying' || server.held_at !== null) return;
    const now = service.clock.now();
    await startRemoval(tx, server, { now });
    const { customer_id: customerId } = server;
    const resource = formatId('server', id);
    await recordAudit(tx, { actor: systemActor(now), action: 'server.destroy', resource, customerId }, now);
  });
}

/** Deletes plain rows. Resources with a disk or file are hidden, and their own tasks remove them. */
async function removeBelongings(tx: Sql, customerId: string, now: Date): Promise<void> {
  await forgetReportsOf(tx, customerId, now);
  await deleteKeysAndGroups(tx, customerId);
  await removeWebhooks(tx, customerId, now);
  await enqueueTasks(tx, { kind: 'volume', subjects: await softDeleteVolumes(tx, customerId, now), now });
  await enqueueTasks(tx, { kind: 'snapshot', subjects: await deleteIdleSnapshots(tx, customerId), now });
  await enqueueTasks(tx, {
    kind: 'image_remove',
    subjects: await softDeleteImages(tx, customerId, now),
    now,
  });
  await purgeImages(tx, customerId);
}

/**
 * Deletes the webhooks. A delivery in flight may still be logged; the audit rows are the record of which to
 * clean up.
 */
async function removeWebhooks(tx: Sql, customerId: string, now: Date): Promise<void> {
  for (const id of await deleteWebhooks(tx, customerId)) {
    const resource = formatId('webhook', id);
    await recordAudit(tx, { actor: systemActor(now), action: 'webhook.delete', resource, customerId }, now);
  }
}

/** Deletes deliveries, events, saved responses, and mails in batches; returns false if the time ran out. */
async function removeRecords({ db, clock }: Service, customerId: string): Promise<boolean> {
  const deadline = performance.now() + RUN_MAX_MS;
  const since = new Date(clock.now().getTime() - (LIMITS.deliveryRetentionDays + 1) * DAY_MS);
  const shown = await findDeletedWebhooks(db, customerId, since, DELETED_WEBHOOKS_MAX);
  const webhooks = shown.flatMap((id) => parseId('webhook', id) ?? []);
  for (;;) {
    const deliveries = await deleteDeliveries(db, customerId, webhooks, BATCH);
    if (deliveries + (await deleteRecords(db, customerId, BATCH)) === 0) return true;
    if (performance.now() >= deadline) return false;
  }
}

/**
 * Completes an account deletion: forfeits the balance, anonymizes the row, and queues the last mail.
 * Returns false if resources remain.
 */
export async function forgetCustomer(service: Service, customerId: string): Promise<boolean> {
  return await service.db.transaction(async (tx) => {
    const leaving = await lockDeletingCustomer(tx, customerId);
    if (!leaving || leaving.frozen_at !== null || leaving.deleted_at !== null) return false;
    if (await hasRemainingResources(tx, customerId)) return false;
    const now = service.clock.now();
    await forfeitBalance(tx, customerId, now);
    await anonymizeCustomer(tx, customerId, now);
    await deleteFloodsOf(tx, customerId);
    const keptUntil = new Date(now.getTime() + LIMITS.auditRetentionDays * DAY_MS);
    await shortenAssignments(tx, customerId, keptUntil);
    const mail = { customerId, kind: 'account_deleted', cause: `account:${customerId}` } as const;
    await enqueueMail(tx, { ...mail, to: leaving.email, data: { deletedAt: now } }, now, service.keys);
    const entry = { actor: systemActor(now), action: 'customer.forget', resource: null, customerId } as const;
    await recordAudit(tx, entry, now);
    return true;
  });
}

/** Forfeits a positive balance. A debt, which only a reversal can cause, stays in the books. */
async function forfeitBalance(tx: Sql, customerId: string, now: Date): Promise<void> {
  const amountCents = (await lockBalance(tx, customerId)) ?? 0n;
  if (amountCents <= 0n) return;
  const movement = { customerId, account: 'adjustments', amountCents, type: 'adjustment' } as const;
  const description = 'Forfeited with the deleted account';
  await charge(tx, { ...movement, description, fact: `forfeit:${customerId}` }, now);
}
