/**
 * Limits of the contract that the command line knows by heart, so that a slip is said before anything is sent. The service has the
 * last word. A test holds them against the contract's own.
 */

export const TOPUP_MIN_USD = 30;
export const TOPUP_MAX_USD = 10_000;
/** Bonus of a top-up: flat, of the highest tier that its credit reaches. */
export const BONUS_TIERS_USD: readonly (readonly [fromUsd: number, bonusUsd: number])[] = [
  [100, 30],
  [250, 100],
  [500, 300],
  [1_000, 700],
];
/** In a block by this long after `expires_at`, a payment still has the rate of its top-up. */
export const RATE_GRACE_HOURS = 3;

/** Months of a cycle. */
export const CYCLE_MONTHS = [1, 3, 6, 12] as const;
/** The same, as an option takes them. */
export const CYCLES = ['1', '3', '6', '12'] as const satisfies readonly `${(typeof CYCLE_MONTHS)[number]}`[];

export const VOLUME_MIN_GB = 10;
export const VOLUME_MAX_GB = 4_096;
export const USER_DATA_MAX_BYTES = 64 * 1024;
export const IMAGE_MAX_BYTES = 4 * 1024 ** 3;
