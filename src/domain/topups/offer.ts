/**
 * The offer of a top-up: amount, bonus, and coins. Nothing is stored: the rate is locked when the
 * invoice is created.
 */
import { fail } from '../../kernel/fail.ts';
import { centsToUsd, coinUnitsDue, formatUnits } from '../../kernel/money.ts';
import { RateUnavailable } from '../../ports/rates.ts';
import {
  COIN_CODES,
  COINS,
  type CoinCode,
  getCoin as coinOf,
  confirmationsNeeded,
} from '../../spec/coins.ts';
import { COIN_UNAVAILABLE_MESSAGE, NO_RATE_MESSAGES } from '../../spec/error-messages.ts';
import { BONUS_TIERS_USD, LIMITS } from '../../spec/limits.ts';
import { readBalance } from '../../store/ledger/ledger.ts';
import { listFailingChains } from '../../store/service/status.ts';
import type { CustomerActor, Service } from '../context.ts';

/**
 * Parses US dollars, as typed or from JSON, to cents. Fails with `bad_amount`, `amount_too_low` {min}, or
 * `amount_too_high` {max}. The bounds are checked before the decimals: 29.999 is too low, 30.001 is not an
 * amount.
 */
export function parseTopupAmount(text: string): bigint {
  const match = text.length > TEXT_MAX_CHARS ? null : /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (!match) fail('bad_amount');
  const [, sign, whole = '', decimals = ''] = match;
  const fraction = decimals.replace(/0+$/, '');
  const cents = BigInt(whole + fraction.slice(0, 2).padEnd(2, '0'));
  const hasFractionalCents = fraction.length > 2;
  if (sign === '-' || cents < LIMITS.topupMinCents) {
    fail('amount_too_low', { min: centsToUsd(LIMITS.topupMinCents) });
  }
  if (cents > LIMITS.topupMaxCents || (cents === LIMITS.topupMaxCents && hasFractionalCents)) {
    fail('amount_too_high', { max: centsToUsd(LIMITS.topupMaxCents) });
  }
  return hasFractionalCents ? fail('bad_amount') : cents;
}

/** Returns the bonus of an invoice's total credit: the flat amount of the highest tier reached. */
export function bonusCents(creditedCents: bigint): bigint {
  const reached = BONUS_TIERS_USD.filter(([thresholdUsd]) => creditedCents >= BigInt(thresholdUsd) * 100n);
  return BigInt(Math.max(0, ...reached.map(([, bonusUsd]) => bonusUsd))) * 100n;
}

/** Returns the smallest top-up that adds this much to the balance with its bonus, up to the largest one. */
export function smallestTopup(missingCents: bigint): {
  readonly amountCents: bigint;
  readonly bonusCents: bigint;
} {
  const tiers = BONUS_TIERS_USD.map(([fromUsd, bonusUsd]) => [
    BigInt(fromUsd) * 100n,
    BigInt(bonusUsd) * 100n,
  ]);
  const amounts = [[LIMITS.topupMinCents, 0n], ...tiers].map(([from = 0n, bonus = 0n]) => {
    const rest = missingCents - bonus;
    return rest > from ? rest : from;
  });
  const least = amounts.reduce((best, one) => (one < best ? one : best));
  const amountCents = least > LIMITS.topupMaxCents ? LIMITS.topupMaxCents : least;
  return { amountCents, bonusCents: bonusCents(amountCents) };
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
  /** Why the coin has no rate; null without a coin or with a rate. */
  readonly coin_problem: string | null;
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
  const [balance, { priced, problem }] = await Promise.all([
    readBalance(service.db, actor.customerId),
    coin === null ? { priced: null, problem: null } : priceInCoin(service, coin, amountCents),
  ]);
  return {
    amount_usd: centsToUsd(amountCents),
    bonus_usd: centsToUsd(bonus),
    balance_after_usd: centsToUsd(balance + amountCents + bonus),
    coin: priced,
    coin_problem: problem,
    kept_minutes: service.settings.rateLockMinutes,
  };
}

async function priceInCoin(
  service: Service,
  coin: CoinCode,
  amountCents: bigint,
): Promise<{ readonly priced: TopupOffer['coin']; readonly problem: string | null }> {
  if (!service.chains.has(coin)) return { priced: null, problem: COIN_UNAVAILABLE_MESSAGE };
  const { decimals } = coinOf(coin);
  try {
    const { usd: rateUsd } = await service.rates.usdPerCoin(coin);
    const amount = formatUnits(coinUnitsDue(amountCents, rateUsd, decimals), decimals);
    const confirmations = confirmationsNeeded(coin, amountCents);
    return { priced: { code: coin, amount, rate_usd: rateUsd, confirmations }, problem: null };
  } catch (error) {
    service.log.warn({ err: error, coin }, 'no rate available for a top-up preview');
    const problem =
      error instanceof RateUnavailable ? NO_RATE_MESSAGES[error.reason](coin) : COIN_UNAVAILABLE_MESSAGE;
    return { priced: null, problem };
  }
}

export interface OfferedCoin {
  readonly code: CoinCode;
  readonly network: string;
  /** Whether the service currently accepts this coin. */
  readonly open: boolean;
}

export function listCoins(service: Pick<Service, 'chains'>): readonly OfferedCoin[] {
  return COINS.map(({ code, network }) => ({ code, network, open: service.chains.has(code) }));
}

export interface PayableCoin extends OfferedCoin {
  /** Why it has no exchange rate right now, in words; null if it has one. */
  readonly problem: string | null;
}

/** Returns the coins that the service accepts. */
export async function listPayableCoins({
  chains,
  rates,
}: Pick<Service, 'chains' | 'rates'>): Promise<readonly PayableCoin[]> {
  const unpriced = await rates.findUnpriced([...chains.keys()]);
  return listCoins({ chains }).flatMap((coin) => {
    const reason = unpriced.get(coin.code);
    const problem = reason === undefined ? null : NO_RATE_MESSAGES[reason](coin.code);
    return coin.open ? [{ ...coin, problem }] : [];
  });
}

/** This many consecutive failures count as a delay; a single failure recovers within seconds. */
const FAILURES_WARNING = 10;

export interface CoinState {
  readonly coin: CoinCode;
  /** Whether the service gives out addresses for it. */
  readonly taken: boolean;
  /** Whether payments are detected later than usual. */
  readonly late: boolean;
  /** Whether it has no exchange rate right now, so new top-ups are refused. */
  readonly unpriced: boolean;
}

export async function readCoins(service: Pick<Service, 'db' | 'chains' | 'rates'>): Promise<CoinState[]> {
  const late = new Set((await listFailingChains(service.db, FAILURES_WARNING)).map(({ code }) => code));
  const unpriced = await service.rates.findUnpriced([...service.chains.keys()]);
  return COIN_CODES.map((coin) => ({
    coin,
    taken: service.chains.has(coin),
    late: late.has(coin),
    unpriced: unpriced.has(coin),
  }));
}

/** Longer than any amount of money, but short enough to parse. */
const TEXT_MAX_CHARS = 60;
