/** What a cycle costs (DECISIONS "Discount"), and what it is called on the ledger. */
import { mulDiv } from '../../kernel/money.ts';
import { CYCLE_DISCOUNT_PERCENT, type CycleMonths } from '../../spec/limits.ts';
import type { ServerRow } from '../../store/servers.ts';

/** Months × monthly price × (100 − discount)/100, rounded half up to the cent. */
export function cyclePriceCents(monthCents: bigint, months: CycleMonths): bigint {
  const percent = BigInt(100 - CYCLE_DISCOUNT_PERCENT[months]);
  return mulDiv(BigInt(months) * monthCents, percent, 100n, 'half_up');
}

/** `s1 in par, 3 months`. */
export function cycleDescription(
  server: Pick<ServerRow, 'plan_id' | 'region_id' | 'billing_months'>,
): string {
  const months = server.billing_months;
  return `${server.plan_id} in ${server.region_id}, ${months} month${months === 1 ? '' : 's'}`;
}
