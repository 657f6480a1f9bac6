/**
 * Task `account_delete`: takes down what an account has, step by step. Each step looks at what is there and may run twice; what
 * takes a machine's time is left to its own work and looked at again. When nothing stands any more, the person is forgotten.
 * Once more afterwards, because a request that was let in before may have written something since.
 */
import { crashPoint } from '../../../kernel/crash.ts';
import { formatId, parseId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import {
  deleteDeliveries,
  deleteIdleSnapshots,
  deleteKeysAndGroups,
  deleteRecords,
  deleteWebhooks,
  findDeletedWebhooks,
  findDeletingCustomer,
  findRemainingServers,
  hasRemainingResources,
  purgeImages,
  revokeAccess,
  softDeleteImages,
  softDeleteVolumes,
} from '../../../store/account-deletion.ts';
import { lockServer } from '../../../store/servers.ts';
import { enqueueTasks } from '../../../store/tasks.ts';
import type { Service } from '../../context.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { startRemoval } from '../../servers/destroy.ts';
import { forgetCustomer } from './forget.ts';

/** Rows of one statement: none holds a lock for long. */
const BATCH = 1_000;
const DELETED_WEBHOOKS_MAX = 1_000;
/** Of real time: then others have their turn. */
const RUN_MAX_MS = 2_000;
/** No request is under way for so long. */
const FINAL_CHECK_MS = 2 * MINUTE_MS;

type TearDownResult = 'done' | { readonly againMs: number };

export async function tearDownAccount(service: Service, customerId: string): Promise<TearDownResult> {
  const leaving = await findDeletingCustomer(service.db, customerId);
  if (!leaving) return 'done';
  const waitedMs = service.clock.now().getTime() - leaving.deleting_at.getTime();
  if (leaving.frozen_at !== null) return { againMs: recheckDelayMs(waitedMs) };
  await service.db.transaction((tx) => revokeAccess(tx, customerId));
  for (const id of await findRemainingServers(service.db, customerId)) await startServerRemoval(service, id);
  await service.db.transaction((tx) => removeBelongings(tx, customerId, service.clock.now()));
  crashPoint('account.belongings_removed');
  if (await hasRemainingResources(service.db, customerId)) return { againMs: recheckDelayMs(waitedMs) };
  if (!(await removeRecords(service, customerId))) return { againMs: 0 };
  if (leaving.deleted_at !== null) return 'done';
  const forgotten = await forgetCustomer(service, customerId);
  return { againMs: forgotten ? FINAL_CHECK_MS : SECOND_MS };
}

/** Soon at first; one that a broken host keeps waiting is looked at once a day. */
function recheckDelayMs(waitedMs: number): number {
  return Math.min(Math.max(SECOND_MS / 2, waitedMs / 4), DAY_MS);
}

/** Begins the removal of a server, unless the law wants it. */
async function startServerRemoval(service: Service, id: string): Promise<void> {
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, id);
    if (!server || server.status === 'destroying' || server.held_at !== null) return;
    const now = service.clock.now();
    await startRemoval(tx, server, now);
    const { customer_id: customerId } = server;
    const resource = formatId('server', id);
    await recordAudit(tx, { actor: systemActor(now), action: 'server.destroy', resource, customerId }, now);
  });
}

/** What is made of rows goes; what has a disk or a file is hidden, and its own task removes it. */
async function removeBelongings(tx: Sql, customerId: string, now: Date): Promise<void> {
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

/** Ends the subscriptions. What is sent at this moment may still be logged: their audit rows say where to look. */
async function removeWebhooks(tx: Sql, customerId: string, now: Date): Promise<void> {
  for (const id of await deleteWebhooks(tx, customerId)) {
    const resource = formatId('webhook', id);
    await recordAudit(tx, { actor: systemActor(now), action: 'webhook.delete', resource, customerId }, now);
  }
}

/** Deliveries, events, kept answers, mails: any number, in batches; false when time was up first. */
async function removeRecords({ db, clock }: Service, customerId: string): Promise<boolean> {
  const deadline = Date.now() + RUN_MAX_MS;
  const since = new Date(clock.now().getTime() - (LIMITS.deliveryRetentionDays + 1) * DAY_MS);
  const shown = await findDeletedWebhooks(db, customerId, since, DELETED_WEBHOOKS_MAX);
  const webhooks = shown.flatMap((id) => parseId('webhook', id) ?? []);
  for (;;) {
    const deliveries = await deleteDeliveries(db, customerId, webhooks, BATCH);
    if (deliveries + (await deleteRecords(db, customerId, BATCH)) === 0) return true;
    if (Date.now() >= deadline) return false;
  }
}
