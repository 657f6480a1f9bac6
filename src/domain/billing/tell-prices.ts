/** Tells customers of an announced price: whoever has servers that will renew at it, once, in batches. */
import type { Sql } from '../../kernel/sql.ts';
import { addMonths } from '../../kernel/time.ts';
import {
  lockUntoldPrice,
  type PriceChangeRow,
  type PricedServerRow,
  serversToTell,
  setTold,
  TOLD_AT_ONCE,
} from '../../store/price-changes.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { announcedPrice } from '../servers/price.ts';

/** One batch of one announcement; returns how much was done, 0 when everybody knows. */
export async function tellPrices(service: Service): Promise<number> {
  return await service.db.transaction(async (tx) => {
    const change = await lockUntoldPrice(tx);
    if (!change) return 0;
    const now = service.clock.now();
    const customers = byCustomer(await serversToTell(tx, change));
    for (const [customerId, servers] of customers)
      await tell(tx, service, change, { customerId, servers }, now);
    const upTo = [...customers.keys()].at(-1) ?? null;
    await setTold(tx, change.id, { upTo, at: customers.size < TOLD_AT_ONCE ? now : null });
    return 1 + customers.size;
  });
}

function byCustomer(servers: readonly PricedServerRow[]): Map<string, PricedServerRow[]> {
  const customers = new Map<string, PricedServerRow[]>();
  for (const server of servers) {
    const his = customers.get(server.customer_id) ?? [];
    his.push(server);
    customers.set(server.customer_id, his);
  }
  return customers;
}

async function tell(
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
      newCycleCents: announcedPrice(server, change.price_cents_month).cycleCents,
      renewsAt: firstCycleFrom(server, change.effective_at),
    })),
  };
  const cause = `price:${change.id}:${customerId}`;
  await enqueueMail(tx, { customerId, kind: 'price_change', cause, data }, now, service.keys);
}

/** When the first cycle begins that costs the new price, as the server's calendar stands. */
function firstCycleFrom(server: PricedServerRow, effectiveAt: Date): Date {
  let begins = server.paid_until;
  while (begins < effectiveAt) begins = addMonths(begins, server.billing_months, server.anchor_day);
  return begins;
}
