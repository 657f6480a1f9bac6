/** What a cycle costs (DECISIONS "Discount"). */
import { mulDiv } from '../../kernel/money.ts';
import { CYCLE_DISCOUNT_PERCENT, type CycleMonths } from '../../spec/limits.ts';

/** Months × monthly price × (100 − discount)/100, rounded half up to the cent. */
export function cyclePriceCents(monthCents: bigint, months: CycleMonths): bigint {
  const percent = BigInt(100 - CYCLE_DISCOUNT_PERCENT[months]);
  return mulDiv(BigInt(months) * monthCents, percent, 100n, 'half_up');
}
