import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import { DAY_MS, formatRfc3339, HOUR_MS, SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { METRICS_STEP_S, type Metrics } from '../../spec/schemas/metrics.ts';
import { findMetrics, type MetricsRow } from '../../store/servers/metrics.ts';
import type { CustomerActor, Service } from '../context.ts';

/** Returns hourly means for up to 30 days; refuses with `not_found`. */
export async function getMetrics(service: Service, actor: CustomerActor, shownId: string): Promise<Metrics> {
  const id = parseId('server', shownId) ?? notFound('server');
  const end = service.clock.now();
  // Round up to the first whole hour inside the retention period.
  const start = new Date(
    Math.ceil((end.getTime() - LIMITS.metricsRetentionDays * DAY_MS) / HOUR_MS) * HOUR_MS,
  );
  const rows = (await findMetrics(service.db, actor.customerId, id, start)) ?? notFound('server');
  const series = (value: (row: MetricsRow) => number) =>
    rows.map((row) => [row.hour.getTime() / SECOND_MS, value(row)]);
  return {
    object: 'metrics',
    server: shownId,
    start: formatRfc3339(start),
    end: formatRfc3339(end),
    step_s: METRICS_STEP_S,
    series: {
      cpu_pct: series((row) => Math.round(row.cpu_pct * 100) / 100),
      ram_mb: series((row) => Math.round(row.ram_mb)),
      disk_read_bps: series((row) => Math.round(row.disk_read_bps)),
      disk_write_bps: series((row) => Math.round(row.disk_write_bps)),
      net_in_bps: series((row) => Math.round(row.net_in_bps)),
      net_out_bps: series((row) => Math.round(row.net_out_bps)),
    },
  };
}
