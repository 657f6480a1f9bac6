/** The metrics that an alert can watch, how it compares, and over which time. */

export type AlertUnit = 'percent' | 'bytes_per_s' | 'none';

interface AlertMetricRow {
  /** Completes "when". */
  readonly title: string;
  readonly unit: AlertUnit;
  /** The largest value that the metric can have. */
  readonly max: number;
}

const RATE_MAX = 1_000_000_000_000;

export const ALERT_METRICS = {
  cpu_pct: { title: 'CPU', unit: 'percent', max: 100 },
  ram_pct: { title: 'Memory', unit: 'percent', max: 100 },
  disk_write_bps: { title: 'Disk writes', unit: 'bytes_per_s', max: RATE_MAX },
  net_out_bps: { title: 'Outbound traffic', unit: 'bytes_per_s', max: RATE_MAX },
  transfer_pct: { title: 'Transfer of the month', unit: 'percent', max: 1_000 },
  unreachable: { title: 'Unreachable', unit: 'none', max: 0 },
} as const satisfies Readonly<Record<string, AlertMetricRow>>;
export type AlertMetric = keyof typeof ALERT_METRICS;
export const ALERT_METRIC_NAMES = Object.keys(ALERT_METRICS) as readonly AlertMetric[];

export const ALERT_COMPARISONS = ['gt', 'lt'] as const;
export type AlertComparison = (typeof ALERT_COMPARISONS)[number];

/** Minutes by the name of a window. */
export const ALERT_WINDOWS = { '5m': 5, '10m': 10, '30m': 30, '1h': 60 } as const;
export type AlertWindow = keyof typeof ALERT_WINDOWS;
export const ALERT_WINDOW_NAMES = Object.keys(ALERT_WINDOWS) as readonly AlertWindow[];

/** Whether the metric is compared with a value. */
export function hasValue(metric: AlertMetric): boolean {
  return ALERT_METRICS[metric].unit !== 'none';
}
