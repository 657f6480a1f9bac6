/** Reads from the replica, where there is one. */
import type { HostFinding } from '../../ports/compute.ts';
import type { Writer } from '../../store/connections/recent-changes.ts';
import type { Service } from '../context.ts';

/** Returns the service with its reads from the replica, if it has what the person must see. */
export async function withReplicaReads(service: Service, writer: Writer): Promise<Service> {
  const db = await service.replica?.for(writer, service.clock.now());
  return db ? { ...service, db, reads: db } : service;
}

export function replicaFindings({ replica }: Pick<Service, 'replica'>): HostFinding[] {
  if (!replica) return [];
  const { state, lagMs, reason } = replica.state();
  const lag = lagMs === null ? '' : `, ${(lagMs / 1_000).toFixed(1)} s behind at most`;
  if (state === 'current') return [{ level: 'ok', subject: 'replica', message: `answers lists${lag}` }];
  const message =
    state === 'away'
      ? `${reason === null ? 'does not answer' : `cannot be used: ${reason}`}; the primary answers its reads`
      : `too far behind${lag}; the primary answers its reads`;
  return [{ level: 'warn', subject: 'replica', message }];
}
