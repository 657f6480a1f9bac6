/** The end of a cycle: the next one is charged, or the server is suspended. */
import { crashPoint } from '../../kernel/crash.ts';
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { type BillingServerRow, setAwaitingSince } from '../../store/calendar.ts';
import { listUnreadCoins } from '../../store/coins.ts';
import { lockBalance } from '../../store/ledger.ts';
import { hasOperation } from '../../store/operations.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { chargeCycle } from '../servers/charge-cycle.ts';
import { announcedPrice } from '../servers/price.ts';
import { suspendServer } from '../servers/suspend.ts';
import type { BillingOutcome } from './outcome.ts';

/** Invoices as old as this are hardly paid any more: nobody waits for their chains. */
const RECENT_INVOICE_DAYS = 30;
/** A chain that cannot be read delays a suspension so long. */
const CHAIN_WAIT_MAX_MS = 24 * HOUR_MS;
const WAIT_STEP_MIN_MS = 15 * SECOND_MS;
const WAIT_STEP_MAX_MS = 15 * MINUTE_MS;

export async function endCycle(
  tx: Sql,
  service: Service,
  server: BillingServerRow,
  now: Date,
): Promise<BillingOutcome> {
  const price = announcedPrice(server, server.announced_cents_month);
  if (server.auto_renew && ((await lockBalance(tx, server.customer_id)) ?? 0n) >= price.cycleCents) {
    // Counted from the end of the last one, not from now: a service that was down renews cycle by cycle.
    await chargeCycle(tx, server, { from: server.paid_until, anchorDay: server.anchor_day, price }, now);
    await recordSystemAudit(tx, server, 'server.renew', now);
    crashPoint('renew.written');
    return 'renewed';
  }
  if ((await hasOperation(tx, server.id)) || (await hasPendingPayment(tx, service, server, now))) {
    await setAwaitingSince(tx, server.id, nextAwaitCheck(server, now));
    return 'looked';
  }
  await suspendServer(tx, service, server, server.auto_renew ? 'balance' : 'not_renewed', now);
  await recordSystemAudit(tx, server, 'server.suspend', now);
  crashPoint('suspend.written');
  return 'suspended';
}

/**
 * Whether a payment may be on its chain that nobody has read: a service that was down when the cycle ended has to look
 * there before it says that the balance is short. A chain that stays silent is not waited for without end.
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
  const unread = await listUnreadCoins(tx, {
    customerId: server.customer_id,
    coins: [...service.chains.keys()],
    since: server.paid_until,
    invoicesAfter: new Date(now.getTime() - RECENT_INVOICE_DAYS * DAY_MS),
  });
  return unread.length > 0;
}

/** The longer it has waited, the later it is looked at again: a moved clock makes a hundred steps of a day, not thousands. */
export function nextAwaitCheck(server: BillingServerRow, now: Date): { since: Date; billAt: Date } {
  const since = server.awaiting_since ?? now;
  const stepMs = Math.min(
    Math.max((now.getTime() - since.getTime()) / 4, WAIT_STEP_MIN_MS),
    WAIT_STEP_MAX_MS,
  );
  return { since, billAt: new Date(now.getTime() + stepMs) };
}

/** The service itself did it. */
export async function recordSystemAudit(
  tx: Sql,
  server: Pick<BillingServerRow, 'id' | 'customer_id'>,
  action: 'server.renew' | 'server.suspend' | 'server.resume' | 'server.destroy',
  now: Date,
): Promise<void> {
  const resource = formatId('server', server.id);
  await recordAudit(tx, { actor: systemActor(now), action, resource, customerId: server.customer_id }, now);
}
