/** A suspended server: it resumes when it can be paid; otherwise its customer is warned, and in the end it is destroyed. */
import { crashPoint } from '../../kernel/crash.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts';
import { type BillingServerRow, setAwaitingSince, setGracePeriod } from '../../store/calendar.ts';
import { lockBalance, readBalance } from '../../store/ledger.ts';
import { hasOperation } from '../../store/operations.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { chargeCycleFromNow } from '../servers/charge-cycle.ts';
import { startRemoval } from '../servers/destroy.ts';
import { priceFrom } from '../servers/price.ts';
import { resumeServer } from '../servers/resume.ts';
import { nextAwaitCheck, recordSystemAudit } from './end-cycle.ts';
import { type Grace, graceEnd, nextGraceCheck, remainingWarnings } from './grace.ts';
import type { BillingOutcome } from './outcome.ts';

/** A last warning that is later than this (the service was down) moves the end, so that it keeps its notice. */
const LATE_WARNING_MS = HOUR_MS;

export async function processSuspended(
  tx: Sql,
  service: Service,
  server: BillingServerRow,
  now: Date,
): Promise<BillingOutcome> {
  const awaitsBalance =
    server.suspended_reason === 'balance' && server.auto_renew && server.paid_until <= now;
  if (awaitsBalance) {
    const resumed = await resumeIfPaid(tx, service, server, now);
    if (resumed !== 'short') return resumed === 'resumed' ? 'resumed' : 'looked';
  }
  return await processGrace(tx, service, server, now);
}

/**
 * Charges a cycle from now and resumes a server that waits for the balance, whose lock the caller holds. `busy`: an
 * operation on it has to end first, it is looked at again soon.
 */
export async function resumeIfPaid(
  tx: Sql,
  service: Service,
  server: BillingServerRow,
  now: Date,
): Promise<'resumed' | 'short' | 'busy'> {
  const { cycleCents } = await priceFrom(tx, server, now);
  if (((await lockBalance(tx, server.customer_id)) ?? 0n) < cycleCents) return 'short';
  if (await hasOperation(tx, server.id)) {
    await setAwaitingSince(tx, server.id, nextAwaitCheck(server, now));
    return 'busy';
  }
  const paidUntil = await chargeCycleFromNow(tx, server, now);
  await resumeServer(tx, service, { ...server, paid_until: paidUntil }, now);
  await recordSystemAudit(tx, server, 'server.resume', now);
  crashPoint('suspend.resume_written');
  return 'resumed';
}

async function processGrace(
  tx: Sql,
  service: Service,
  server: BillingServerRow,
  now: Date,
): Promise<BillingOutcome> {
  const { id } = server;
  const grace = currentGrace(service, server, now);
  if (server.held_at !== null) {
    // Nothing is said of an end that does not come; when the hold is lifted there is a day for the last warning.
    await setGracePeriod(tx, id, { ...grace, billAt: new Date(now.getTime() + DAY_MS) });
    return 'looked';
  }
  const reached = (days: number) => now.getTime() >= grace.destroyAt.getTime() - days * DAY_MS;
  const days = remainingWarnings(grace).filter(reached).at(-1);
  if (days === undefined && reached(0)) return await destroyExpired(tx, service, server, now);
  const next =
    days === undefined ? grace : await sendDestructionWarning(tx, service, server, { grace, days }, now);
  const { paid_until: paidUntil } = server;
  const nextCheck = nextGraceCheck(next);
  // While it is paid (it is being switched on, or the operator froze it) the end of its cycle comes first.
  await setGracePeriod(tx, id, {
    ...next,
    billAt: paidUntil > now && paidUntil < nextCheck ? paidUntil : nextCheck,
  });
  return 'looked';
}

/** What the customer was told holds; what was paid since, or a longer grace period, only moves the end on. */
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
  };
  const cause = `warning:${server.id}:${grace.suspendedAt.toISOString()}:${days}`;
  await enqueueMail(tx, { customerId, kind: 'destruction_warning', cause, data }, now, service.keys);
  return { ...warned, destroyAt };
}

async function destroyExpired(
  tx: Sql,
  service: Service,
  server: BillingServerRow,
  now: Date,
): Promise<BillingOutcome> {
  const { customer_id: customerId } = server;
  await startRemoval(tx, server, now);
  await recordSystemAudit(tx, server, 'server.destroy', now);
  const data = {
    server: server.name,
    reason: server.suspended_reason ?? 'balance',
    suspendedAt: server.suspended_at ?? now,
    destroyedAt: now,
  };
  const cause = `destroyed:${server.id}`;
  await enqueueMail(tx, { customerId, kind: 'server_destroyed', cause, data }, now, service.keys);
  crashPoint('suspend.destroy_written');
  return 'destroyed';
}
