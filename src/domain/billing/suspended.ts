/** A suspended server: it resumes when it can be paid; otherwise its customer is warned, and in the end it is destroyed. */
import { crashPoint } from '../../kernel/crash.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts';
import { type BillRow, setAwaiting, setGrace } from '../../store/calendar.ts';
import { lockBalance, readBalance } from '../../store/ledger.ts';
import { hasOperation } from '../../store/operations.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { chargeCycleFromNow } from '../servers/charge-cycle.ts';
import { beginRemoval } from '../servers/destroy.ts';
import { priceFrom } from '../servers/price.ts';
import { resumeServer } from '../servers/resume.ts';
import { recordSystem, waiting } from './end-cycle.ts';
import { type Grace, graceEnd, nextGraceLook, warningsLeft } from './grace.ts';
import type { Outcome } from './outcome.ts';

/** A last warning that is later than this (the service was down) moves the end, so that it keeps its notice. */
const LATE_MS = HOUR_MS;

export async function lookAtSuspended(
  tx: Sql,
  service: Service,
  server: BillRow,
  now: Date,
): Promise<Outcome> {
  const waits = server.suspended_reason === 'balance' && server.auto_renew && server.paid_until <= now;
  if (waits) {
    const resumed = await resumeIfPaid(tx, service, server, now);
    if (resumed !== 'short') return resumed === 'resumed' ? 'resumed' : 'looked';
  }
  return await lookAtGrace(tx, service, server, now);
}

/**
 * Charges a cycle from now and resumes a server that waits for the balance, whose lock the caller holds. `busy`: an
 * operation on it has to end first, it is looked at again soon.
 */
export async function resumeIfPaid(
  tx: Sql,
  service: Service,
  server: BillRow,
  now: Date,
): Promise<'resumed' | 'short' | 'busy'> {
  const { cycleCents } = await priceFrom(tx, server, now);
  if (((await lockBalance(tx, server.customer_id)) ?? 0n) < cycleCents) return 'short';
  if (await hasOperation(tx, server.id)) {
    await setAwaiting(tx, server.id, waiting(server, now));
    return 'busy';
  }
  const paidUntil = await chargeCycleFromNow(tx, server, now);
  await resumeServer(tx, service, { ...server, paid_until: paidUntil }, now);
  await recordSystem(tx, server, 'server.resume', now);
  crashPoint('suspend.resume_written');
  return 'resumed';
}

async function lookAtGrace(tx: Sql, service: Service, server: BillRow, now: Date): Promise<Outcome> {
  const { id } = server;
  const grace = graceOf(service, server, now);
  if (server.held_at !== null) {
    // Nothing is said of an end that does not come; when the hold is lifted there is a day for the last warning.
    await setGrace(tx, id, { ...grace, billAt: new Date(now.getTime() + DAY_MS) });
    return 'looked';
  }
  const reached = (days: number) => now.getTime() >= grace.destroyAt.getTime() - days * DAY_MS;
  const days = warningsLeft(grace).filter(reached).at(-1);
  if (days === undefined && reached(0)) return await destroy(tx, service, server, now);
  const next = days === undefined ? grace : await warn(tx, service, server, { grace, days }, now);
  const { paid_until: paidUntil } = server;
  const look = nextGraceLook(next);
  // While it is paid (it is being switched on, or the operator froze it) the end of its cycle comes first.
  await setGrace(tx, id, { ...next, billAt: paidUntil > now && paidUntil < look ? paidUntil : look });
  return 'looked';
}

/** What the customer was told holds; what was paid since, or a longer grace period, only moves the end on. */
function graceOf(service: Service, server: BillRow, now: Date): Grace {
  const suspendedAt = server.suspended_at ?? now;
  const end = graceEnd({ suspendedAt, paidUntil: server.paid_until }, service.settings.graceDays);
  const told = server.destroy_at;
  return {
    suspendedAt,
    destroyAt: told !== null && told > end ? told : end,
    warnedDays: server.warned_days,
  };
}

async function warn(
  tx: Sql,
  service: Service,
  server: BillRow,
  { grace, days }: { grace: Grace; days: number },
  now: Date,
): Promise<Grace> {
  const warned = { ...grace, warnedDays: days };
  const last = warningsLeft(warned).length === 0;
  const noticeEnd = new Date(now.getTime() + days * DAY_MS);
  const late = noticeEnd.getTime() - grace.destroyAt.getTime() > LATE_MS;
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

async function destroy(tx: Sql, service: Service, server: BillRow, now: Date): Promise<Outcome> {
  const { customer_id: customerId } = server;
  await beginRemoval(tx, server, now);
  await recordSystem(tx, server, 'server.destroy', now);
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
