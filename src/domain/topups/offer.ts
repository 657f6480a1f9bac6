/** What a top-up would bring, before there is one. Nothing is kept: the rate counts from the moment an address is asked for. */
import { centsToUsd, coinUnitsDue, formatUnits } from '../../kernel/money.ts';
import { COINS, type CoinCode, getCoin as coinOf, confirmationsNeeded } from '../../spec/coins.ts';
import { readBalance } from '../../store/ledger.ts';
import type { CustomerActor, Service } from '../context.ts';
import { bonusCents } from './amount.ts';

export interface OfferedCoin {
  readonly code: CoinCode;
  readonly network: string;
  /** False: this service takes no payments in it now. */
  readonly open: boolean;
}

export function listCoins(service: Pick<Service, 'chains'>): readonly OfferedCoin[] {
  return COINS.map(({ code, network }) => ({ code, network, open: service.chains.has(code) }));
}

export interface TopupOffer {
  readonly amount_usd: number;
  readonly bonus_usd: number;
  readonly balance_after_usd: number;
  /** What is to be paid at the rate of now; null: no coin was chosen, or there is no rate for it now. */
  readonly coin: {
    readonly code: CoinCode;
    readonly amount: string;
    readonly rate_usd: string;
    readonly confirmations: number;
  } | null;
  readonly coin_unavailable: boolean;
  /** How long the rate is kept once there is an address. */
  readonly kept_minutes: number;
}

/** `amountCents` from `parseTopupAmount`. */
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
    service.log.warn({ err: error, coin }, 'no rate to show what a top-up would cost');
    return null;
  }
}
