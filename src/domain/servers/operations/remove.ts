/** Step `remove`: removes the machine and its disk, then releases host, addresses, and the server's row. */
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../../spec/states.ts';
import { findLossOfServer, forgetMachine, lockLoss } from '../../../store/inventory/lost-hosts.ts';
import { reserveNamedAddresses } from '../../../store/inventory/published-rdns.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import { expireBackups } from '../../../store/servers/backups.ts';
import { cancelQueuedMove } from '../../../store/servers/moves.ts';
import type { OperationRow } from '../../../store/servers/operations.ts';
import { releaseAddresses, releaseHost } from '../../../store/servers/placements.ts';
import { deleteServer, findServer, type ServerRow } from '../../../store/servers/servers.ts';
import { enqueueTask, enqueueTasks } from '../../../store/tasks.ts';
import type { Service } from '../../context.ts';
import { releaseImage } from '../../images/remove.ts';
import { recordEvent } from '../../record.ts';
import { deferForSnapshot } from '../../snapshots/ensure.ts';
import { resolveForServer } from '../alerts/record.ts';
import { hasDriver, isSoldByHand, releasedMachineState } from '../hardware.ts';
import { seizeDisk } from '../lost/seize.ts';
import { settleMoveForRemoval } from '../moves/end.ts';
import { serverObject } from '../object.ts';
import { auditServer } from '../transition.ts';
import { callDriver } from './driver-call.ts';
import { advance, endOperation, retryWithBackoff } from './step.ts';

export async function removeMachine(service: Service, operation: OperationRow): Promise<void> {
  if (await deferForSnapshot(service, operation)) return;
  if (!(await settleMoveForRemoval(service, operation))) return;
  // A lost host is never asked. The machine may run on until it is fenced, so its addresses are held.
  const isLost = (await findLossOfServer(service.db, operation.server_id)) !== undefined;
  // It can be removed, however, from the host that takes its shared disk.
  const disk = isLost ? await seizeDisk(service, operation) : 'none';
  if (disk === 'waiting') return;
  if ((!isLost || disk === 'seized') && !(await confirmRemovedFromHost(service, operation))) return;
  await endOperation(service, operation, async (tx, server, now) => {
    await lockBalance(tx, server.customer_id);
    const heldBy = await findHolder(tx, server);
    if (isLost) await forgetMachine(tx, server.id);
    await releaseHost(tx, server.id, { state: releasedMachineState(service), now });
    // Addresses that were never in use need no rest period.
    const restMs = server.first_run_at === null ? 0 : service.settings.addressRestDays * DAY_MS;
    const freeFrom = new Date(now.getTime() + restMs);
    await releaseAddresses(tx, server.id, { freeFrom, heldBy, now });
    // Withdraw names that may be published before the addresses go to another server.
    const named = service.dns !== null && (await reserveNamedAddresses(tx, server.id, freeFrom));
    if (named) await enqueueTask(tx, { kind: 'rdns', subject: server.id, now });
    const { event } = findTransition(SERVER_TRANSITIONS, 'destroying', 'destroyed');
    // With the addresses that it had.
    await recordEvent(tx, { customerId: server.customer_id, type: event, object: serverObject(server) }, now);
    await auditServer(tx, server, 'server.remove', now);
    await cancelQueuedMove(tx, server.id);
    await expireBackupsOf(tx, server, now);
    await resolveForServer(tx, server, now);
    await deleteServer(tx, server.id);
    await releaseImage(tx, server.image_id, now);
    if (server.iso_image_id !== null) await releaseImage(tx, server.iso_image_id, now);
  });
}

/** Backups cost nothing beyond their server, so they stay for a limited time. */
async function expireBackupsOf(tx: Sql, server: ServerRow, now: Date): Promise<void> {
  const { id: serverId, customer_id: customerId } = server;
  const expiresAt = new Date(now.getTime() + LIMITS.backupsOfDeletedServerDays * DAY_MS);
  const subjects = await expireBackups(tx, { customerId, serverId, expiresAt });
  await enqueueTasks(tx, { kind: 'snapshot', subjects, now });
}

/** Returns the lost host that may still use the addresses of the server; null if none does. */
export async function findHolder(tx: Sql, { host_id: hostId }: ServerRow): Promise<string | null> {
  const loss = hostId === null ? undefined : await lockLoss(tx, hostId);
  return loss === undefined || loss.fenced_at !== null ? null : loss.host_id;
}

/**
 * Whether the driver confirms that no host has the machine; otherwise the step is postponed. A machine that
 * was handed over by hand needs no confirmation: it is not sold again until the operator has wiped it.
 */
export async function confirmRemovedFromHost(service: Service, operation: OperationRow): Promise<boolean> {
  const server = isSoldByHand(service, 'dedicated') && (await findServer(service.db, operation.server_id));
  if (server && !hasDriver(service, server)) return true;
  const fault = await callDriver(service, operation, {
    call: () => service.compute.remove(operation.server_id),
    failureMessage: 'machine could not be removed',
  });
  if (fault) await advance(service, operation, retryWithBackoff(service, operation));
  return fault === null;
}
