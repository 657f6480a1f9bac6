/**
 * Metrics are read from the driver by the hour: of each server from the last hour that is there, which was not over yet,
 * and no further back than they are shown. So a gap closes by itself, be it ours or the driver's.
 */
import { DAY_MS, MINUTE_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { claimSamplings, type DueSampling, enrollServers, saveSamples } from '../../store/metrics.ts';
import type { Service } from '../context.ts';
import { DRIVER_TIMEOUT_MS, withDriverTimeout } from './driver-timeout.ts';
import { isSoldByHand } from './hardware.ts';

const SAMPLE_INTERVAL_MS = 5 * MINUTE_MS;

/** Samples the servers that are due, `limit` at most; returns how many there were. */
export async function sampleServers(service: Service, limit: number): Promise<number> {
  const now = service.clock.now();
  await enrollServers(service.db, { now, limit, machines: !isSoldByHand(service, 'dedicated') });
  const nextAt = new Date(now.getTime() + SAMPLE_INTERVAL_MS);
  const due = await claimSamplings(service.db, { now, nextAt, limit });
  for (const [since, ids] of groupBySince(due, now)) await sampleFrom(service, ids, new Date(since));
  return due.length;
}

/** A driver that fails leaves a gap until the next time. */
async function sampleFrom(service: Service, ids: readonly string[], since: Date): Promise<void> {
  try {
    const samples = await withDriverTimeout(DRIVER_TIMEOUT_MS, service.compute.sample(ids, since));
    if (samples.length > 0) await saveSamples(service.db, samples);
  } catch (error) {
    service.log.warn({ err: error, servers: ids.length }, 'metrics could not be read');
  }
}

/** Which servers are asked for together: most were last seen in the same hour. */
function groupBySince(due: readonly DueSampling[], now: Date): Map<number, string[]> {
  const earliest = now.getTime() - LIMITS.metricsRetentionDays * DAY_MS;
  const groups = new Map<number, string[]>();
  for (const { server_id: id, last_hour: lastHour } of due) {
    const since = Math.max(lastHour?.getTime() ?? earliest, earliest);
    groups.set(since, [...(groups.get(since) ?? []), id]);
  }
  return groups;
}
