/**
 * Handles a suspended server: it resumes once paid; otherwise the customer is warned and the server is
 * destroyed.
 */
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts';
import { type BillingServerRow, setAwaitingSince, setGracePeriod } from '../../store/billing/calendar.ts';
import { setSuspendedReason } from '../../store/billing/cycles.ts';
import { lockBalance, readBalance } from '../../store/ledger/ledger.ts';
import { hasOperation } from '../../store/servers/operations.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { chargeCycleFromNow } from '../servers/billing/charge.ts';
import { priceFrom, priceStart } from '../servers/billing/price.ts';
import { resumeServer } from '../servers/billing/suspend.ts';
import { startRemoval } from '../servers/operations/destroy.ts';
import { nextAwaitCheck, recordSystemAudit } from './end-cycle.ts';
import { type Grace, graceEnd, nextGraceCheck, remainingWarnings } from './grace.ts';

/**
 * A final warning later than this, after downtime, extends the grace period so that the customer keeps the
 * full notice.
 */
const LATE_WARNING_MS = HOUR_MS;

export async function processSuspended(
  tx: Sql,
  service: Service,
  server: BillingServerRow,
  now: Date,
): Promise<void> {
  const { suspended_reason: reason, paid_until: paidUntil } = server;
  const paid = paidUntil > now;
  if (reason === 'negative_balance' && !paid) {
    // From now on it waits for its next cycle, like any other server.
    const next = server.auto_renew ? 'balance' : 'not_renewed';
    await setSuspendedReason(tx, { id: server.id, reason: next, now });
    await processSuspended(tx, service, { ...server, suspended_reason: next }, now);
    return;
  }
  if (reason === 'negative_balance' || (reason === 'balance' && server.auto_renew && !paid)) {
    const resumed = await resumeIfPaid(tx, service, server, now);
    if (resumed !== 'short') return;
  }
  await processGrace(tx, service, server, now);
}

/**
 * Resumes a server that waits for the balance, and charges a cycle from now unless the current one is paid:
 * then the balance need only be zero. The caller holds the server's lock. `busy`: an operation must end
 * first, and the server is checked again soon.
 */
export async function resumeIfPaid(
  tx: Sql,
  service: Service,
  server: BillingServerRow,
  now: Date,
): Promise<'resumed' | 'short' | 'busy'> {
  const cycle = await priceStart(tx, server, now);
  if (((await lockBalance(tx, server.customer_id)) ?? 0n) < (cycle?.cycleCents ?? 0n)) return 'short';
  if (await hasOperation(tx, server.id)) {
    await setAwaitingSince(tx, server.id, nextAwaitCheck(server, now));
    return 'busy';
  }
  const paidUntil = cycle ? await chargeCycleFromNow(tx, server, cycle, now) : server.paid_until;
  await resumeServer(tx, service, { ...server, paid_until: paidUntil }, now);
  await recordSystemAudit(tx, server, 'server.resume', now);
  return 'resumed';
}

async function processGrace(tx: Sql, service: Service, server: BillingServerRow, now: Date): Promise<void> {
  const { id } = server;
  const grace = currentGrace(service, server, now);
  if (server.held_at !== null) {
    // A legal hold stops the deletion, so no warning is due. After the hold ends, a day remains for the
    // final warning.
    await setGracePeriod(tx, id, { ...grace, billAt: new Date(now.getTime() + DAY_MS) });
    return;
  }
  const reached = (days: number) => now.getTime() >= grace.destroyAt.getTime() - days * DAY_MS;
  const days = remainingWarnings(grace).filter(reached).at(-1);
  if (days === undefined && reached(0)) {
    await destroyExpired(tx, service, server, now);
    return;
  }
  const next =
    days === undefined ? grace : await sendDestructionWarning(tx, service, server, { grace, days }, now);
  const { paid_until: paidUntil } = server;
  const nextCheck = nextGraceCheck(next);
  // A paid server: the end of its cycle comes first.
  await setGracePeriod(tx, id, {
    ...next,
    billAt: paidUntil > now && paidUntil < nextCheck ? paidUntil : nextCheck,
  });
}

/** An announced end is never moved forward: a later payment or a longer grace period only extends it. */
function currentGrace(service: Service, server: BillingServerRow, now: Date): Grace {
  const suspendedAt = server.suspended_at ?? now;
  const end = graceEnd({ suspendedAt, paidUntil: server.paid_until }, service.settings.graceDays);
  const announcedEnd = server.destroy_at;
  return {
    suspendedAt,
    destroyAt: announcedEnd !== null && announcedEnd > end ? announcedEnd : end,
    warnedDays: server.warned_days,
  };
}

async function sendDestructionWarning(
  tx: Sql,
  service: Service,
  server: BillingServerRow,
  { grace, days }: { grace: Grace; days: number },
  now: Date,
): Promise<Grace> {
  const warned = { ...grace, warnedDays: days };
  const last = remainingWarnings(warned).length === 0;
  const noticeEnd = new Date(now.getTime() + days * DAY_MS);
  const late = noticeEnd.getTime() - grace.destroyAt.getTime() > LATE_WARNING_MS;
  const destroyAt = last && late ? noticeEnd : grace.destroyAt;
  const { customer_id: customerId } = server;
  const data = {
    server: server.name,
    reason: server.suspended_reason ?? 'balance',
    days,
    destroyAt,
    months: server.billing_months,
    priceCents: (await priceFrom(tx, server, now)).cycleCents,
    balanceCents: await readBalance(tx, customerId),
    isProtected: server.protect_delete,
  };
  const cause = `warning:${server.id}:${grace.suspendedAt.toISOString()}:${days}`;
  await enqueueMail(tx, { customerId, kind: 'destruction_warning', cause, data }, now, service.keys);
  return { ...warned, destroyAt };
}

async function destroyExpired(tx: Sql, service: Service, server: BillingServerRow, now: Date): Promise<void> {
  const { customer_id: customerId } = server;
  await startRemoval(tx, server, { now });
  await recordSystemAudit(tx, server, 'server.destroy', now);
  const data = {
    server: server.name,
    reason: server.suspended_reason ?? 'balance',
    suspendedAt: server.suspended_at ?? now,
    destroyedAt: now,
  };
  const cause = `destroyed:${server.id}`;
  await enqueueMail(tx, { customerId, kind: 'server_destroyed', cause, data }, now, service.keys);
}
