/** Metrics of servers: shows them to the customer, and reads them from the driver by the hour. */
import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import { DAY_MS, formatRfc3339, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { METRICS_STEP_S, type Metrics } from '../../spec/schemas/server-actions.ts';
import {
  claimSamplings,
  type DueSampling,
  enrollServers,
  findMetrics,
  type MetricsRow,
  saveSamples,
} from '../../store/servers/metrics.ts';
import type { CustomerActor, Service } from '../context.ts';
import { isSoldByHand } from './hardware.ts';
import { withDriverTimeout } from './operations/driver-call.ts';

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

const SAMPLE_INTERVAL_MS = 5 * MINUTE_MS;

/**
 * Samples up to `limit` due servers; returns how many were due. Each read starts at a server's last stored
 * hour, which may be incomplete, and goes back no further than the retention. So gaps close automatically,
 * whether we or the driver caused them.
 */
export async function sampleServers(service: Service, limit: number): Promise<number> {
  const now = service.clock.now();
  await enrollServers(service.db, { now, limit, machines: !isSoldByHand(service, 'dedicated') });
  const nextAt = new Date(now.getTime() + SAMPLE_INTERVAL_MS);
  const due = await claimSamplings(service.db, { now, nextAt, limit });
  for (const [since, ids] of groupBySince(due, now)) await sampleFrom(service, ids, new Date(since));
  return due.length;
}

/** Leaves a gap until the next sample if the driver fails. */
async function sampleFrom(service: Service, ids: readonly string[], since: Date): Promise<void> {
  try {
    const samples = await withDriverTimeout(service.compute.sample(ids, since));
    if (samples.length > 0) await saveSamples(service.db, samples);
  } catch (error) {
    service.log.warn({ err: error, servers: ids.length }, 'metrics could not be read');
  }
}

/** Groups servers by the hour to read from: most share the same one. */
function groupBySince(due: readonly DueSampling[], now: Date): Map<number, string[]> {
  const earliest = now.getTime() - LIMITS.metricsRetentionDays * DAY_MS;
  const groups = new Map<number, string[]>();
  for (const { server_id: id, last_hour: lastHour } of due) {
    const since = Math.max(lastHour?.getTime() ?? earliest, earliest);
    groups.set(since, [...(groups.get(since) ?? []), id]);
  }
  return groups;
}
