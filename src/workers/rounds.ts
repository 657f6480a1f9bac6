/** Jobs that go through everything in rounds of small batches, so that other jobs have their turn. */
import { housekeepingJob, type Job } from './job.ts';

/**
 * Endless. Yields how much each batch did, an error that the job is to report before the round continues, and
 * null while no round is due.
 */
export type Rounds = AsyncGenerator<number | Error | null, never>;

export function roundsJob(name: string, rounds: Rounds, batchesPerRun: number): Job {
  return housekeepingJob(name, async () => {
    let done = 0;
    for (let batch = 0; batch < batchesPerRun; batch++) {
      const { value } = await rounds.next();
      if (value === null) break;
      if (value instanceof Error) throw value;
      done += value;
    }
    return done;
  });
}

/** Passes on what each batch did; a failure ends them and becomes the last value. */
export async function* untilFailure(batches: AsyncGenerator<number>): AsyncGenerator<number | Error> {
  try {
    yield* batches;
  } catch (error) {
    yield error instanceof Error ? error : new Error(String(error));
  }
}
