/**
 * Supervises machines in real time, even if the business clock was moved: a crashed machine restarts
 * immediately. Then reconciles machines with their servers, if the driver responded. One process at a time
 * does it.
 */
import type { Service } from '../domain/context.ts';
import { reconcileMachines, superviseMachines } from '../domain/servers/machines/reconcile.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { leaseRecurringJob, scheduleNextRun } from '../store/tasks.ts';
import type { Job } from './job.ts';

const SUPERVISE_INTERVAL_S = 5;
const RECONCILE_INTERVAL_S = 60;
/** Short, so that another process soon takes over after a crash. */
const LEASE_S = 10;
const HEARTBEAT_MS = 3_000;

export function superviseMachinesJob(service: Service): Job {
  // Simulated machines do not crash: reconcile them at intervals, and not during startup.
  const hasRealMachines = service.compute.hosts !== null;
  const intervalMs = (hasRealMachines ? SUPERVISE_INTERVAL_S : RECONCILE_INTERVAL_S) * SECOND_MS;
  let nextAt = hasRealMachines ? Number.NEGATIVE_INFINITY : performance.now() + intervalMs;
  // The database stores the names `tend` (supervise) and `look` (reconcile).
  return {
    name: 'tend',
    housekeeping: true,
    run: async () => {
      if (performance.now() < nextAt) return 0;
      nextAt = performance.now() + intervalMs;
      await runExclusively(service, { name: 'tend', everyS: SUPERVISE_INTERVAL_S }, async () => {
        await superviseMachines(service);
        const reconciliation = { name: 'look', everyS: RECONCILE_INTERVAL_S };
        await runExclusively(service, reconciliation, () => reconcileMachines(service));
      });
      return 0;
    },
    nextDue: async () => null,
    busy: async () => false,
  };
}

/** Does nothing if another process is doing it, or did so a moment ago. */
async function runExclusively(
  { db, log }: Service,
  { name, everyS }: { readonly name: string; readonly everyS: number },
  work: () => Promise<void>,
): Promise<void> {
  if (!(await leaseRecurringJob(db, name, LEASE_S))) return;
  const warn = (error: unknown) => log.warn({ err: error, job: name }, 'lease could not be extended');
  const heartbeat = setInterval(() => {
    scheduleNextRun(db, name, LEASE_S).catch(warn);
  }, HEARTBEAT_MS);
  try {
    await work();
  } finally {
    clearInterval(heartbeat);
    // Slightly less than the interval, so that our own next run finds it due.
    await scheduleNextRun(db, name, 0.9 * everyS).catch(warn);
  }
}
