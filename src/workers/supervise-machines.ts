/**
 * Looks after machines, in real time: a machine that fell down is wanted back now, whatever the business clock says. What
 * the machines are is compared with what they should be right after the driver has put right what it can, and only when
 * it has answered. Among several processes one does it at a time.
 */
import type { Service } from '../domain/context.ts';
import { reconcileMachines } from '../domain/servers/reconcile.ts';
import { superviseMachines } from '../domain/servers/supervise-machines.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { leaseRecurringJob, scheduleNextRun } from '../store/recurring-jobs.ts';
import type { Job } from './job.ts';

const SUPERVISE_INTERVAL_S = 5;
const RECONCILE_INTERVAL_S = 60;
/** As of other work that is claimed: whoever dies with it is followed soon. */
const LEASE_S = 10;
const HEARTBEAT_MS = 3_000;

export function superviseMachinesJob(service: Service): Job {
  // Simulated machines do not fall down, and whoever tries the service need not wait for them to.
  const hasRealMachines = service.compute.hosts !== null;
  const intervalMs = (hasRealMachines ? SUPERVISE_INTERVAL_S : RECONCILE_INTERVAL_S) * SECOND_MS;
  let nextAt = hasRealMachines ? Number.NEGATIVE_INFINITY : performance.now() + intervalMs;
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

/** Nothing when another process is at it, or was a moment ago. */
async function runExclusively(
  { db, log }: Service,
  { name, everyS }: { readonly name: string; readonly everyS: number },
  work: () => Promise<void>,
): Promise<void> {
  if (!(await leaseRecurringJob(db, name, LEASE_S))) return;
  const warn = (error: unknown) => log.warn({ err: error, duty: name }, 'a lease could not be extended');
  const heartbeat = setInterval(() => {
    scheduleNextRun(db, name, LEASE_S).catch(warn);
  }, HEARTBEAT_MS);
  try {
    await work();
  } finally {
    clearInterval(heartbeat);
    // Our own next beat comes a little later than this.
    await scheduleNextRun(db, name, 0.9 * everyS).catch(warn);
  }
}
