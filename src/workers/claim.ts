/**
 * Claiming due operations. A claim is a lease: for `LEASE_S` of the database's time the rows are ours, a heartbeat
 * extends it while we work, and every result is written only where the lease is still ours. A process that dies lets
 * its leases run out; one that stops gives them back. Any number of processes may claim at once.
 */
import type { Service } from '../domain/context.ts';
import { newId } from '../kernel/ids.ts';
import { claimOperations, extendLease, type OperationRow, releaseLease } from '../store/operations.ts';

const LEASE_S = 10;
const HEARTBEAT_MS = 3_000;

/** Claims up to `limit` due operations and works on them; returns how many there were. */
export async function claimed(
  service: Service,
  limit: number,
  work: (operations: OperationRow[]) => Promise<void>,
): Promise<number> {
  const now = service.clock.now();
  const leaseId = newId(now);
  const operations = await claimOperations(service.db, { leaseId, now, leaseS: LEASE_S, limit });
  if (operations.length === 0) return 0;
  const heartbeat = setInterval(() => {
    extendLease(service.db, leaseId, LEASE_S).catch(warn(service, 'a lease could not be extended'));
  }, HEARTBEAT_MS);
  try {
    await work(operations);
  } finally {
    clearInterval(heartbeat);
    // What was not moved on (a step failed in an unforeseen way) need not wait for the lease to end.
    await releaseLease(service.db, leaseId).catch(warn(service, 'a lease could not be given back'));
  }
  return operations.length;
}

function warn(service: Service, message: string): (error: unknown) => void {
  return (error) => service.log.warn({ err: error }, message);
}
