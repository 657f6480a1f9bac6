/**
 * Looks after machines, in real time: a machine that fell down is wanted back now, whatever the business clock says. What
 * the machines are is compared with what they should be right after the driver has put right what it can, and only when
 * it has answered. Among several processes one does it at a time.
 */
import type { Service } from '../domain/context.ts';
import { reconcileMachines } from '../domain/servers/reconcile.ts';
import { tendMachines } from '../domain/servers/tend.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { setBeat, takeBeat } from '../store/beats.ts';
import type { Duty } from './duty.ts';

const TEND_EVERY_S = 5;
const LOOK_EVERY_S = 60;
/** As of other work that is claimed: whoever dies with it is followed soon. */
const LEASE_S = 10;
const HEARTBEAT_MS = 3_000;

export function tendDuty(service: Service): Duty {
  // Simulated machines do not fall down, and whoever tries the service need not wait for them to.
  const real = service.compute.hosts !== null;
  const everyMs = (real ? TEND_EVERY_S : LOOK_EVERY_S) * SECOND_MS;
  let nextAt = real ? Number.NEGATIVE_INFINITY : performance.now() + everyMs;
  return {
    name: 'tend',
    housekeeping: true,
    run: async () => {
      if (performance.now() < nextAt) return 0;
      nextAt = performance.now() + everyMs;
      await alone(service, { name: 'tend', everyS: TEND_EVERY_S }, async () => {
        await tendMachines(service);
        const look = { name: 'look', everyS: LOOK_EVERY_S };
        await alone(service, look, () => reconcileMachines(service));
      });
      return 0;
    },
    nextDue: async () => null,
    busy: async () => false,
  };
}

/** Nothing when another process is at it, or was a moment ago. */
async function alone(
  { db, log }: Service,
  { name, everyS }: { readonly name: string; readonly everyS: number },
  work: () => Promise<void>,
): Promise<void> {
  if (!(await takeBeat(db, name, LEASE_S))) return;
  const warn = (error: unknown) => log.warn({ err: error, duty: name }, 'a lease could not be extended');
  const heartbeat = setInterval(() => {
    setBeat(db, name, LEASE_S).catch(warn);
  }, HEARTBEAT_MS);
  try {
    await work();
  } finally {
    clearInterval(heartbeat);
    // Our own next beat comes a little later than this.
    await setBeat(db, name, 0.9 * everyS).catch(warn);
  }
}
