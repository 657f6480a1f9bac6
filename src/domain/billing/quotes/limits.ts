/** The price that a request accepts: at most that of a quote or an amount, or exactly an amount. */
import { priceChanged, unknownReference } from '../../../kernel/fail.ts';
import { centsToUsd } from '../../../kernel/money.ts';
import type { StartBody } from '../../../spec/schemas/server-actions.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { type QuoteScope, readQuoteId } from './id.ts';

export interface PriceLimit {
  /** The field that sets it. */
  readonly field: 'quote' | 'max_price_usd';
  readonly usd: number;
  /** Whether a lower price is refused too. */
  readonly isExact?: true;
}

/** A body with the price that its customer saw, and nothing else is accepted. Only the panel has it. */
export interface ShownPrice {
  readonly shown_price_usd?: number;
}

/** Reads the limits in a body. Refuses with `unknown_reference` a quote that is not for this operation. */
export function readPriceLimits(
  { keys, clock }: Pick<Service, 'keys' | 'clock'>,
  { customerId }: CustomerActor,
  scope: Omit<QuoteScope, 'customerId'>,
  { quote, max_price_usd: maxUsd, shown_price_usd: shownUsd }: StartBody & ShownPrice,
): readonly PriceLimit[] {
  const limits: PriceLimit[] = [];
  if (quote !== undefined) {
    const cents = readQuoteId(keys, { customerId, ...scope }, quote, clock.now());
    limits.push({ field: 'quote', usd: centsToUsd(cents ?? unknownReference('quote')) });
  }
  if (maxUsd !== undefined) limits.push({ field: 'max_price_usd', usd: maxUsd });
  if (shownUsd !== undefined) limits.push({ field: 'max_price_usd', usd: shownUsd, isExact: true });
  return limits;
}

/**
 * Refuses with `price_changed` a price that one of the limits does not accept. The caller charges exactly
 * this price.
 */
export function requireWithinLimits(limits: readonly PriceLimit[], cents: bigint): void {
  const priceUsd = centsToUsd(cents);
  // Both are the doubles nearest to a decimal, so they compare as the decimals do.
  const exceeded = limits.find(({ usd, isExact }) => (isExact ? priceUsd !== usd : priceUsd > usd));
  if (exceeded) priceChanged(exceeded.field, cents, exceeded.isExact);
}
