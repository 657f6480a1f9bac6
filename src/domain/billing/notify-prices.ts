/** Notifies customers of an announced price, once, in batches: those with servers that will renew at it. */
import type { Sql } from '../../kernel/sql.ts';
import { addMonths } from '../../kernel/time.ts';
import {
  listServersToNotify,
  lockUnnotifiedPriceChange,
  NOTIFY_BATCH,
  type PriceChangeRow,
  type PricedServerRow,
  saveNotifyProgress,
} from '../../store/billing/price-changes.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { priceWithAnnouncement } from '../servers/billing/price.ts';

/**
 * Processes one batch of one announcement and returns the amount of work done; 0 when everyone is notified.
 */
export async function notifyPriceChanges(service: Service): Promise<number> {
  return await service.db.transaction(async (tx) => {
    const change = await lockUnnotifiedPriceChange(tx);
    if (!change) return 0;
    const now = service.clock.now();
    const customers = groupByCustomer(await listServersToNotify(tx, change));
    for (const [customerId, servers] of customers)
      await notifyCustomer(tx, service, change, { customerId, servers }, now);
    const upTo = [...customers.keys()].at(-1) ?? null;
    await saveNotifyProgress(tx, change.id, { upTo, at: customers.size < NOTIFY_BATCH ? now : null });
    return 1 + customers.size;
  });
}

function groupByCustomer(servers: readonly PricedServerRow[]): Map<string, PricedServerRow[]> {
  const customers = new Map<string, PricedServerRow[]>();
  for (const server of servers) {
    const group = customers.get(server.customer_id) ?? [];
    group.push(server);
    customers.set(server.customer_id, group);
  }
  return customers;
}

async function notifyCustomer(
  tx: Sql,
  service: Pick<Service, 'keys'>,
  change: PriceChangeRow,
  { customerId, servers }: { customerId: string; servers: readonly PricedServerRow[] },
  now: Date,
): Promise<void> {
  const data = {
    plan: change.plan_id,
    oldMonthCents: servers[0]?.price_cents_month ?? change.old_price_cents_month,
    newMonthCents: change.price_cents_month,
    from: change.effective_at,
    servers: servers.map((server) => ({
      server: server.name,
      months: server.billing_months,
      oldCycleCents: server.price_cents_cycle,
      newCycleCents: priceWithAnnouncement(server, change.price_cents_month).cycleCents,
      renewsAt: firstCycleStart(server, change.effective_at),
    })),
  };
  const cause = `price:${change.id}:${customerId}`;
  await enqueueMail(tx, { customerId, kind: 'price_change', cause, data }, now, service.keys);
}

/** Returns the start of the first cycle that costs the new price, by the server's current calendar. */
function firstCycleStart(server: PricedServerRow, effectiveAt: Date): Date {
  let cycleStart = server.paid_until;
  while (cycleStart < effectiveAt)
    cycleStart = addMonths(cycleStart, server.billing_months, server.anchor_day);
  return cycleStart;
}
