/**
 * Removes what was kept long enough (domain/retention/rules.ts). A round through all rules begins ten minutes after the
 * last one ended; it goes on where it stopped, a few batches at a time. No date of it is one that the sandbox's clock stops
 * at, and when that clock races through a year, a round begins once a second at most.
 */
import type { Service } from '../domain/context.ts';
import { purgeNext, ROUND_BEGINS, type RoundPlace, ruleAfter } from '../domain/retention/purge.ts';
import { RETENTION_NAMES } from '../domain/retention/rules.ts';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import type { Duty } from './duty.ts';

/** Business time between the end of a round and the next one, and real time between the beginnings of two. */
const EVERY_MS = 10 * MINUTE_MS;
const APART_MS = SECOND_MS;
/** Statements of one run: a round that finds nothing is over in one. */
const BATCHES = 2 * RETENTION_NAMES.length;

export function retainDuty(service: Service): Duty {
  let place: RoundPlace | null = null;
  let nextRoundAt = Number.NEGATIVE_INFINITY;
  let begunAt = Number.NEGATIVE_INFINITY;
  async function step(at: RoundPlace): Promise<number> {
    // Should it fail, the round goes on with the next rule.
    place = ruleAfter(at);
    try {
      const { gone, next } = await purgeNext(service, at);
      place = next;
      return gone;
    } finally {
      if (place === null) nextRoundAt = service.clock.now().getTime() + EVERY_MS;
    }
  }
  return {
    name: 'retain',
    housekeeping: true,
    run: async () => {
      if (place === null) {
        const real = performance.now();
        if (service.clock.now().getTime() < nextRoundAt || real - begunAt < APART_MS) return 0;
        begunAt = real;
        place = ROUND_BEGINS;
      }
      let gone = 0;
      for (let batch = 0; batch < BATCHES && place !== null; batch++) gone += await step(place);
      return gone;
    },
    nextDue: async () => null,
    busy: async () => false,
  };
}
