/** Releases the leases of processes that died, so that their work goes on at once. */
import type { Service } from '../domain/context.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { releaseLeasesOf } from '../store/leases.ts';
import { listEndedProcesses, removeProcess } from '../store/service/processes.ts';
import { atMostEvery, housekeepingJob, type Job } from './job.ts';

const EVERY_MS = SECOND_MS;
/** A process that lost its connection and lives reconnects after a second. */
const MISSING_MS = 2_500;

export function takeOverJob(service: Service): Job {
  /** Processes without a session, and since when, on this process's monotonic clock. */
  let missing = new Map<string, number>();
  const run = atMostEvery(EVERY_MS, async () => {
    const [ended, nowMs] = [await listEndedProcesses(service.db), performance.now()];
    const since = (first: string) => missing.get(first) ?? nowMs;
    missing = new Map(ended.map(({ first_lease: first }) => [first, since(first)]));
    for (const process of ended) {
      if (nowMs - since(process.first_lease) < MISSING_MS) continue;
      const released = await service.db.transaction(async (tx) => {
        await removeProcess(tx, process);
        return await releaseLeasesOf(tx, process);
      });
      if (released === 0) continue;
      service.log.warn({ leases: released }, 'another process died; its work goes on');
      service.wake();
    }
  });
  return housekeepingJob('take over', async () => {
    await run();
    return 0;
  });
}
