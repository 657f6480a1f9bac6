/** Reads metrics by the minute, at each full minute of the clock, and then evaluates alerts on them. */

import type { Service } from '../domain/context.ts';
import { evaluateAlerts } from '../domain/servers/alerts/evaluate.ts';
import { sampleMinutes } from '../domain/servers/minutes.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { claimScheduledRun } from '../store/tasks.ts';
import type { Job } from './job.ts';
import { type Rounds, roundsJob, untilFailure } from './rounds.ts';

const BATCHES_PER_RUN = 10;

export function sampleMinutesJob(service: Service): Job {
  return roundsJob('sample minutes', minuteRounds(service), BATCHES_PER_RUN);
}

async function* minuteRounds(service: Service): Rounds {
  for (;;) {
    const nextAt = (Math.floor(service.clock.now().getTime() / MINUTE_MS) + 1) * MINUTE_MS;
    yield* untilFailure(round(service, new Date(nextAt)));
    while (service.clock.now().getTime() < nextAt) yield null;
  }
}

/** One process does a round. If it is killed, the next one reads what it did not. */
async function* round(service: Service, nextAt: Date): AsyncGenerator<number> {
  const claim = { name: 'sample minutes', now: service.clock.now(), nextAt };
  if (!(await claimScheduledRun(service.db, claim))) return;
  yield* sampleMinutes(service);
  yield* evaluateAlerts(service);
}
