import type { Service } from '../domain/context.ts';
import { sampleServers } from '../domain/servers/metrics.ts';
import { housekeepingJob, type Job } from './job.ts';

/** After a long outage each server has 30 days of metrics: 18,000 rows per batch. */
const BATCH_SIZE = 25;

/** Stores the metrics of servers. Nothing waits for them, so it plans no due dates. */
export function sampleJob(service: Service): Job {
  return housekeepingJob('sample', () => sampleServers(service, BATCH_SIZE));
}
