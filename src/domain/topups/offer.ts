/** Previews a top-up. Nothing is stored: the rate is locked when the invoice is created. */
import { centsToUsd, coinUnitsDue, formatUnits } from '../../kernel/money.ts';
import { COINS, type CoinCode, getCoin as coinOf, confirmationsNeeded } from '../../spec/coins.ts';
import { readBalance } from '../../store/ledger/ledger.ts';
import type { CustomerActor, Service } from '../context.ts';
import { bonusCents } from './amount.ts';

export interface OfferedCoin {
  readonly code: CoinCode;
  readonly network: string;
  /** Whether the service currently accepts this coin. */
  readonly open: boolean;
}

export function listCoins(service: Pick<Service, 'chains'>): readonly OfferedCoin[] {
  return COINS.map(({ code, network }) => ({ code, network, open: service.chains.has(code) }));
}

export interface TopupOffer {
  readonly amount_usd: number;
  readonly bonus_usd: number;
  readonly balance_after_usd: number;
  /** The amount due at the current rate; null without a coin or a rate. */
  readonly coin: {
    readonly code: CoinCode;
    readonly amount: string;
    readonly rate_usd: string;
    readonly confirmations: number;
  } | null;
  readonly coin_unavailable: boolean;
  /** How long the rate is locked after the invoice is created. */
  readonly kept_minutes: number;
}

/** `amountCents` is from `parseTopupAmount`. */
export async function offerTopup(
  service: Service,
  actor: CustomerActor,
  order: { readonly coin: CoinCode | null; readonly amountCents: bigint },
): Promise<TopupOffer> {
  const { coin, amountCents } = order;
  const bonus = bonusCents(amountCents);
  const [balance, priced] = await Promise.all([
    readBalance(service.db, actor.customerId),
    coin === null ? null : priceInCoin(service, coin, amountCents),
  ]);
  return {
    amount_usd: centsToUsd(amountCents),
    bonus_usd: centsToUsd(bonus),
    balance_after_usd: centsToUsd(balance + amountCents + bonus),
    coin: priced,
    coin_unavailable: coin !== null && priced === null,
    kept_minutes: service.settings.rateLockMinutes,
  };
}

async function priceInCoin(
  service: Service,
  coin: CoinCode,
  amountCents: bigint,
): Promise<TopupOffer['coin']> {
  if (!service.chains.has(coin)) return null;
  const { decimals } = coinOf(coin);
  try {
    const { usd: rateUsd } = await service.rates.usdPerCoin(coin);
    const amount = formatUnits(coinUnitsDue(amountCents, rateUsd, decimals), decimals);
    return { code: coin, amount, rate_usd: rateUsd, confirmations: confirmationsNeeded(coin, amountCents) };
  } catch (error) {
    service.log.warn({ err: error, coin }, 'no rate available for a top-up preview');
    return null;
  }
}
