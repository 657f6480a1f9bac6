/**
 * Suspends a server and resumes it. The status changes at once; an operation powers its machine off or on.
 */
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { findTransition, SERVER_TRANSITIONS, type SuspendedReason } from '../../../spec/states.ts';
import {
  restartSuspension,
  setBillAt,
  setSuspended,
  setSuspendedReason,
} from '../../../store/billing/cycles.ts';
import { readBalance } from '../../../store/ledger/ledger.ts';
import { findServerControls } from '../../../store/servers/operator.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { startOperation } from '../../actions/operations.ts';
import { graceEnd, nextGraceCheck } from '../../billing/grace.ts';
import type { Service } from '../../context.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import { hasDriver } from '../hardware.ts';
import { moveServer, recordServerEvent } from '../transition.ts';
import { priceFrom } from './price.ts';

/**
 * Runs in the caller's transaction, which holds the server's lock, found no operation under way, and writes
 * the audit row. A running or stopped server becomes `suspended`, with its event and its mail. If it was
 * running, its guest is asked to shut down with the usual deadline; if no driver reaches the machine,
 * `status` tells the operator to power it off. A server that is already suspended only changes its reason,
 * and nothing is sent.
 */
export async function suspendServer(
  tx: Sql,
  service: Pick<Service, 'settings' | 'keys' | 'compute'>,
  server: ServerRow,
  reason: SuspendedReason,
  now: Date,
): Promise<void> {
  const { id, status, paid_until: paidUntil } = server;
  if (status === 'suspended') return await setSuspendedReason(tx, { id, reason, now });
  if (status !== 'running' && status !== 'stopped')
    throw new Error(`cannot suspend a server that is ${status}`);
  const { event } = findTransition(SERVER_TRANSITIONS, status, 'suspend');
  const destroyAt = graceEnd({ suspendedAt: now, paidUntil }, service.settings.graceDays);
  const nextCheck = nextGraceCheck({ suspendedAt: now, destroyAt, warnedDays: null });
  // A paid server: the end of its cycle comes first.
  const billAt = paidUntil > now && paidUntil < nextCheck ? paidUntil : nextCheck;
  await setSuspended(tx, { id, reason, resumeTo: status, destroyAt, billAt, now });
  await recordServerEvent(tx, server, event, now);
  if (status === 'running' && hasDriver(service, server)) {
    await startOperation(tx, server, { id: newId(now), kind: 'suspend', step: 'shut_down', now });
  }
  await sendSuspendedMail(tx, service, server, { reason, destroyAt }, now);
}

/** Mails the customer that the server is suspended, why, and when it will be destroyed. */
export async function sendSuspendedMail(
  tx: Sql,
  service: Pick<Service, 'keys'>,
  server: ServerRow,
  { reason, destroyAt }: { reason: SuspendedReason; destroyAt: Date },
  now: Date,
): Promise<void> {
  const { customer_id: customerId } = server;
  const controls = reason === 'operator' ? await findServerControls(tx, server.id) : undefined;
  const note = controls?.freeze_reason;
  const data = {
    server: server.name,
    reason,
    ...(note ? { note } : {}),
    suspendedAt: now,
    months: server.billing_months,
    priceCents: (await priceFrom(tx, server, now)).cycleCents,
    balanceCents: await readBalance(tx, customerId),
    destroyAt: server.held_at === null ? destroyAt : null,
    isProtected: server.protect_delete,
  };
  const cause = `suspended:${server.id}:${now.toISOString()}`;
  await enqueueMail(tx, { customerId, kind: 'server_suspended', cause, data }, now, service.keys);
}

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
  if (server.resume_to === 'stopped') return await moveServer(tx, server, 'resume_stopped', now);
  if (!hasDriver(service, server)) return await moveServer(tx, server, 'resume_running', now);
  await startOperation(tx, server, { id: newId(now), kind: 'start', step: 'wait_on', now });
}
