/**
 * Measures the components of the public status page, at each full minute of the clock. Nothing waits for it:
 * a clock that jumps leaves a gap, which the domain tells from an outage.
 */
import type { Service } from '../domain/context.ts';
import { measureAvailability } from '../domain/health/availability.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { claimScheduledRun } from '../store/tasks.ts';
import type { Job } from './job.ts';
import { type Rounds, roundsJob, untilFailure } from './rounds.ts';

const NAME = 'measure availability';

export function measureAvailabilityJob(service: Service): Job {
  return roundsJob(NAME, minuteRounds(service), 1);
}

async function* minuteRounds(service: Service): Rounds {
  for (;;) {
    const nextAt = (Math.floor(service.clock.now().getTime() / MINUTE_MS) + 1) * MINUTE_MS;
    yield* untilFailure(round(service, new Date(nextAt)));
    while (service.clock.now().getTime() < nextAt) yield null;
  }
}

/** One process measures. If it is killed, the next one measures a minute later. */
async function* round(service: Service, nextAt: Date): AsyncGenerator<number> {
  const claim = { name: NAME, now: service.clock.now(), nextAt };
  if (!(await claimScheduledRun(service.db, claim))) return;
  await measureAvailability(service);
  yield 1;
}
