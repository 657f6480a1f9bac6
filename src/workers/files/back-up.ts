/**
 * Backs up the database when the schedule says so, by the clock of the business, and archives the write-ahead
 * log of the embedded one. Of all processes, one does it.
 */
import type { Service } from '../../domain/context.ts';
import { backUpAsScheduled, isBackupDue, runAlone } from '../../domain/upkeep/backups/perform.ts';
import { removeLeftovers } from '../../domain/upkeep/scratch.ts';
import { openArchiving } from '../../domain/upkeep/wal/archive.ts';
import type { Job } from '../job.ts';
import { alongsideJob } from './alongside.ts';

const BACK_UP = { name: 'back up', everyS: 5 } as const;
const ARCHIVE = { name: 'archive the log', everyS: 5 } as const;

export function backUpJob(service: Service): Job {
  const { backups: plan } = service;
  let isClean = false;
  return alongsideJob(service, {
    ...BACK_UP,
    isDue: async () => plan !== undefined && (!isClean || (await isBackupDue(service, plan))),
    run: (signal) =>
      runAlone(service, async () => {
        if (plan === undefined) return;
        if (!isClean) {
          // An error is not repeated.
          isClean = true;
          isClean = await removeLeftovers(plan.dataDir);
        }
        await backUpAsScheduled(service, plan, signal);
      }),
  });
}

export function archiveLogJob(service: Service): Job {
  const plan = service.backups?.wal;
  const archive = plan === undefined ? null : openArchiving(service, plan);
  const job = alongsideJob(service, {
    ...ARCHIVE,
    isDue: async () => archive !== null,
    run: async (signal) => await archive?.(signal),
  });
  // Changes of a restored database are in its log, too, and the spool must not grow.
  return { ...job, inRecovery: true };
}
