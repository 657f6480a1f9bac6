/** The steps of metrics, and how many hours of each are stored. */
import { LIMITS } from './limits.ts';

export const METRICS_STEPS = {
  60: { hours: LIMITS.minuteMetricsHours },
  300: { hours: LIMITS.fiveMinuteMetricsHours },
  3600: { hours: LIMITS.metricsRetentionDays * 24 },
} as const;

export type MetricsStep = keyof typeof METRICS_STEPS;
/** Of those that are stored as points. */
export type FineStep = Exclude<MetricsStep, 3600>;
export const METRICS_STEPS_S = [60, 300, 3600] as const satisfies readonly MetricsStep[];
export const METRICS_STEP_DEFAULT_S = 3600;

/** The numbers of a point, in their order. */
export const POINT_SERIES = [
  'cpu_pct',
  'ram_mb',
  'disk_read_bps',
  'disk_write_bps',
  'net_in_bps',
  'net_out_bps',
] as const;
