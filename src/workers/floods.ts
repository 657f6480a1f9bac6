/** Counts packets every ten seconds of the clock, and lifts blackholes at their time. */
import type { Service } from '../domain/context.ts';
import { liftDueBlackholes } from '../domain/servers/floods/blackhole.ts';
import { watchFloods } from '../domain/servers/floods/watch.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { FLOOD_LIMITS } from '../spec/staff/floods.ts';
import { nextBlackholeEnd } from '../store/servers/blackholes.ts';
import { claimScheduledRun } from '../store/tasks.ts';
import type { Job } from './job.ts';
import { type Rounds, roundsJob, untilFailure } from './rounds.ts';

const NAME = 'watch floods';
const EVERY_MS = FLOOD_LIMITS.sampleEveryS * SECOND_MS;
const BATCHES_PER_RUN = 10;
const LIFTS_PER_RUN = 20;

export function floodsJob(service: Service): Job {
  return roundsJob(NAME, sampleRounds(service), BATCHES_PER_RUN);
}

async function* sampleRounds(service: Service): Rounds {
  for (;;) {
    const nextAt = (Math.floor(service.clock.now().getTime() / EVERY_MS) + 1) * EVERY_MS;
    yield* untilFailure(round(service, new Date(nextAt)));
    while (service.clock.now().getTime() < nextAt) yield null;
  }
}

/** One process takes a sample. If it is killed, the next one takes the next. */
async function* round(service: Service, nextAt: Date): AsyncGenerator<number> {
  const claim = { name: NAME, now: service.clock.now(), nextAt };
  if (await claimScheduledRun(service.db, claim)) yield* watchFloods(service);
}

export function liftBlackholesJob(service: Service): Job {
  return {
    name: 'lift blackholes',
    run: () => liftDueBlackholes(service, LIFTS_PER_RUN),
    nextDue: () => nextBlackholeEnd(service.db),
    busy: async () => false,
  };
}
