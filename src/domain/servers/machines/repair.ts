/**
 * Repairs that the service makes on its own when a machine does not match its server, under the server's
 * lock. Each one first checks again whether the finding still holds.
 */
import { formatId, newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { MachineState } from '../../../ports/compute.ts';
import { recordNewerGeneration } from '../../../store/servers/findings.ts';
import { hasOperation } from '../../../store/servers/operations.ts';
import { lockServer, type ServerRow } from '../../../store/servers/servers.ts';
import { startOperation } from '../../actions/operations.ts';
import type { Service } from '../../context.ts';
import { withDriverTimeout } from '../operations/driver-call.ts';
import { applyFreeze } from '../operator/apply-freeze.ts';
import { auditServer, moveServer } from '../transition.ts';

/** Stops a server whose guest shut itself down, as if its customer had requested it. */
export async function recordGuestShutdown(service: Service, serverId: string): Promise<void> {
  if (!(await recheckMachine(service, serverId, isShutDownByGuest))) return;
  const now = service.clock.now();
  const isRecorded = await updateIfIdle(service, serverId, 'running', async (tx, server) => {
    await moveServer(tx, server, 'guest_went_off', now);
    await auditServer(tx, server, 'server.stop', now);
    await applyFreeze(tx, service, serverId, now);
  });
  if (isRecorded) reportRepair(service, serverId, 'guest shut itself down; the server is stopped');
}

/** Powers off the machine of a suspended server, so that it does not run for free. */
export async function powerOffSuspended(service: Service, serverId: string): Promise<void> {
  if (!(await recheckMachine(service, serverId, isPoweredOn))) return;
  const now = service.clock.now();
  const operation = { id: newId(now), kind: 'suspend', step: 'shut_down', now } as const;
  const isScheduled = await updateIfIdle(service, serverId, 'suspended', (tx, server) =>
    startOperation(tx, server, operation),
  );
  if (isScheduled)
    reportRepair(service, serverId, 'machine of a suspended server was running; powering it off');
}

/**
 * Records that the machine was rebuilt or restored after the backup from which the database was restored.
 * Otherwise the next rebuild would request the disk that it already runs on, and the driver would do nothing.
 * Disk generations only grow, so one inspection is enough.
 */
export async function adoptDiskGeneration(
  service: Service,
  serverId: string,
  generation: number,
): Promise<void> {
  const isAdopted = await service.db.transaction(async (tx) => {
    if (!(await lockServer(tx, serverId)) || (await hasOperation(tx, serverId))) return false;
    return await recordNewerGeneration(tx, serverId, generation);
  });
  if (isAdopted)
    reportRepair(
      service,
      serverId,
      'machine has a newer disk than the database knew; its image and SSH keys may differ',
    );
}

/** Whether the guest was shut down on purpose. The driver restarts a crashed machine. */
export function isShutDownByGuest({ state, crashed }: Pick<MachineState, 'state' | 'crashed'>): boolean {
  return state === 'stopped' && !crashed;
}

export function isPoweredOn({ state }: Pick<MachineState, 'state'>): boolean {
  return state === 'running' || state === 'installing';
}

/** Returns false if the driver does not answer: the next inspection finds it again. */
async function recheckMachine(
  { compute, log }: Service,
  serverId: string,
  predicate: (seen: MachineState) => boolean,
): Promise<boolean> {
  try {
    const [seen] = await withDriverTimeout(compute.observe([serverId]));
    return seen !== undefined && predicate(seen);
  } catch (error) {
    log.warn({ err: error, server: formatId('server', serverId) }, 'machine could not be observed');
    return false;
  }
}

/** Applies the change if the server still has this status and is idle; returns whether it did. */
async function updateIfIdle(
  { db }: Service,
  serverId: string,
  status: ServerRow['status'],
  change: (tx: Sql, server: ServerRow) => Promise<void>,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const server = await lockServer(tx, serverId);
    if (server?.status !== status || (await hasOperation(tx, serverId))) return false;
    await change(tx, server);
    return true;
  });
}

function reportRepair(service: Service, serverId: string, message: string): void {
  service.log.warn({ server: formatId('server', serverId) }, message);
  service.wake();
}
