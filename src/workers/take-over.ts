/**
 * Releases the leases of processes that died, so that their work goes on soon. A process has died if it has
 * had no session for a while and also no longer extends its leases: it does so on other connections.
 */
import type { Service } from '../domain/context.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { MISSED_HEARTBEATS_S, releaseMissedLeases } from '../store/leases.ts';
import { listEndedProcesses, removeEndedProcess } from '../store/service/processes.ts';
import { atMostEvery, housekeepingJob, type Job } from './job.ts';

const EVERY_MS = SECOND_MS;
const MISSING_MS = MISSED_HEARTBEATS_S * SECOND_MS;
/** After a longer pause, all processes may just have lost their connections. */
const PAUSE_MAX_MS = 2 * SECOND_MS;

export function takeOverJob(service: Service): Job {
  /** Processes without a session, and since when, on this process's monotonic clock. */
  let missing = new Map<string, number>();
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  const run = atMostEvery(EVERY_MS, async () => {
    const [ended, nowMs] = [await listEndedProcesses(service.db), performance.now()];
    const known = nowMs - lookedAtMs > PAUSE_MAX_MS ? new Map<string, number>() : missing;
    lookedAtMs = nowMs;
    const since = (first: string) => known.get(first) ?? nowMs;
    missing = new Map(ended.map(({ first_lease: first }) => [first, since(first)]));
    for (const process of ended) {
      if (nowMs - since(process.first_lease) < MISSING_MS) continue;
      const released = await service.db.transaction(async (tx) =>
        (await removeEndedProcess(tx, process)) ? await releaseMissedLeases(tx, process) : 0,
      );
      if (released === 0) continue;
      service.log.warn({ leases: released }, 'another process died; its work goes on');
      service.wake();
    }
  });
  const job = housekeepingJob('take over', async () => {
    await run();
    return 0;
  });
  return { ...job, atLeastEveryMs: EVERY_MS };
}
