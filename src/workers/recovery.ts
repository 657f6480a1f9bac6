/** Jobs and recovery: nothing runs while a restored database is behind its address marks. */
import type { Service } from '../domain/context.ts';
import { compareMarks, isRecovering } from '../domain/topups/recovery.ts';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import { atMostEvery, housekeepingJob, type Job } from './job.ts';

/**
 * Compares the machine's file with the database: another machine, or a restore, may have moved either. It
 * also runs during a recovery, so that marks of this machine are not missed.
 */
export function addressMarksJob(service: Service): Job {
  const compare = atMostEvery(MINUTE_MS, () => compareMarks(service), { startsAtOnce: false });
  return housekeepingJob('address marks', () => compare().then(() => 0));
}

/**
 * Holds the jobs during a recovery. Without one, reads the state at most once a second. The end of a recovery
 * is seen at once, so that held jobs are not taken for done.
 */
export function holdInRecovery(service: Service, jobs: readonly Job[]): Job[] {
  let held = Promise.resolve(false);
  let nextReadAt = Number.NEGATIVE_INFINITY;
  const isHeld = async () => {
    if (performance.now() >= nextReadAt || (await held)) {
      nextReadAt = performance.now() + SECOND_MS;
      held = isRecovering(service);
    }
    return await held;
  };
  const hold = (job: Job): Job => ({
    ...job,
    run: async () => ((await isHeld()) ? 0 : await job.run()),
    nextDue: async () => ((await isHeld()) ? null : await job.nextDue()),
    busy: async () => !(await isHeld()) && (await job.busy()),
  });
  return jobs.map((job) => (job.inRecovery ? job : hold(job)));
}
