/**
 * What the service puts right of itself when a machine is not as its server, under the server's lock. What may have changed
 * since it was found is looked at once more before.
 */
import { formatId, newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { MachineState } from '../../ports/compute.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { recordNewerGeneration } from '../../store/findings.ts';
import { hasOperation, insertOperation } from '../../store/operations.ts';
import { findServer, lockServer, type ServerRow, setServerStatus } from '../../store/servers.ts';
import type { Service } from '../context.ts';
import { recordAudit, recordEvent, systemActor } from '../record.ts';
import { applyFreeze, pendingFreezeChange } from './apply-freeze.ts';
import { DRIVER_TIMEOUT_MS, withDriverTimeout } from './driver-timeout.ts';
import { serverObject } from './object.ts';

/** The guest shut itself down: its server is stopped, as if its customer had asked for it. */
export async function recordGuestShutdown(service: Service, serverId: string): Promise<void> {
  if (!(await recheckMachine(service, serverId, isShutDownByGuest))) return;
  const now = service.clock.now();
  const isRecorded = await updateIfIdle(service, serverId, 'running', async (tx, server) => {
    const { id, customer_id: customerId } = server;
    const { to, event } = findTransition(SERVER_TRANSITIONS, 'running', 'guest_went_off');
    await setServerStatus(tx, { id, status: to, now });
    const stopped = (await findServer(tx, id)) ?? server;
    await recordEvent(tx, { customerId, type: event, object: serverObject(stopped) }, now);
    const resource = formatId('server', id);
    await recordAudit(tx, { actor: systemActor(now), action: 'server.stop', resource, customerId }, now);
    if (pendingFreezeChange(stopped)) await applyFreeze(tx, service, id, now);
  });
  if (isRecorded) reportRepair(service, serverId, 'guest went off by itself: its server is stopped');
}

/** A suspended server does not run for free: its machine is switched off as when it was suspended. */
export async function powerOffSuspended(service: Service, serverId: string): Promise<void> {
  if (!(await recheckMachine(service, serverId, isPoweredOn))) return;
  const now = service.clock.now();
  const isScheduled = await updateIfIdle(service, serverId, 'suspended', async (tx) => {
    await insertOperation(tx, {
      ...{ id: newId(now), server_id: serverId, kind: 'suspend', step: 'shut_down' },
      ...{ payload_sealed: null, snapshot_id: null, now },
    });
  });
  if (isScheduled) reportRepair(service, serverId, 'machine of a suspended server runs: it is switched off');
}

/**
 * The machine was rebuilt or restored, and the database, which was put back, does not know. Its next rebuild would ask for
 * the disk that it runs on already: the driver would do nothing, and it would seem done. A machine never goes back to an
 * earlier disk, so what was seen once is so.
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
      'machine is on a later disk than was known: its image and keys may be others',
    );
}

/** Off, and by somebody's will: one that fell is switched on again by the driver. */
export function isShutDownByGuest({ state, crashed }: Pick<MachineState, 'state' | 'crashed'>): boolean {
  return state === 'stopped' && !crashed;
}

export function isPoweredOn({ state }: Pick<MachineState, 'state'>): boolean {
  return state === 'running' || state === 'installing';
}

/** False when the driver does not answer: it is found again then. */
async function recheckMachine(
  { compute, log }: Service,
  serverId: string,
  predicate: (seen: MachineState) => boolean,
): Promise<boolean> {
  try {
    const [seen] = await withDriverTimeout(DRIVER_TIMEOUT_MS, compute.observe([serverId]));
    return seen !== undefined && predicate(seen);
  } catch (error) {
    log.warn({ err: error, server: formatId('server', serverId) }, 'machine could not be looked at');
    return false;
  }
}

/** Does it while nothing else is done to the server, and it is still in this status; false when it was not. */
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
