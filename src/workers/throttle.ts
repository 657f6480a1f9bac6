/** Sums outbound transfer at the start of each business hour, so that a throttle ends with its month. */
import type { Service } from '../domain/context.ts';
import { throttleServers } from '../domain/servers/traffic.ts';
import { HOUR_MS } from '../kernel/time.ts';
import { claimScheduledRun } from '../store/tasks.ts';
import type { Job } from './job.ts';

/** Batches per run, so that other jobs have their turn when there are many servers. */
const BATCHES_PER_RUN = 10;

export function throttleJob(service: Service): Job {
  let nextAt = Number.NEGATIVE_INFINITY;
  let position: { readonly after: string | null } | null = null;
  return {
    name: 'throttle',
    housekeeping: true,
    run: async () => {
      const now = service.clock.now();
      if (position === null) {
        if (now.getTime() < nextAt) return 0;
        nextAt = (Math.floor(now.getTime() / HOUR_MS) + 1) * HOUR_MS;
        // One process for all. If it is killed, its remaining servers are counted an hour later.
        if (!(await claimScheduledRun(service.db, { name: 'throttle', now, nextAt: new Date(nextAt) })))
          return 0;
        position = { after: null };
      }
      let processed = 0;
      for (let batch = 0; batch < BATCHES_PER_RUN && position !== null; batch++) {
        const { after }: { after: string | null } = position;
        // If the batch fails, the round ends.
        position = null;
        const { next, changed } = await throttleServers(service, after);
        position = next === null ? null : { after: next };
        processed += next === null ? changed : changed + 1;
      }
      return processed;
    },
    nextDue: async () => null,
    busy: async () => false,
  };
}
