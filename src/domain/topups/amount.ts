/** Parses the amount of a top-up and computes its bonus. */
import { fail } from '../../kernel/fail.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { BONUS_TIERS_USD, LIMITS } from '../../spec/limits.ts';

/** Longer than any amount of money, but short enough to parse. */
const TEXT_MAX_CHARS = 60;

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
