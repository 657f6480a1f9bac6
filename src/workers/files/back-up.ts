/**
 * Backs up the database when the schedule says so, by the clock of the business, in one process of all. It
 * runs next to the other jobs, so that nothing waits for a large database.
 */
import type { Service } from '../../domain/context.ts';
import { backUpAsScheduled, isBackupDue, runAlone } from '../../domain/upkeep/backups/perform.ts';
import type { BackupPlan } from '../../domain/upkeep/backups/plan.ts';
import { removeLeftovers } from '../../domain/upkeep/backups/prove.ts';
import { logFault } from '../../kernel/faults/fault-log.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { atMostEvery, housekeepingJob, type Job } from '../job.ts';

const BACK_UP = { name: 'back up', everyS: 5 } as const;

export function backUpJob(service: Service): Job {
  const abort = new AbortController();
  let underWay: Promise<void> | null = null;
  let isClean = false;
  const { backups: plan, log } = service;
  const work = async (due: BackupPlan) => {
    if (!isClean) {
      // An error is not repeated.
      isClean = true;
      isClean = due.scratchFolder === null || (await removeLeftovers(due.scratchFolder));
    }
    await backUpAsScheduled(service, due, abort.signal);
  };
  const start = async () => {
    if (plan === undefined || underWay !== null) return;
    if (isClean && !(await isBackupDue(service, plan))) return;
    underWay = runAlone(service, () => work(plan))
      .catch((error: unknown) => {
        if (!abort.signal.aborted) logFault(log, 'error', 'job failed', { err: error, job: BACK_UP.name });
      })
      .finally(() => {
        underWay = null;
      });
  };
  const run = atMostEvery(BACK_UP.everyS * SECOND_MS, start);
  const job = housekeepingJob(BACK_UP.name, async () => {
    if (plan !== undefined) await run();
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
