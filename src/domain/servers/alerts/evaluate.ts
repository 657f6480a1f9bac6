/**
 * Evaluates alerts: finds what changes about their firing, and records each change once. The changes of a
 * customer are found again under the lock of the alerts, so that processes that evaluate at the same time, or
 * a repeated run, record none twice.
 */
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { HOUR_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { countMailsSince } from '../../../store/customers/mail-links.ts';
import {
  deleteFirings,
  type FiringChange,
  findFiringChanges,
  insertFirings,
  listAlertCustomers,
  lockAlerts,
  lockFreeServers,
} from '../../../store/servers/firings.ts';
import type { Service } from '../../context.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import { FiringRecorder } from './record.ts';

/** Customers whose alerts are compared in one statement. */
const BATCH_SIZE = 50;
/** Changes of a batch, and of a customer in one commit. More follow in the next run. */
const CHANGES_MAX = 500;

/** Evaluates the alerts of all customers. Yields how many changed with each customer, and 0 for a batch. */
export async function* evaluateAlerts(service: Service): AsyncGenerator<number> {
  for (let after: string | null = null; ; ) {
    const customers: readonly string[] = await listAlertCustomers(service.db, { after, limit: BATCH_SIZE });
    const found = await findFiringChanges(service.db, {
      customers,
      now: service.clock.now(),
      limit: CHANGES_MAX,
    });
    for (const customerId of new Set(found.map((change) => change.customer_id))) {
      yield await evaluateCustomer(service, customerId);
    }
    yield 0;
    if (customers.length < BATCH_SIZE) return;
    after = customers.at(-1) ?? null;
  }
}

async function evaluateCustomer(service: Service, customerId: string): Promise<number> {
  const changed = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    await lockAlerts(tx, customerId);
    const found = await findFiringChanges(tx, { customers: [customerId], now, limit: CHANGES_MAX });
    const changes = await keepFree(tx, found);
    const fired = await insertFirings(
      tx,
      changes.filter(({ fires }) => fires),
      now,
    );
    const ended = await deleteFirings(
      tx,
      changes.filter(({ fires }) => !fires),
    );
    const recorder = new FiringRecorder(tx);
    for (const [type, pairs] of [
      ['alert.resolved', ended],
      ['alert.fired', fired],
    ] as const) {
      for (const { alert_id: alertId, server_id: serverId } of pairs) {
        await recorder.record({ type, customerId, alertId, serverId }, now);
      }
    }
    if (fired.length > 0) await mailFired(tx, service, { customerId, fired, recorder, now });
    return fired.length + ended.length;
  });
  if (changed > 0) service.wake();
  return changed;
}

/** Leaves out servers that a change has locked, and new firings of those that no longer run. */
async function keepFree(tx: Sql, changes: readonly FiringChange[]): Promise<FiringChange[]> {
  const servers = await lockFreeServers(tx, [...new Set(changes.map(({ server_id: id }) => id))]);
  const free = new Map(servers.map(({ id, runs }) => [id, runs]));
  return changes.filter(({ server_id: id, fires }) => free.has(id) && (!fires || free.get(id) === true));
}

interface Fired {
  readonly customerId: string;
  readonly fired: readonly { readonly alert_id: string; readonly server_id: string }[];
  readonly recorder: FiringRecorder;
  readonly now: Date;
}

/** One mail for all that began to fire, and only some an hour. */
async function mailFired(
  tx: Sql,
  service: Service,
  { customerId, fired, recorder, now }: Fired,
): Promise<void> {
  const limit = LIMITS.alertMailsPerHour;
  const since = new Date(now.getTime() - HOUR_MS);
  const sent = await countMailsSince(tx, { customerId, kind: 'alerts_fired', since }, limit);
  if (sent >= limit) return;
  const listed = fired.slice(0, LIMITS.alertMailLines);
  const alerts = [];
  for (const { alert_id: alertId, server_id: serverId } of listed) {
    const { name, metric, compare, value, window } = await recorder.alert(customerId, alertId);
    const server = (await recorder.server(serverId))?.name ?? '';
    alerts.push({ name, server, metric, compare, value, window });
  }
  const data = { firedAt: now, alerts, more: fired.length - listed.length, isLast: sent + 1 === limit };
  const mail = { customerId, kind: 'alerts_fired', cause: `alerts:${newId(now)}`, data } as const;
  await enqueueMail(tx, mail, now, service.keys);
}
