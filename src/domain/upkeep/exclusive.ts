/** Recurring work in real time that one process at a time does. */

import { leaseRecurringJob, scheduleNextRun } from '../../store/tasks.ts';
import type { Service } from '../context.ts';

/** Short, so that another process soon takes over after a crash. */
const LEASE_S = 10;
const HEARTBEAT_MS = 3_000;

/** Does nothing if another process is doing it, or did so a moment ago. The database stores the names. */
export async function runExclusively(
  { db, log }: Pick<Service, 'db' | 'log'>,
  { name, everyS }: { readonly name: string; readonly everyS: number },
  work: () => Promise<void>,
): Promise<void> {
  if (!(await leaseRecurringJob(db, name, LEASE_S))) return;
  const schedule = (inS: number) =>
    scheduleNextRun(db, name, inS).catch((error: unknown) =>
      log.warn({ err: error, job: name }, 'lease could not be extended'),
    );
  const heartbeat = setInterval(() => schedule(LEASE_S), HEARTBEAT_MS);
  try {
    await work();
  } finally {
    clearInterval(heartbeat);
    // Slightly less than the interval, so that our own next run finds it due.
    await schedule(0.9 * everyS);
  }
}
