/**
 * Reads metrics from the driver by the hour. Each read starts at a server's last stored hour, which may be
 * incomplete, and goes back no further than the retention. So gaps close automatically, whether we or the
 * driver caused them.
 */
import { DAY_MS, MINUTE_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { claimSamplings, type DueSampling, enrollServers, saveSamples } from '../../store/servers/metrics.ts';
import type { Service } from '../context.ts';
import { DRIVER_TIMEOUT_MS, withDriverTimeout } from './driver-timeout.ts';
import { isSoldByHand } from './hardware.ts';

const SAMPLE_INTERVAL_MS = 5 * MINUTE_MS;

/** Samples up to `limit` due servers; returns how many were due. */
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
    const samples = await withDriverTimeout(DRIVER_TIMEOUT_MS, service.compute.sample(ids, since));
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
