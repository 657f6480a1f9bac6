import type { Service } from '../domain/context.ts';
import { sampleServers } from '../domain/servers/sample.ts';
import type { Job } from './job.ts';

/** After a long pause each has 30 days to tell: 18,000 rows. */
const BATCH_SIZE = 25;

/** Keeps the metrics of servers. Nothing waits for them, so no date of theirs is one that a clock stops at. */
export function sampleJob(service: Service): Job {
  return {
    name: 'sample',
    housekeeping: true,
    run: () => sampleServers(service, BATCH_SIZE),
    nextDue: async () => null,
    busy: async () => false,
  };
}
