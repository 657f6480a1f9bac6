/** Counts business figures every ten minutes of the clock. Nothing waits for it. */
import type { Service } from '../domain/context.ts';
import { measureFigures } from '../domain/staff/figures.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { claimScheduledRun } from '../store/tasks.ts';
import type { Job } from './job.ts';
import { type Rounds, roundsJob, untilFailure } from './rounds.ts';

const NAME = 'measure figures';
const EVERY_MS = 10 * MINUTE_MS;

export function measureFiguresJob(service: Service): Job {
  return roundsJob(NAME, figureRounds(service), 1);
}

async function* figureRounds(service: Service): Rounds {
  for (;;) {
    const nextAt = (Math.floor(service.clock.now().getTime() / EVERY_MS) + 1) * EVERY_MS;
    yield* untilFailure(round(service, new Date(nextAt)));
    while (service.clock.now().getTime() < nextAt) yield null;
  }
}

/** One process counts. If it is killed, the next one counts ten minutes later. */
async function* round(service: Service, nextAt: Date): AsyncGenerator<number> {
  const claim = { name: NAME, now: service.clock.now(), nextAt };
  if (await claimScheduledRun(service.db, claim)) yield* measureFigures(service);
}
