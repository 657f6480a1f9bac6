/**
 * Removes what was kept long enough (domain/retention/rules.ts). A round through all rules begins ten minutes after the
 * last one ended; it goes on where it stopped, a few batches at a time. No date of it is one that the sandbox's clock stops
 * at, and when that clock races through a year, a round begins once a second at most.
 */
import type { Service } from '../domain/context.ts';
import {
  FIRST_PURGE_CURSOR,
  nextRuleCursor,
  type PurgeCursor,
  purgeNext,
} from '../domain/retention/purge.ts';
import { RETENTION_NAMES } from '../domain/retention/rules.ts';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import type { Job } from './job.ts';

/** Business time between the end of a round and the next one, and real time between the beginnings of two. */
const ROUND_INTERVAL_MS = 10 * MINUTE_MS;
const ROUND_START_SPACING_MS = SECOND_MS;
/** Statements of one run: a round that finds nothing is over in one. */
const BATCHES_PER_RUN = 2 * RETENTION_NAMES.length;

export function retainJob(service: Service): Job {
  let position: PurgeCursor | null = null;
  let nextRoundAt = Number.NEGATIVE_INFINITY;
  let startedAtMs = Number.NEGATIVE_INFINITY;
  async function step(at: PurgeCursor): Promise<number> {
    // Should it fail, the round goes on with the next rule.
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
