/** Ends a suspension and returns the server to its previous state. */
import { newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { restartSuspension, setBillAt } from '../../store/billing/cycles.ts';
import { insertOperation } from '../../store/servers/operations.ts';
import { findServer, type ServerRow, setServerStatus } from '../../store/servers/servers.ts';
import { graceEnd } from '../billing/grace.ts';
import type { Service } from '../context.ts';
import { recordEvent } from '../record.ts';
import { hasDriver } from './hardware.ts';
import { serverObject } from './object.ts';

/**
 * Runs in the caller's transaction, which holds the lock of a suspended server, found no operation under way,
 * and writes the audit row. If the cycle is paid, a server that ran is powered on and stays `suspended` until
 * it runs (`server.running`). If no driver reaches it, it is `running` at once and the operator powers it on.
 * A server that was stopped is stopped again. If the cycle is not paid, the grace period starts now, as if
 * the cycle had just ended, and the calendar handles it at once.
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
  // The low-balance window may have opened in the meantime.
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
