/** A period of the ledger, such as a month: the balance at both ends and the totals in and out. */
import { fail } from '../../kernel/fail.ts';
import { centsToUsd } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { sumPeriod } from '../../store/ledger/periods.ts';
import type { CustomerActor } from '../context.ts';

/** Covers `from` (inclusive) to `to` (exclusive). */
export interface LedgerPeriod {
  readonly from: string;
  readonly to: string;
  readonly opening_usd: number;
  readonly closing_usd: number;
  readonly in_usd: number;
  /** Zero or below. */
  readonly out_usd: number;
}

export async function getLedgerPeriod(
  { db }: { readonly db: Sql },
  { customerId }: Pick<CustomerActor, 'customerId'>,
  span: { readonly from: Date; readonly to: Date },
): Promise<LedgerPeriod> {
  const sums = (await sumPeriod(db, customerId, span)) ?? fail('not_found');
  const { opening_cents: openingCents, in_cents: inCents, out_cents: outCents } = sums;
  return {
    from: formatRfc3339(span.from),
    to: formatRfc3339(span.to),
    opening_usd: centsToUsd(openingCents),
    closing_usd: centsToUsd(openingCents + inCents + outCents),
    in_usd: centsToUsd(inCents),
    out_usd: centsToUsd(outCents),
  };
}
