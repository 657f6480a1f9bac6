/** A quote as the REST contract shows it, without the refusal: its form is that of a response. */
import { centsToUsd } from '../../../kernel/money.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import type { Quote } from '../../../spec/schemas/quote.ts';
import { type Scope, scopeCovers } from '../../../spec/scopes.ts';
import { quoteExpiry } from './id.ts';
import type { QuotedBalance, QuotedPrice } from './quote.ts';

type Refused = 'available' | 'errors' | 'refusal';

export function quoteObject(quoted: QuotedPrice, scope: Scope): Omit<Quote, Refused> {
  const { price, totalCents, creditCents } = quoted;
  const dueCents = totalCents > creditCents ? totalCents - creditCents : 0n;
  const usd = (cents: bigint) => (price ? centsToUsd(cents) : null);
  return {
    id: quoted.id,
    object: 'quote',
    operation: quoted.operation,
    lines: (price?.lines ?? []).map(({ description, cents }) => ({
      description,
      amount_usd: centsToUsd(cents),
    })),
    total_usd: usd(totalCents),
    credit_usd: usd(creditCents),
    due_now_usd: usd(dueCents),
    renews_usd: price?.renewal ? centsToUsd(price.renewal.cents) : null,
    renews_at: price?.renewal ? formatRfc3339(price.renewal.at) : null,
    cycle_ends_at: price?.cycleEndsAt ? formatRfc3339(price.cycleEndsAt) : null,
    ...balanceFigures(price && scopeCovers(scope, 'billing') ? quoted.balance : null),
    expires_at: formatRfc3339(quoteExpiry(quoted.quotedAt)),
  };
}

function balanceFigures(
  balance: QuotedBalance | null,
): Pick<Quote, 'balance_after_usd' | 'deficit_usd' | 'topup'> {
  if (!balance) return { balance_after_usd: null, deficit_usd: null, topup: null };
  const { afterCents, deficitCents, topup } = balance;
  return {
    balance_after_usd: centsToUsd(afterCents),
    deficit_usd: centsToUsd(deficitCents),
    topup: topup && {
      amount_usd: centsToUsd(topup.amountCents),
      bonus_usd: centsToUsd(topup.bonusCents),
    },
  };
}
