/** Computes the top-up for a shortfall, bonus included. Uses cents to avoid rounding. */
import { BONUS_TIERS_USD, TOPUP_MIN_USD } from '../../limits.ts';

const CENTS = 100;

/** Returns the smallest top-up that adds this much to the balance, bonus included. */
export function minimumTopup(missingUsd: number): { readonly amountUsd: number; readonly bonusUsd: number } {
  const missing = Math.round(missingUsd * CENTS);
  const choices = [[TOPUP_MIN_USD, 0] as const, ...BONUS_TIERS_USD].map(([from, bonus]) => ({
    amount: Math.max(from * CENTS, missing - bonus * CENTS),
    bonus: bonus * CENTS,
  }));
  // Of equal amounts, the later tier has the bonus.
  const least = choices.reduce((best, one) => (one.amount <= best.amount ? one : best));
  return { amountUsd: least.amount / CENTS, bonusUsd: least.bonus / CENTS };
}
