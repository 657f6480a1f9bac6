/**
 * A second, plain implementation of the contract's arithmetic: prices, months, coins, bonus. Money is in
 * cents.
 */
export const PLANS = { s1: 735n, s2: 1470n, s3: 2945n, r1: 8990n } as const;
export type Plan = keyof typeof PLANS;
export const CYCLE_MONTHS = [1, 3, 6, 12] as const;
export type Months = (typeof CYCLE_MONTHS)[number];
export const COINS = {
  LTC: { decimals: 8, usd: '80' },
  XMR: { decimals: 12, usd: '150' },
  USDT: { decimals: 6, usd: '1' },
} as const;
export type Coin = keyof typeof COINS;

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const WARNING_DAYS = [7, 3, 1] as const;
export const GRACE_DAYS = 14;
export const LOW_BALANCE_DAYS = 7;

const CYCLE_PERCENT = { 1: 100n, 3: 75n, 6: 65n, 12: 50n } as const;

/** Rounds half up to the cent. */
export function cyclePrice(plan: Plan, months: Months): bigint {
  return (PLANS[plan] * BigInt(months) * CYCLE_PERCENT[months] + 50n) / 100n;
}

/** Falls on the anchor day, or on the last day of a shorter month. */
export function addMonths(from: number, months: number, anchor: number): number {
  const at = new Date(from);
  const first = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1));
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  return first.getTime() + (Math.min(anchor, days) - 1) * DAY_MS + (from % DAY_MS);
}

export function dayOfMonth(time: number): number {
  return new Date(time).getUTCDate();
}

/** Returns the bonus of the highest tier that an invoice's total credit reaches. */
export function bonusFor(cents: bigint): bigint {
  if (cents >= 100_000n) return 70_000n;
  if (cents >= 50_000n) return 30_000n;
  if (cents >= 25_000n) return 10_000n;
  return cents >= 10_000n ? 3_000n : 0n;
}

/** Returns the coin units for an amount, rounded up. `usd` is the decimal price of one whole coin. */
export function unitsFor(cents: bigint, coin: Coin, usd: string): bigint {
  const { digits, scale } = parseDecimal(usd);
  const divisor = digits * 100n;
  return (cents * 10n ** BigInt(COINS[coin].decimals) * scale + divisor - 1n) / divisor;
}

/** Returns the value of coin units in cents, rounded down. */
export function centsFor(units: bigint, coin: Coin, usd: string): bigint {
  const { digits, scale } = parseDecimal(usd);
  return (units * digits * 100n) / (scale * 10n ** BigInt(COINS[coin].decimals));
}

export function formatCoin(units: bigint, coin: Coin): string {
  const { decimals } = COINS[coin];
  const digits = units.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

export function parseCoin(text: string, coin: Coin): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(COINS[coin].decimals, '0'));
}

function parseDecimal(text: string): { digits: bigint; scale: bigint } {
  const [whole = '', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), scale: 10n ** BigInt(fraction.length) };
}
