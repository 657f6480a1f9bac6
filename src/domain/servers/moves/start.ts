/** Task `move`: starts a queued move when the server is idle and a host has room, and ends it. */
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { MINUTE_MS, SECOND_MS } from '../../../kernel/time.ts';
import type { ServerStatus } from '../../../spec/states.ts';
import {
  deleteMove,
  findMove,
  hasUnsettledVolumes,
  lockMove,
  type MoveRow,
  mayStartMove,
  noteMoveFault,
  startMove,
} from '../../../store/servers/moves.ts';
import { hasOperation } from '../../../store/servers/operations.ts';
import { reserveMoveTarget } from '../../../store/servers/placements.ts';
import { lockServer, type ServerRow } from '../../../store/servers/servers.ts';
import { hasSnapshotInProgress } from '../../../store/snapshots.ts';
import type { TaskResult } from '../../../store/tasks.ts';
import { lockVolumesOf } from '../../../store/volumes/changes.ts';
import { startOperation } from '../../actions/operations.ts';
import type { Service } from '../../context.ts';
import { pendingFreezeChange } from '../operator/apply-freeze.ts';
import { forgetCopy } from './end.ts';

/** A server has a machine at rest in these statuses. */
const MOVABLE: readonly ServerStatus[] = ['running', 'stopped', 'suspended'];
/** While the server or its host is busy. */
export const BUSY_WAIT_MS = 5 * SECOND_MS;
/** While no host has room, or the server keeps an ISO image. */
export const ROOM_WAIT_MS = 30 * SECOND_MS;

export async function continueMove(service: Service, serverId: string): Promise<TaskResult> {
  const move = await findMove(service.db, serverId);
  // Without a driver that moves, for example after a change of settings, nothing can be continued.
  if (move && service.compute.moves === null) return { againMs: MINUTE_MS };
  switch (move?.state) {
    case 'queued':
      return await startQueuedMove(service, serverId);
    case 'kept':
    case 'moved':
      return await forgetCopy(service, move);
    default:
      // Its operation continues a move under way, and makes this task due when it ends.
      return 'done';
  }
}

async function startQueuedMove(service: Service, serverId: string): Promise<TaskResult> {
  const result = await service.db.transaction(async (tx): Promise<TaskResult> => {
    const server = await lockServer(tx, serverId);
    const move = await lockMove(tx, serverId);
    if (move?.state !== 'queued') return { againMs: 0 };
    if (!server || server.host_id !== move.from_host || server.status === 'destroying') {
      await deleteMove(tx, move.id);
      return 'done';
    }
    if (!(await isIdle(tx, server, service.clock.now()))) return { againMs: BUSY_WAIT_MS };
    if (!(await mayStartMove(tx, move.from_host))) return { againMs: BUSY_WAIT_MS };
    return await reserveAndStart(tx, service, server, move);
  });
  service.wake();
  return result;
}

/** Whether nothing on the server is in progress that the move would disturb. */
async function isIdle(tx: Sql, server: ServerRow, now: Date): Promise<boolean> {
  if (!MOVABLE.includes(server.status) || server.never_started) return false;
  if (pendingFreezeChange(server)) return false;
  if (await hasOperation(tx, server.id)) return false;
  return !(await hasSnapshotInProgress(tx, server.id, new Date(now.getTime() - MINUTE_MS)));
}

async function reserveAndStart(
  tx: Sql,
  service: Service,
  server: ServerRow,
  move: MoveRow,
): Promise<TaskResult> {
  if (server.iso_image_id !== null) {
    const fault = 'an ISO image is inserted, which stays on its host';
    await noteMoveFault(tx, server.id, { fault, triedHosts: move.tried_hosts });
    return { againMs: ROOM_WAIT_MS };
  }
  const volumes = await lockVolumesOf(tx, server.id);
  if (await hasUnsettledVolumes(tx, server.id)) return { againMs: BUSY_WAIT_MS };
  const ownGb = server.shared_disk ? 0 : server.disk_gb;
  const diskGb = volumes.reduce((sum, volume) => sum + (volume.shared ? 0 : volume.disk_gb), ownGb);
  const toHost = await reserveMoveTarget(tx, {
    id: server.id,
    diskGb,
    excludedHosts: move.tried_hosts,
    onlyHost: move.wanted_host,
    otherBackend: service.compute.hosts !== null,
  });
  if (toHost === undefined) {
    const fault = move.wanted_host === null ? 'no other host has room for it' : 'the host has no room for it';
    // Those that failed before may be tried again.
    await noteMoveFault(tx, server.id, { fault, triedHosts: [] });
    return { againMs: move.tried_hosts.length > 0 ? BUSY_WAIT_MS : ROOM_WAIT_MS };
  }
  const now = service.clock.now();
  await startMove(tx, {
    serverId: server.id,
    id: newId(now),
    keyId: service.keys.newestId,
    toHost,
    ramMb: server.ram_mb,
    diskGb,
    volumeIds: volumes.map(({ id }) => id),
    now,
  });
  await startOperation(tx, server, { id: newId(now), kind: 'move', step: 'copy', now });
  return 'done';
}
