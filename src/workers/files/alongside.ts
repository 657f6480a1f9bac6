/** A job whose work may take hours: it runs next to the others, once at a time, and ends with its worker. */
import { logFault } from '../../kernel/faults/fault-log.ts';
import type { Logger } from '../../kernel/logger.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { atMostEvery, housekeepingJob, type Job } from '../job.ts';

interface Work {
  readonly name: string;
  readonly everyS: number;
  /** Whether there is anything to do. */
  readonly isDue: () => Promise<boolean>;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export function alongsideJob({ log }: { readonly log: Logger }, { name, everyS, isDue, run }: Work): Job {
  const abort = new AbortController();
  let underWay: Promise<void> | null = null;
  const start = async () => {
    if (underWay !== null || !(await isDue())) return;
    underWay = run(abort.signal)
      .catch((error: unknown) => {
        if (!abort.signal.aborted) logFault(log, 'error', 'job failed', { err: error, job: name });
      })
      .finally(() => {
        underWay = null;
      });
  };
  const startSometimes = atMostEvery(everyS * SECOND_MS, start);
  const job = housekeepingJob(name, async () => {
    await startSometimes();
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
