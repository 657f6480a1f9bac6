import type { Service } from '../domain/context.ts';
import { sampleServers } from '../domain/servers/sample.ts';
import type { Duty } from './duty.ts';

/** After a long pause each has 30 days to tell: 18,000 rows. */
const BATCH = 25;

/** Keeps the metrics of servers. Nothing waits for them, so no date of theirs is one that a clock stops at. */
export function sampleDuty(service: Service): Duty {
  return {
    name: 'sample',
    housekeeping: true,
    run: () => sampleServers(service, BATCH),
    nextDue: async () => null,
    busy: async () => false,
  };
}
