/**
 * Supervises machines in real time, even if the business clock was moved: the driver restarts a crashed
 * machine, at first immediately and then with a backoff. Then reconciles machines with their servers, if the
 * driver responded. One process at a time does it.
 */
import type { Service } from '../domain/context.ts';
import { reconcileMachines, superviseMachines } from '../domain/servers/machines/reconcile.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { leaseRecurringJob, scheduleNextRun } from '../store/tasks.ts';
import { atMostEvery, housekeepingJob, type Job } from './job.ts';

/** The database stores their names. */
const SUPERVISE = { name: 'tend', everyS: 5 } as const;
const RECONCILE = { name: 'look', everyS: 60 } as const;
/** Short, so that another process soon takes over after a crash. */
const LEASE_S = 10;
const HEARTBEAT_MS = 3_000;

export function superviseMachinesJob(service: Service): Job {
  // Simulated machines do not crash: reconcile them at intervals, and not during startup.
  const hasRealMachines = service.compute.hosts !== null;
  const intervalMs = (hasRealMachines ? SUPERVISE : RECONCILE).everyS * SECOND_MS;
  const supervise = atMostEvery(
    intervalMs,
    () =>
      runExclusively(service, SUPERVISE, async () => {
        await superviseMachines(service);
        await runExclusively(service, RECONCILE, () => reconcileMachines(service));
      }),
    { startsAtOnce: hasRealMachines },
  );
  return housekeepingJob(SUPERVISE.name, () => supervise().then(() => 0));
}

/** Does nothing if another process is doing it, or did so a moment ago. */
async function runExclusively(
  { db, log }: Service,
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
