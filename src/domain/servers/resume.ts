/** The end of a suspension: the server is again what it was before. */
import { newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { restartSuspension, setBillAt } from '../../store/billing.ts';
import { insertOperation } from '../../store/operations.ts';
import { findServer, type ServerRow, setServerStatus } from '../../store/servers.ts';
import { graceEnd } from '../billing/grace.ts';
import type { Service } from '../context.ts';
import { recordEvent } from '../record.ts';
import { hasDriver } from './hardware.ts';
import { serverObject } from './object.ts';

/**
 * In the caller's transaction, which holds the lock of a suspended server and found no operation under way; the audit row
 * is the caller's. While what was paid lasts: one that ran is switched on, and stays `suspended` until it runs
 * (`server.running`), unless no driver reaches it: that one runs at once, and the operator is told to switch it on. One that
 * was stopped is stopped. Otherwise it waits for the balance, or for its customer, as if its
 * cycle ended now: the grace period begins, and the calendar looks at it at once.
 */
export async function resumeServer(
  tx: Sql,
  service: Pick<Service, 'settings' | 'compute'>,
  server: ServerRow,
  now: Date,
): Promise<void> {
  const { id, paid_until: paidUntil } = server;
  if (paidUntil <= now) {
    const reason = server.auto_renew ? 'balance' : 'not_renewed';
    const destroyAt = graceEnd({ suspendedAt: now, paidUntil }, service.settings.graceDays);
    return await restartSuspension(tx, { id, reason, destroyAt, now });
  }
  // Its window may have opened meanwhile.
  await setBillAt(tx, id, new Date(paidUntil.getTime() - LIMITS.lowBalanceDays * DAY_MS));
  if (server.resume_to === 'stopped') {
    const { to } = findTransition(SERVER_TRANSITIONS, server.status, 'resume_stopped');
    return await setServerStatus(tx, { id, status: to, now });
  }
  if (!hasDriver(service, server)) return await markRunning(tx, server, now);
  await insertOperation(tx, {
    id: newId(now),
    server_id: id,
    kind: 'start',
    step: 'wait_on',
    payload_sealed: null,
    snapshot_id: null,
    now,
  });
}

async function markRunning(tx: Sql, server: ServerRow, now: Date): Promise<void> {
  const { id, customer_id: customerId } = server;
  const { to, event } = findTransition(SERVER_TRANSITIONS, server.status, 'resume_running');
  await setServerStatus(tx, { id, status: to, now });
  const running = (await findServer(tx, id)) ?? server;
  await recordEvent(tx, { customerId, type: event, object: serverObject(running) }, now);
}
