/** Queues moves for the operator: of one server, or of everything that a host has. */
import { newId } from '../../../kernel/ids.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { Sql } from '../../../kernel/sql.ts';
import {
  findHostPlace,
  type HostPlaceRow,
  setConcurrentMoves,
  setHostDraining,
} from '../../../store/inventory/hosts.ts';
import { findLossOfServer } from '../../../store/inventory/lost-hosts.ts';
import { queueDiskMovesFrom } from '../../../store/servers/disk-moves.ts';
import { enqueueMove, findMove, queueMove, queueMovesFrom } from '../../../store/servers/moves.ts';
import { lockServer, type ServerRow } from '../../../store/servers/servers.ts';
import { enqueueTask, enqueueTasks } from '../../../store/tasks.ts';
import type { Service } from '../../context.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { requireServerId, throwServerNotFound } from '../operator/find.ts';
import { auditServer } from '../transition.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'compute' | 'wake'>;

/**
 * Drains the host and queues moves of all its servers, detached volumes, and snapshots. Run again, it adds
 * what is missing. Returns how many moves it added.
 */
export async function moveEverythingOff(service: Deps, name: string, atOnce: number): Promise<number> {
  requireMovingDriver(service);
  const now = service.clock.now();
  const added = await service.db.transaction(async (tx) => {
    const host = (await findHostPlace(tx, name)) ?? throwHostNotFound(name);
    requireNotLost(host, name);
    const wasDraining = await setHostDraining(tx, name, true);
    await setConcurrentMoves(tx, host.id, atOnce);
    const serverIds = await queueMovesFrom(tx, host.id, now);
    await enqueueTasks(tx, { kind: 'move', subjects: serverIds, now });
    const disks = await queueDiskMovesFrom(tx, host.id, now);
    for (const disk of disks) await enqueueMove(tx, disk, now);
    const actor = systemActor(now);
    if (wasDraining === false) await recordAudit(tx, { actor, action: 'host.drain', resource: name }, now);
    await recordAudit(tx, { actor, action: 'host.move_servers', resource: name }, now);
    return serverIds.length + disks.length;
  });
  service.wake();
  return added;
}

/** Queues the move of one server; to any host of its region if `to` is null. */
export async function moveServer(service: Deps, shownId: string, to: string | null): Promise<void> {
  requireMovingDriver(service);
  const id = requireServerId(shownId);
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const server = (await lockServer(tx, id)) ?? throwServerNotFound();
    if (await findLossOfServer(tx, id)) throw new OperatorError('the host of this server is lost');
    if (server.host_id === null) throw new OperatorError('this server has no host to move from');
    if (server.status === 'destroying') throw new OperatorError('the server is being deleted');
    const wantedHost = to === null ? null : await requireTarget(tx, server, to);
    if (!(await queueMove(tx, { id: newId(now), serverId: id, wantedHost, now }))) {
      const state = (await findMove(tx, id))?.state;
      throw new OperatorError(
        state === 'moved' || state === 'kept'
          ? 'the copy of its last move is still being deleted: try again when that is done'
          : 'the server already has a move: see `skerryd hosts moves`',
      );
    }
    await enqueueTask(tx, { kind: 'move', subject: id, now });
    await auditServer(tx, server, 'server.request_move', now);
  });
  service.wake();
}

async function requireTarget(tx: Sql, server: ServerRow, name: string): Promise<string> {
  const host = (await findHostPlace(tx, name)) ?? throwHostNotFound(name);
  if (host.id === server.host_id) throw new OperatorError(`the server is on ${name} already`);
  if (host.region_id !== server.region_id)
    throw new OperatorError(`host ${name} is in ${host.region_id}, the server in ${server.region_id}`);
  if (host.draining) throw new OperatorError(`host ${name} is drained: choose another one`);
  return host.id;
}

function requireMovingDriver({ compute }: Pick<Service, 'compute'>): void {
  if (compute.moves === null) throw new OperatorError('the compute driver cannot move servers between hosts');
}

function requireNotLost({ lost }: HostPlaceRow, name: string): void {
  if (lost) throw new OperatorError(`host ${name} is lost: nothing can move from it`);
}

export function throwHostNotFound(name: string): never {
  throw new OperatorError(`host ${name} not found: see \`skerryd hosts list\``);
}
