/**
 * Forecasts what the calendar will do to a customer's servers: which cycles end, what the next ones cost,
 * and how far the balance reaches, in the calendar's own order. Nothing is locked or written.
 */
import { formatId } from '../../kernel/ids.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { addMonths, DAY_MS, formatRfc3339 } from '../../kernel/time.ts';
import {
  type AnnouncedPriceRow,
  type EndingServerRow,
  listAnnouncedPrices,
  listEndingServers,
} from '../../store/billing/renewals.ts';
import { readBalance } from '../../store/ledger/ledger.ts';
import type { CustomerActor, Service } from '../context.ts';
import { priceWithAnnouncement } from '../servers/billing/price.ts';

/** More servers than any sensible quota allows. */
const SERVERS_MAX = 500;

/**
 * `renews`: the balance covers it. `short`: it does not, and the server is suspended. `waits`: already
 * suspended. `ends`: automatic renewal is off.
 */
export type RenewalOutcome = 'renews' | 'short' | 'waits' | 'ends';

export interface Renewal {
  readonly server: string;
  readonly name: string;
  readonly auto_renew: boolean;
  readonly at: string;
  readonly months: number;
  readonly price_usd: number;
  readonly outcome: RenewalOutcome;
  readonly balance_after_usd: number;
}

export interface Renewals {
  /** In due order. */
  readonly items: readonly Renewal[];
  readonly total_usd: number;
  /** The amount that the balance is short by if everything is to renew; 0 if it is enough. */
  readonly missing_usd: number;
}

interface Cycle {
  readonly server: EndingServerRow;
  readonly at: Date;
  readonly cents: bigint;
  /** The server is suspended until the balance pays for this cycle. */
  readonly awaitsPayment: boolean;
}

/** Returns the renewals of the next `days` days. */
export async function listRenewals(
  service: Service,
  actor: CustomerActor,
  { days }: { readonly days: number },
): Promise<Renewals> {
  const now = service.clock.now();
  const until = new Date(now.getTime() + days * DAY_MS);
  const servers = await listEndingServers(service.db, actor.customerId, { until, limit: SERVERS_MAX });
  const plans = [...new Set(servers.map((server) => server.plan_id))];
  const [prices, balanceCents] = await Promise.all([
    plans.length === 0 ? [] : listAnnouncedPrices(service.db, plans, until),
    readBalance(service.db, actor.customerId),
  ]);
  const cycles = servers.flatMap((server) => upcomingCycles(server, { prices, now, until }));
  return forecast(cycles.sort(byDueDate), balanceCents);
}

/**
 * Returns a server's cycles that begin by then. A server that waits for a payment would begin one now. A
 * server that is paid and being powered on is still suspended but does not wait.
 */
function upcomingCycles(
  server: EndingServerRow,
  at: { readonly prices: readonly AnnouncedPriceRow[]; readonly now: Date; readonly until: Date },
): Cycle[] {
  const waits = server.status === 'suspended' && server.paid_until <= at.now;
  const anchorDay = waits ? at.now.getUTCDate() : server.anchor_day;
  const cycles: Cycle[] = [];
  for (let from = waits ? at.now : server.paid_until; from <= at.until; ) {
    const announced = at.prices.find(
      (price) =>
        price.plan_id === server.plan_id &&
        price.effective_at <= from &&
        price.announced_at > (server.priced_at ?? server.created_at),
    );
    const { cycleCents: cents } = priceWithAnnouncement(server, announced?.price_cents_month);
    cycles.push({ server, at: from, cents, awaitsPayment: waits && cycles.length === 0 });
    if (!server.auto_renew) break;
    from = addMonths(from, server.billing_months, anchorDay);
  }
  return cycles;
}

/** Sorts like the calendar: by the end of the cycle, then by age. */
function byDueDate(a: Cycle, b: Cycle): number {
  const byAge = a.server.created_at.getTime() - b.server.created_at.getTime();
  return a.at.getTime() - b.at.getTime() || byAge || (a.server.id < b.server.id ? -1 : 1);
}

function forecast(cycles: readonly Cycle[], balanceCents: bigint): Renewals {
  const stopped = new Set<string>();
  const items: Renewal[] = [];
  let remainingCents = balanceCents;
  for (const { server, at, cents, awaitsPayment } of cycles) {
    if (stopped.has(server.id)) continue;
    const outcome = renewalOutcome(server, { affordable: remainingCents >= cents, waits: awaitsPayment });
    if (outcome === 'renews') remainingCents -= cents;
    else stopped.add(server.id);
    items.push({
      server: formatId('server', server.id),
      name: server.name,
      auto_renew: server.auto_renew,
      at: formatRfc3339(at),
      months: server.billing_months,
      price_usd: centsToUsd(cents),
      outcome,
      balance_after_usd: centsToUsd(remainingCents),
    });
  }
  const renewing = cycles.filter(({ server }) => server.auto_renew);
  const total = renewing.reduce((sum, { cents }) => sum + cents, 0n);
  const shortfall = total > balanceCents ? total - balanceCents : 0n;
  // A negative balance is owed in any case, but is not a shortfall of renewals if nothing renews.
  return { items, total_usd: centsToUsd(total), missing_usd: total === 0n ? 0 : centsToUsd(shortfall) };
}

function renewalOutcome(
  server: EndingServerRow,
  { affordable, waits }: { readonly affordable: boolean; readonly waits: boolean },
): RenewalOutcome {
  if (!server.auto_renew) return 'ends';
  if (affordable) return 'renews';
  return waits ? 'waits' : 'short';
}
