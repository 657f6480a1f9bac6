/**
 * Task `account_delete`: takes down what an account has, step by step. Each step looks at what is there and may run twice; what
 * takes a machine's time is left to its own work and looked at again. When nothing stands any more, the person is forgotten.
 * Once more afterwards, because a request that was let in before may have written something since.
 */
import { crashPoint } from '../../../kernel/crash.ts';
import { readId, showId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import {
  deleteAccess,
  deleteBelongings,
  deleteDeliveries,
  deleteRecords,
  deleteWebhooks,
  dropSnapshots,
  findDeletedWebhooks,
  findLeaving,
  findStandingServers,
  forgetImages,
  hideImages,
  hideVolumes,
  isStanding,
} from '../../../store/account-deletion.ts';
import { lockServer } from '../../../store/servers.ts';
import { enqueueTasks } from '../../../store/tasks.ts';
import type { Service } from '../../context.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { beginRemoval } from '../../servers/destroy.ts';
import { forgetCustomer } from './forget.ts';

/** Rows of one statement: none holds a lock for long. */
const BATCH = 1_000;
const DELETED_WEBHOOKS_MAX = 1_000;
/** Of real time: then others have their turn. */
const RUN_MAX_MS = 2_000;
/** No request is under way for so long. */
const LAST_LOOK_MS = 2 * MINUTE_MS;

type Result = 'done' | { readonly againMs: number };

export async function takeDownAccount(service: Service, customerId: string): Promise<Result> {
  const leaving = await findLeaving(service.db, customerId);
  if (!leaving) return 'done';
  const waitedMs = service.clock.now().getTime() - leaving.deleting_at.getTime();
  if (leaving.frozen_at !== null) return { againMs: waitMs(waitedMs) };
  await service.db.transaction((tx) => deleteAccess(tx, customerId));
  for (const id of await findStandingServers(service.db, customerId)) await destroy(service, id);
  await service.db.transaction((tx) => removeBelongings(tx, customerId, service.clock.now()));
  crashPoint('account.belongings_removed');
  if (await isStanding(service.db, customerId)) return { againMs: waitMs(waitedMs) };
  if (!(await removeRecords(service, customerId))) return { againMs: 0 };
  if (leaving.deleted_at !== null) return 'done';
  const forgotten = await forgetCustomer(service, customerId);
  return { againMs: forgotten ? LAST_LOOK_MS : SECOND_MS };
}

/** Soon at first; one that a broken host keeps waiting is looked at once a day. */
function waitMs(waitedMs: number): number {
  return Math.min(Math.max(SECOND_MS / 2, waitedMs / 4), DAY_MS);
}

/** Begins the removal of a server, unless the law wants it. */
async function destroy(service: Service, id: string): Promise<void> {
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, id);
    if (!server || server.status === 'destroying' || server.held_at !== null) return;
    const now = service.clock.now();
    await beginRemoval(tx, server, now);
    const { customer_id: customerId } = server;
    const resource = showId('server', id);
    await recordAudit(tx, { actor: systemActor(now), action: 'server.destroy', resource, customerId }, now);
  });
}

/** What is made of rows goes; what has a disk or a file is hidden, and its own task removes it. */
async function removeBelongings(tx: Sql, customerId: string, now: Date): Promise<void> {
  await deleteBelongings(tx, customerId);
  await endWebhooks(tx, customerId, now);
  await enqueueTasks(tx, { kind: 'volume', subjects: await hideVolumes(tx, customerId, now), now });
  await enqueueTasks(tx, { kind: 'snapshot', subjects: await dropSnapshots(tx, customerId), now });
  await enqueueTasks(tx, { kind: 'image_remove', subjects: await hideImages(tx, customerId, now), now });
  await forgetImages(tx, customerId);
}

/** Ends the subscriptions. What is sent at this moment may still be logged: their audit rows say where to look. */
async function endWebhooks(tx: Sql, customerId: string, now: Date): Promise<void> {
  for (const id of await deleteWebhooks(tx, customerId)) {
    const resource = showId('webhook', id);
    await recordAudit(tx, { actor: systemActor(now), action: 'webhook.delete', resource, customerId }, now);
  }
}

/** Deliveries, events, kept answers, mails: any number, in batches; false when time was up first. */
async function removeRecords({ db, clock }: Service, customerId: string): Promise<boolean> {
  const deadline = Date.now() + RUN_MAX_MS;
  const since = new Date(clock.now().getTime() - (LIMITS.deliveryLogDays + 1) * DAY_MS);
  const shown = await findDeletedWebhooks(db, customerId, since, DELETED_WEBHOOKS_MAX);
  const webhooks = shown.flatMap((id) => readId('webhook', id) ?? []);
  for (;;) {
    const deliveries = await deleteDeliveries(db, customerId, webhooks, BATCH);
    if (deliveries + (await deleteRecords(db, customerId, BATCH)) === 0) return true;
    if (Date.now() >= deadline) return false;
  }
}
