/**
 * Money is a `bigint` in the smallest unit: US cents, or a coin's smallest unit. Rounding is always explicit.
 * External rates and prices are decimal text, parsed exactly: a JavaScript number would lose digits.
 */
export type Rounding = 'up' | 'down' | 'half_up';

/** Returns a × b ÷ c for non-negative values, with the given rounding. */
export function mulDiv(a: bigint, b: bigint, c: bigint, rounding: Rounding): bigint {
  if (a < 0n || b < 0n || c <= 0n)
    throw new RangeError('mulDiv takes non-negative values and a positive divisor');
  const product = a * b;
  if (rounding === 'up') return (product + c - 1n) / c;
  if (rounding === 'half_up') return (product * 2n + c) / (c * 2n);
  return product / c;
}

/** Parses decimal text to digits and a scale: `61234.5` → { digits: 612345n, scale: 10n }. */
export function parseDecimal(text: string): { digits: bigint; scale: bigint } | undefined {
  const match = /^(\d{1,30})(?:\.(\d{1,30}))?$/.exec(text);
  if (!match) return undefined;
  const fraction = match[2] ?? '';
  return { digits: BigInt(`${match[1]}${fraction}`), scale: 10n ** BigInt(fraction.length) };
}

/** Parses decimal text to units of 10^-decimals. Undefined when it is malformed or has more decimals. */
export function parseUnits(text: string, decimals: number): bigint | undefined {
  const parsed = parseDecimal(text);
  if (!parsed) return undefined;
  const scaled = parsed.digits * 10n ** BigInt(decimals);
  return scaled % parsed.scale === 0n ? scaled / parsed.scale : undefined;
}

/** Formats units of 10^-decimals as decimal text; removes trailing zeros unless `fixed`. */
export function formatUnits(units: bigint, decimals: number, fixed = false): string {
  const sign = units < 0n ? '-' : '';
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  if (decimals === 0) return sign + digits;
  const whole = digits.slice(0, -decimals);
  const fraction = digits.slice(-decimals);
  const shown = fixed ? fraction : fraction.replace(/0+$/, '');
  return shown === '' ? sign + whole : `${sign}${whole}.${shown}`;
}

/** `1999n` → `19.99`. */
export function formatCents(cents: bigint): string {
  return formatUnits(cents, 2, true);
}

/**
 * `1999n` → `19.99` as a JSON number. Exact, because a double prints the same two decimals: a division rounds
 * to the double that is nearest to the quotient, as reading the text does.
 */
export function centsToUsd(cents: bigint): number {
  const number = Number(cents);
  return Number.isSafeInteger(number) ? number / 100 : Number(formatCents(cents));
}

/** Returns the coin units due for an amount, at a rate in dollars per whole coin. Rounds up, in our favor. */
export function coinUnitsDue(amountCents: bigint, usdPerCoin: string, decimals: number): bigint {
  const rate = parsePositiveDecimal(usdPerCoin);
  return mulDiv(amountCents * 10n ** BigInt(decimals), rate.scale, rate.digits * 100n, 'up');
}

/** Returns the value of coin units in cents at a rate. Rounds down. */
export function coinValueCents(units: bigint, usdPerCoin: string, decimals: number): bigint {
  const rate = parsePositiveDecimal(usdPerCoin);
  return mulDiv(units * 100n, rate.digits, rate.scale * 10n ** BigInt(decimals), 'down');
}

/** Converts cents to another currency at a rate, rounded half up. For display only. */
export function convertCents(cents: bigint, rate: string): bigint {
  const { digits, scale } = parsePositiveDecimal(rate);
  return mulDiv(cents, digits, scale, 'half_up');
}

function parsePositiveDecimal(text: string): { digits: bigint; scale: bigint } {
  const parsed = parseDecimal(text);
  if (!parsed || parsed.digits === 0n) throw new RangeError(`not a positive decimal: ${text}`);
  return parsed;
}
