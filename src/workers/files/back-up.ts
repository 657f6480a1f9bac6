/**
 * Backs up the database when the schedule says so, by the clock of the business, in one process of all. It
 * runs next to the other jobs, so that nothing waits for a large database.
 */
import type { Service } from '../../domain/context.ts';
import { backUpAsScheduled, isBackupDue } from '../../domain/upkeep/backups/perform.ts';
import { logFault } from '../../kernel/faults/fault-log.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { runExclusively } from '../exclusive.ts';
import { atMostEvery, housekeepingJob, type Job } from '../job.ts';

const BACK_UP = { name: 'back up', everyS: 5 } as const;

export function backUpJob(service: Service): Job {
  const abort = new AbortController();
  let underWay: Promise<void> | null = null;
  const { backups: plan, log } = service;
  const start = async () => {
    if (plan === undefined || underWay !== null || !(await isBackupDue(service, plan))) return;
    underWay = runExclusively(service, BACK_UP, () => backUpAsScheduled(service, plan, abort.signal))
      .catch((error: unknown) => {
        if (!abort.signal.aborted) logFault(log, 'error', 'job failed', { err: error, job: BACK_UP.name });
      })
      .finally(() => {
        underWay = null;
      });
  };
  const run = atMostEvery(BACK_UP.everyS * SECOND_MS, start);
  const job = housekeepingJob(BACK_UP.name, async () => {
    if (plan?.target) await run();
    return 0;
  });
  return {
    ...job,
    stop: async () => {
      abort.abort();
      await underWay;
    },
  };
}
