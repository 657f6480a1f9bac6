/** The end of a suspension: the server is again what it was before. */
import { newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { move, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { setBillAt, setSuspendedAnew } from '../../store/billing.ts';
import { insertOperation } from '../../store/operations.ts';
import { type ServerRow, setServerStatus } from '../../store/servers.ts';
import { graceEnd } from '../billing/grace.ts';
import type { Service } from '../context.ts';

/**
 * In the caller's transaction, which holds the lock of a suspended server and found no operation under way; the audit row
 * is the caller's. While what was paid lasts: one that ran is switched on, and stays `suspended` until it runs
 * (`server.running`); one that was stopped is stopped. Otherwise it waits for the balance, or for its customer, as if its
 * cycle ended now: the grace period begins, and the calendar looks at it at once.
 */
export async function resumeServer(
  tx: Sql,
  service: Pick<Service, 'settings'>,
  server: ServerRow,
  now: Date,
): Promise<void> {
  const { id, paid_until: paidUntil } = server;
  if (paidUntil <= now) {
    const reason = server.auto_renew ? 'balance' : 'not_renewed';
    const destroyAt = graceEnd({ suspendedAt: now, paidUntil }, service.settings.graceDays);
    return await setSuspendedAnew(tx, { id, reason, destroyAt, now });
  }
  // Its window may have opened meanwhile.
  await setBillAt(tx, id, new Date(paidUntil.getTime() - LIMITS.lowBalanceDays * DAY_MS));
  if (server.resume_to === 'stopped') {
    const { to } = move(SERVER_TRANSITIONS, server.status, 'resume_stopped');
    return await setServerStatus(tx, { id, status: to, now });
  }
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
