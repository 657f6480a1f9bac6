/** Deletes what nothing refers to from the store of files, in real time, in one process. */
import type { Service } from '../../domain/context.ts';
import { sweepFiles } from '../../domain/images/store.ts';
import { runExclusively } from '../../domain/upkeep/exclusive.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { BlobStoreError } from '../../ports/blobs.ts';
import { readDatabaseTime } from '../../store/service/service.ts';
import { atMostEvery, housekeepingJob, type Job } from '../job.ts';

const SWEEP = { name: 'sweep files', everyS: (12 * HOUR_MS) / SECOND_MS } as const;
const ASK_EVERY_MS = 10 * MINUTE_MS;

export function sweepFilesJob(service: Service): Job {
  const abort = new AbortController();
  const sweep = async () => {
    try {
      // Objects have the time of the store, which no sandbox moves.
      await sweepFiles(service, await readDatabaseTime(service.db), abort.signal);
    } catch (error) {
      if (!(error instanceof BlobStoreError)) throw error;
      service.log.warn({ err: error }, 'the store of files could not be swept');
    }
  };
  // A start has more urgent work.
  const run = atMostEvery(ASK_EVERY_MS, () => runExclusively(service, SWEEP, sweep), { startsAtOnce: false });
  const isNeeded = service.blobs.stored !== undefined;
  const job = housekeepingJob(SWEEP.name, async () => {
    if (isNeeded) await run();
    return 0;
  });
  return { ...job, stop: async () => abort.abort() };
}
