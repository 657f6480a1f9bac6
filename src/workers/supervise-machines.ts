/**
 * Supervises machines in real time, even if the business clock was moved: the driver restarts a crashed
 * machine, at first immediately and then with a backoff. Then reconciles machines with their servers, if the
 * driver responded. One process at a time does it.
 */
import type { Service } from '../domain/context.ts';
import { reconcileMachines, superviseMachines } from '../domain/servers/machines/reconcile.ts';
import { runExclusively } from '../domain/upkeep/exclusive.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { atMostEvery, housekeepingJob, type Job } from './job.ts';

/** The database stores their names. */
const SUPERVISE = { name: 'tend', everyS: 5 } as const;
const RECONCILE = { name: 'look', everyS: 60 } as const;

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
