/** Metrics of servers: shows them to the customer, and reads those by the hour from the driver. */
import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, formatRfc3339, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { METRICS_STEP_DEFAULT_S, METRICS_STEPS, type MetricsStep } from '../../spec/metrics.ts';
import type { Metrics } from '../../spec/schemas/server-actions.ts';
import {
  claimSamplings,
  type DueSampling,
  enrollServers,
  findMetrics,
  type MetricsRow,
  saveSamples,
} from '../../store/servers/metrics.ts';
import { findPoints, POINT_WIDTH } from '../../store/servers/points.ts';
import type { CustomerActor, Service } from '../context.ts';
import { isSoldByHand } from './hardware.ts';
import { withDriverTimeout } from './operations/driver-call.ts';

/** Returns the means of all stored steps; refuses with `not_found`. */
export async function getMetrics(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  step: MetricsStep = METRICS_STEP_DEFAULT_S,
): Promise<Metrics> {
  const id = parseId('server', shownId) ?? notFound('server');
  const end = service.clock.now();
  const stepMs = step * SECOND_MS;
  // Round up to the first whole step inside the retention period.
  const start = new Date(Math.ceil((end.getTime() - METRICS_STEPS[step].hours * HOUR_MS) / stepMs) * stepMs);
  const wanted = { customerId: actor.customerId, serverId: id, since: start };
  const rows =
    (step === METRICS_STEP_DEFAULT_S
      ? await findMetrics(service.db, wanted.customerId, id, start)
      : await findFineMetrics(service.db, { ...wanted, step })) ?? notFound('server');
  const series = (value: (row: MetricsRow) => number) =>
    rows.map((row) => [row.hour.getTime() / SECOND_MS, value(row)]);
  return {
    object: 'metrics',
    server: shownId,
    start: formatRfc3339(start),
    end: formatRfc3339(end),
    step_s: step,
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

/** Returns the points of a fine step as rows. A step without a sample has none. */
async function findFineMetrics(
  tx: Sql,
  wanted: Parameters<typeof findPoints>[1],
): Promise<MetricsRow[] | undefined> {
  const found = await findPoints(tx, wanted);
  return found?.flatMap(({ starts_at: startsAt, points }) => {
    const rows: MetricsRow[] = [];
    for (let place = 0; place < points.length; place += POINT_WIDTH) {
      const hour = new Date(startsAt.getTime() + (place / POINT_WIDTH) * wanted.step * SECOND_MS);
      if (hour < wanted.since || points[place] === null) continue;
      const [
        cpu_pct = 0,
        ram_mb = 0,
        disk_read_bps = 0,
        disk_write_bps = 0,
        net_in_bps = 0,
        net_out_bps = 0,
      ] = points.slice(place, place + POINT_WIDTH).map(Number);
      rows.push({ hour, cpu_pct, ram_mb, disk_read_bps, disk_write_bps, net_in_bps, net_out_bps });
    }
    return rows;
  });
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
