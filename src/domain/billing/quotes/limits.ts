/** The most that a request accepts to be charged: the price of a quote, or an amount. */
import { priceChanged, unknownReference } from '../../../kernel/fail.ts';
import { centsToUsd } from '../../../kernel/money.ts';
import type { StartBody } from '../../../spec/schemas/server-actions.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { type QuoteScope, readQuoteId } from './id.ts';

export interface PriceLimit {
  /** The field that sets it. */
  readonly field: 'quote' | 'max_price_usd';
  readonly usd: number;
}

/** Reads the limits in a body. Refuses with `unknown_reference` a quote that is not for this operation. */
export function readPriceLimits(
  { keys, clock }: Pick<Service, 'keys' | 'clock'>,
  { customerId }: CustomerActor,
  scope: Omit<QuoteScope, 'customerId'>,
  { quote, max_price_usd: maxUsd }: StartBody,
): readonly PriceLimit[] {
  const limits: PriceLimit[] = [];
  if (quote !== undefined) {
    const cents = readQuoteId(keys, { customerId, ...scope }, quote, clock.now());
    limits.push({ field: 'quote', usd: centsToUsd(cents ?? unknownReference('quote')) });
  }
  if (maxUsd !== undefined) limits.push({ field: 'max_price_usd', usd: maxUsd });
  return limits;
}

/** Refuses with `price_changed` a price above one of the limits. The caller charges exactly this price. */
export function requireWithinLimits(limits: readonly PriceLimit[], cents: bigint): void {
  const priceUsd = centsToUsd(cents);
  // Both are the doubles nearest to a decimal, so they compare as the decimals do.
  const exceeded = limits.find(({ usd }) => priceUsd > usd);
  if (exceeded) priceChanged(exceeded.field, cents);
}
