/** The amount of a top-up, and the bonus that an amount earns. */
import { fail } from '../../kernel/fail.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { BONUS_TIERS_USD, LIMITS } from '../../spec/limits.ts';

/** Longer than any sum of money, short enough to compute with. */
const TEXT_MAX_CHARS = 60;

/**
 * US dollars as typed, or as they stood in JSON → cents. Refuses with `bad_amount`, `amount_too_low` {min} or
 * `amount_too_high` {max}. The bounds come before the form of the cents: 29.999 is too low, 30.001 is no amount.
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

/** The bonus for what an invoice credited in all: flat, the highest tier reached. */
export function bonusCents(creditedCents: bigint): bigint {
  const reached = BONUS_TIERS_USD.filter(([thresholdUsd]) => creditedCents >= BigInt(thresholdUsd) * 100n);
  return BigInt(Math.max(0, ...reached.map(([, bonusUsd]) => bonusUsd))) * 100n;
}
