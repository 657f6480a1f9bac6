/** Computes the cost of a plan, in whole cents. Deleted servers are not refunded. */
import type { Actual } from '../actual.ts';
import { type Desired, isWanted } from '../desired.ts';
import type { Action, Plan } from './plan.ts';

export interface Cost {
  /** Charged immediately: the first cycles of new servers, and larger plans and backups of others. */
  readonly charged_usd: number;
  /** Monthly cost of the file's servers afterwards, except those that do not renew. */
  readonly monthly_usd: number;
  readonly servers: number;
  readonly not_renewed: number;
  /** Null: the token may not read the balance. */
  readonly balance_usd: number | null;
  readonly balance_after_usd: number | null;
}

export function calculateCost(plan: Plan, desired: Desired, actual: Actual, balanceUsd: number | null): Cost {
  const orders = plan.items.flatMap(({ actions }) =>
    actions.flatMap((act) => (act.do === 'create_server' ? [act] : [])),
  );
  const resized = plan.items.flatMap(({ actions }) =>
    actions.flatMap((act) => (act.do === 'resize_server' ? (actual.resizes?.get(act.id) ?? []) : [])),
  );
  const backups = new Map(
    plan.items.flatMap(({ actions }) => actions.flatMap((act) => priceBackups(act, actual))),
  );
  const byName = new Map(orders.map((order) => [order.server.name, order]));
  const ordered = orders.reduce((sum, { priceUsd }) => sum + toCents(priceUsd), 0);
  const enlarged = resized.reduce((sum, { due_now_usd: due }) => sum + toCents(due ?? 0), ordered);
  const charged = [...backups.values()].reduce((sum, { nowUsd }) => sum + toCents(nowUsd), enlarged);
  const wanted = (desired.servers ?? []).filter(isWanted);
  const renewed = wanted.map(({ name, autoRenew }) => {
    const order = byName.get(name);
    const found = actual.servers.find(({ id }) => id === plan.ids.server.get(name));
    const renews = order ? order.server.autoRenew !== false : (autoRenew ?? found?.auto_renew ?? true);
    if (!renews) return null;
    if (order) return toCents(order.priceUsd) / order.months;
    const renewsUsd = found && (actual.resizes?.get(found.id)?.renews_usd ?? found.price_usd_cycle);
    const cents = toCents(renewsUsd ?? 0) + toCents(backups.get(found?.id ?? '')?.cycleUsd ?? 0);
    return found ? cents / found.billing_months : 0;
  });
  const monthly = renewed.reduce<number>((sum, centsAMonth) => sum + (centsAMonth ?? 0), 0);
  return {
    charged_usd: charged / 100,
    monthly_usd: Math.round(monthly) / 100,
    servers: wanted.length,
    not_renewed: renewed.filter((one) => one === null).length,
    balance_usd: balanceUsd,
    balance_after_usd: balanceUsd === null ? null : (toCents(balanceUsd) - charged) / 100,
  };
}

/** The charge for the rest of the cycle, and the change of the price of a cycle. Refunds are not counted. */
function priceBackups(act: Action, { backups }: Actual): [id: string, price: BackupPrice][] {
  const found = act.do === 'set_backups' ? backups?.get(act.id) : undefined;
  if (act.do !== 'set_backups' || !found || act.policy.enabled === found.enabled) return [];
  const { price_usd_now: nowUsd, price_usd_cycle: cycleUsd } = found;
  return [[act.id, act.policy.enabled ? { nowUsd, cycleUsd } : { nowUsd: 0, cycleUsd: -cycleUsd }]];
}

interface BackupPrice {
  readonly nowUsd: number;
  readonly cycleUsd: number;
}

function toCents(usd: number): number {
  return Math.round(usd * 100);
}
