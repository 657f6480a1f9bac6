/**
 * Measures the components of the public status page each minute of the clock, and counts business figures
 * every ten minutes. Nothing waits for them: a clock that jumps leaves a gap, which the domain tells from an
 * outage.
 */
import type { Service } from '../domain/context.ts';
import { measureAvailability } from '../domain/health/availability.ts';
import { measureFigures } from '../domain/staff/figures.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { claimScheduledRun } from '../store/tasks.ts';
import type { Job } from './job.ts';
import { type Rounds, roundsJob, untilFailure } from './rounds.ts';

interface Measurement {
  readonly name: string;
  readonly everyMs: number;
  readonly measure: () => AsyncGenerator<number>;
}

export function measureAvailabilityJob(service: Service): Job {
  const measure = async function* () {
    await measureAvailability(service);
    yield 1;
  };
  return measuringJob(service, { name: 'measure availability', everyMs: MINUTE_MS, measure });
}

export function measureFiguresJob(service: Service): Job {
  const measure = () => measureFigures(service);
  return measuringJob(service, { name: 'measure figures', everyMs: 10 * MINUTE_MS, measure });
}

function measuringJob(service: Service, measurement: Measurement): Job {
  return roundsJob(measurement.name, rounds(service, measurement), 1);
}

async function* rounds(service: Service, measurement: Measurement): Rounds {
  const { everyMs } = measurement;
  for (;;) {
    const nextAt = (Math.floor(service.clock.now().getTime() / everyMs) + 1) * everyMs;
    yield* untilFailure(round(service, measurement, new Date(nextAt)));
    while (service.clock.now().getTime() < nextAt) yield null;
  }
}

/** One process measures. If it is killed, the next one measures at the next time. */
async function* round(
  service: Service,
  { name, measure }: Measurement,
  nextAt: Date,
): AsyncGenerator<number> {
  const claim = { name, now: service.clock.now(), nextAt };
  if (await claimScheduledRun(service.db, claim)) yield* measure();
}
