/** Ends a cycle: charges the next one or suspends the server. */
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { type BillingServerRow, setAwaitingSince } from '../../store/billing/calendar.ts';
import { lockBalance } from '../../store/ledger/ledger.ts';
import { hasOperation } from '../../store/servers/operations.ts';
import { listUnreadCoins } from '../../store/topups/coins.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { chargeCycle } from '../servers/billing/charge.ts';
import { priceWithAnnouncement } from '../servers/billing/price.ts';
import { suspendServer } from '../servers/billing/suspend.ts';

/** Older invoices are unlikely to be paid, so a suspension does not wait for their chains. */
const RECENT_INVOICE_DAYS = 30;
/** The longest time that an unreadable chain delays a suspension. */
const CHAIN_WAIT_MAX_MS = 24 * HOUR_MS;
const WAIT_STEP_MIN_MS = 15 * SECOND_MS;
const WAIT_STEP_MAX_MS = 15 * MINUTE_MS;

export async function endCycle(
  tx: Sql,
  service: Service,
  server: BillingServerRow,
  now: Date,
): Promise<void> {
  const price = priceWithAnnouncement(server, server.announced_cents_month);
  if (server.auto_renew && ((await lockBalance(tx, server.customer_id)) ?? 0n) >= price.cycleCents) {
    // Counts from the end of the last cycle, not from now: after downtime, missed cycles renew one by one.
    await chargeCycle(tx, server, { from: server.paid_until, anchorDay: server.anchor_day, price }, now);
    await recordSystemAudit(tx, server, 'server.renew', now);
    return;
  }
  if ((await hasOperation(tx, server.id)) || (await hasPendingPayment(tx, service, server, now))) {
    await setAwaitingSince(tx, server.id, nextAwaitCheck(server, now));
    return;
  }
  await suspendServer(tx, service, server, server.auto_renew ? 'balance' : 'not_renewed', now);
  await recordSystemAudit(tx, server, 'server.suspend', now);
}

/**
 * Whether a payment may be on a chain that we have not read. If the service was down when the cycle ended,
 * it must read the chains before it declares the balance too low. The wait for a silent chain is bounded.
 */
async function hasPendingPayment(
  tx: Sql,
  service: Service,
  server: BillingServerRow,
  now: Date,
): Promise<boolean> {
  if (!server.auto_renew) return false;
  const waitedMs = now.getTime() - (server.awaiting_since ?? now).getTime();
  if (waitedMs >= CHAIN_WAIT_MAX_MS) return false;
  const { customer_id: customerId, paid_until: since } = server;
  return await hasUnreadCoin(tx, service, { customerId, since }, now);
}

/** Whether the customer may have paid on a chain that was not read since then, for at most a day. */
export async function hasUnreadPayment(
  tx: Sql,
  service: Service,
  due: { readonly customerId: string; readonly since: Date },
  now: Date,
): Promise<boolean> {
  if (now.getTime() - due.since.getTime() >= CHAIN_WAIT_MAX_MS) return false;
  return await hasUnreadCoin(tx, service, due, now);
}

async function hasUnreadCoin(
  tx: Sql,
  service: Service,
  due: { readonly customerId: string; readonly since: Date },
  now: Date,
): Promise<boolean> {
  const unread = await listUnreadCoins(tx, {
    ...due,
    coins: [...service.chains.keys()],
    invoicesAfter: new Date(now.getTime() - RECENT_INVOICE_DAYS * DAY_MS),
  });
  return unread.length > 0;
}

/**
 * Backs off with the time already waited, so that a jump of the virtual clock takes hundreds of steps, not
 * thousands.
 */
export function nextAwaitCheck(server: BillingServerRow, now: Date): { since: Date; billAt: Date } {
  const since = server.awaiting_since ?? now;
  const stepMs = Math.min(
    Math.max((now.getTime() - since.getTime()) / 4, WAIT_STEP_MIN_MS),
    WAIT_STEP_MAX_MS,
  );
  return { since, billAt: new Date(now.getTime() + stepMs) };
}

/** Records an audit event with the service as the actor. */
export async function recordSystemAudit(
  tx: Sql,
  server: Pick<BillingServerRow, 'id' | 'customer_id'>,
  action: 'server.renew' | 'server.suspend' | 'server.resume' | 'server.destroy',
  now: Date,
): Promise<void> {
  const resource = formatId('server', server.id);
  await recordAudit(tx, { actor: systemActor(now), action, resource, customerId: server.customer_id }, now);
}
