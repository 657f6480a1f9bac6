/**
 * Purges expired data (domain/retention.ts). A round through all rules starts ten minutes after the
 * previous one ended, and continues in small batches. It plans no due dates, so the sandbox's clock never
 * stops for it. When that clock races through a year, a round starts once a second at most.
 */
import type { Service } from '../domain/context.ts';
import {
  FIRST_PURGE_CURSOR,
  nextRuleCursor,
  type PurgeCursor,
  purgeNext,
  RETENTION_NAMES,
} from '../domain/retention.ts';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import type { Job } from './job.ts';

/**
 * Business time between the end of a round and the next one, and real time between the starts of two rounds.
 */
const ROUND_INTERVAL_MS = 10 * MINUTE_MS;
const ROUND_START_SPACING_MS = SECOND_MS;
/** Statements per run: a round that finds nothing takes one run. */
const BATCHES_PER_RUN = 2 * RETENTION_NAMES.length;

export function retainJob(service: Service): Job {
  let position: PurgeCursor | null = null;
  let nextRoundAt = Number.NEGATIVE_INFINITY;
  let startedAtMs = Number.NEGATIVE_INFINITY;
  async function step(at: PurgeCursor): Promise<number> {
    // If this batch fails, the round continues with the next rule.
    position = nextRuleCursor(at);
    try {
      const { gone, next } = await purgeNext(service, at);
      position = next;
      return gone;
    } finally {
      if (position === null) nextRoundAt = service.clock.now().getTime() + ROUND_INTERVAL_MS;
    }
  }
  return {
    name: 'retain',
    housekeeping: true,
    run: async () => {
      if (position === null) {
        const real = performance.now();
        if (service.clock.now().getTime() < nextRoundAt || real - startedAtMs < ROUND_START_SPACING_MS)
          return 0;
        startedAtMs = real;
        position = FIRST_PURGE_CURSOR;
      }
      let gone = 0;
      for (let batch = 0; batch < BATCHES_PER_RUN && position !== null; batch++) gone += await step(position);
      return gone;
    },
    nextDue: async () => null,
    busy: async () => false,
  };
}
