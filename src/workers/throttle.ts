/** Sums outbound transfer at each full hour of the clock, so that a throttle ends with its month. */
import type { Service } from '../domain/context.ts';
import { throttleServers } from '../domain/servers/traffic.ts';
import { HOUR_MS } from '../kernel/time.ts';
import { claimScheduledRun } from '../store/tasks.ts';
import type { Job } from './job.ts';
import { type Rounds, roundsJob, untilFailure } from './rounds.ts';

const BATCHES_PER_RUN = 10;

export function throttleJob(service: Service): Job {
  return roundsJob('throttle', hourlyRounds(service), BATCHES_PER_RUN);
}

async function* hourlyRounds(service: Service): Rounds {
  for (;;) {
    const nextAt = (Math.floor(service.clock.now().getTime() / HOUR_MS) + 1) * HOUR_MS;
    yield* untilFailure(round(service, new Date(nextAt)));
    while (service.clock.now().getTime() < nextAt) yield null;
  }
}

/** One process does a round. If it is killed, its remaining servers are counted an hour later. */
async function* round(service: Service, nextAt: Date): AsyncGenerator<number> {
  const claim = { name: 'throttle', now: service.clock.now(), nextAt };
  if (await claimScheduledRun(service.db, claim)) yield* throttleServers(service);
}
