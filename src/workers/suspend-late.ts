import { isTimeInDoubt } from '../domain/billing/leap.ts';
import type { Service } from '../domain/context.ts';
import { suspendLateReports } from '../domain/staff/abuse/acts.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { nextReportToSuspend } from '../store/staff/abuse.ts';
import type { Job } from './job.ts';

const BATCH_SIZE = 20;
/** How long to skip a report whose server could not be frozen: it blocks neither others nor the clock. */
const RETRY_AFTER_MS = MINUTE_MS;

/** Suspends servers whose customers did not answer a report of abuse, where staff asked for it. */
export function suspendLateJob(service: Service): Job {
  // Real time until which each one is skipped.
  const retryAtById = new Map<string, number>();
  const coolingDownIds = (): string[] => {
    for (const [id, until] of retryAtById) if (until <= performance.now()) retryAtById.delete(id);
    return [...retryAtById.keys()];
  };
  return {
    name: 'suspend-late',
    run: async () => {
      if (await isTimeInDoubt(service)) return 0;
      const { done, failed } = await suspendLateReports(service, {
        limit: BATCH_SIZE,
        except: coolingDownIds(),
      });
      for (const id of failed) retryAtById.set(id, performance.now() + RETRY_AFTER_MS);
      return done + failed.length;
    },
    nextDue: async () =>
      (await isTimeInDoubt(service)) ? null : await nextReportToSuspend(service.db, coolingDownIds()),
    busy: async () => false,
  };
}
