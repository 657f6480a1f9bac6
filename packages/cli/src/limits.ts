/**
 * Limits of the API that the CLI checks before it sends a request, to report mistakes early. The service
 * still decides. A test compares them with the API's own limits.
 */

export const TOPUP_MIN_USD = 30;
export const TOPUP_MAX_USD = 10_000;
/** Flat bonus of a top-up: the highest tier that the credited amount reaches. */
export const BONUS_TIERS_USD: readonly (readonly [fromUsd: number, bonusUsd: number])[] = [
  [100, 30],
  [250, 100],
  [500, 300],
  [1_000, 700],
];
/** A payment gets the top-up's rate if its block is at most this many hours after `expires_at`. */
export const RATE_GRACE_HOURS = 3;

/** Lengths of a billing cycle, in months. */
export const CYCLE_MONTHS = [1, 3, 6, 12] as const;
/** The same lengths as option values. */
export const CYCLES = ['1', '3', '6', '12'] as const satisfies readonly `${(typeof CYCLE_MONTHS)[number]}`[];

export const ALERT_METRICS = [
  ...['cpu_pct', 'ram_pct', 'disk_write_bps', 'net_out_bps', 'transfer_pct', 'unreachable'],
] as const satisfies readonly string[];
export const ALERT_COMPARISONS = ['gt', 'lt'] as const;
export const ALERT_WINDOWS = ['5m', '10m', '30m', '1h'] as const;

export const WEEKDAYS = [
  ...['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'],
] as const satisfies readonly string[];
export const BACKUPS_KEPT_MAX = 30;

export const VOLUME_MIN_GB = 10;
export const VOLUME_MAX_GB = 4_096;
export const USER_DATA_MAX_BYTES = 64 * 1024;
export const IMAGE_MAX_BYTES = 4 * 1024 ** 3;
export const IMAGE_UPLOADS_MAX = 2;

/** A price of the rest of a cycle may rise by a cent between reading it and paying it. */
export const ROUNDING_USD = 0.01;
