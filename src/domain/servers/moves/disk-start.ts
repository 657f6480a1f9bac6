/** Starts the move of a detached volume or of a snapshot: when it is at rest, and a host has room. */
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import {
  findSnapshotTarget,
  hasLeavingServer,
  hasUnsettledChanges,
  isRestoredOn,
  lockSnapshotById,
  lockVolumeById,
  mayHaveContent,
  moveEmptyVolume,
  reserveVolumeTarget,
} from '../../../store/servers/disk-moves.ts';
import {
  deleteMove,
  lockMove,
  type MoveRow,
  mayStartMove,
  noteMoveFault,
  startMove,
} from '../../../store/servers/moves.ts';
import { findServer } from '../../../store/servers/servers.ts';
import type { TaskResult } from '../../../store/tasks.ts';
import { returnReservation } from '../../../store/volumes/volumes.ts';
import type { Service } from '../../context.ts';
import { BUSY_WAIT_MS, ROOM_WAIT_MS } from './start.ts';

type Readiness = 'gone' | 'busy' | 'behind_server' | { readonly diskGb: number };

export async function startDiskMove(service: Service, id: string): Promise<TaskResult> {
  return await service.db.transaction(async (tx): Promise<TaskResult> => {
    const move = await lockWithDisk(tx, id);
    if (move?.state !== 'queued') return { againMs: 0 };
    const readiness = await (move.kind === 'volume' ? readVolumeReadiness : readSnapshotReadiness)(tx, move);
    if (readiness === 'gone') {
      await deleteMove(tx, move.id);
      return 'done';
    }
    if (readiness === 'behind_server') {
      await noteMoveFault(tx, id, {
        fault: move.kind === 'volume' ? 'waits for servers of its customer' : 'waits for its server',
        triedHosts: move.tried_hosts,
      });
      return { againMs: ROOM_WAIT_MS };
    }
    if (readiness === 'busy' || !(await mayStartMove(tx, move.from_host))) return { againMs: BUSY_WAIT_MS };
    return await reserveAndStart(service, tx, move, readiness.diskGb);
  });
}

/** Locks the volume or snapshot first, like everything else that changes it. */
export async function lockWithDisk(tx: Sql, id: string): Promise<MoveRow | undefined> {
  (await lockVolumeById(tx, id)) ?? (await lockSnapshotById(tx, id));
  return await lockMove(tx, id);
}

/** A volume is only useful where its customer has servers, so it leaves after them. */
async function readVolumeReadiness(tx: Sql, { server_id: id, from_host: from }: MoveRow): Promise<Readiness> {
  // An attachment that never took place may have left the reservation on the wrong host.
  await returnReservation(tx, id);
  const volume = await lockVolumeById(tx, id);
  if (!volume || volume.deleted_at !== null || volume.lost_at !== null || volume.shared) return 'gone';
  if (volume.host_id !== from || volume.server_id !== null) return 'gone';
  if (await hasUnsettledChanges(tx, id)) return 'busy';
  if (await hasLeavingServer(tx, volume.customer_id, from)) return 'behind_server';
  return { diskGb: volume.disk_gb };
}

/** A snapshot is only useful where its server is, so it follows its server. */
async function readSnapshotReadiness(tx: Sql, move: MoveRow): Promise<Readiness> {
  const snapshot = await lockSnapshotById(tx, move.server_id);
  if (!snapshot || snapshot.status === 'error' || snapshot.lost_at !== null) return 'gone';
  if (snapshot.host_id !== move.from_host) return 'gone';
  if (snapshot.status === 'creating') return 'busy';
  if (await isRestoredOn(tx, snapshot.id, move.from_host)) return 'busy';
  const server = move.wanted_host === null ? await findServer(tx, snapshot.server_id) : undefined;
  if (server?.host_id === move.from_host && server.status !== 'destroying') return 'behind_server';
  return { diskGb: 0 };
}

async function reserveAndStart(
  service: Service,
  tx: Sql,
  move: MoveRow,
  diskGb: number,
): Promise<TaskResult> {
  const { server_id: id, tried_hosts: excludedHosts, wanted_host: onlyHost } = move;
  const wanted = { id, excludedHosts, otherBackend: service.compute.hosts !== null };
  const toHost =
    move.kind === 'volume'
      ? await reserveVolumeTarget(tx, wanted)
      : await findSnapshotTarget(tx, { ...wanted, onlyHost });
  if (toHost === undefined) {
    const fault = onlyHost === null ? 'no other host has room for it' : 'the host has no room for it';
    // Those that failed before may be tried again.
    await noteMoveFault(tx, id, { fault, triedHosts: [] });
    return { againMs: excludedHosts.length > 0 ? BUSY_WAIT_MS : ROOM_WAIT_MS };
  }
  // It was detached before a driver created it. Simulated volumes have no entries.
  if (move.kind === 'volume' && wanted.otherBackend && !(await mayHaveContent(tx, id))) {
    await moveEmptyVolume(tx, id, toHost);
    await deleteMove(tx, move.id);
    return 'done';
  }
  const now = service.clock.now();
  const start = {
    id: newId(now),
    keyId: service.keys.newestId,
    toHost,
    ramMb: 0,
    diskGb,
    volumeIds: [],
    now,
  };
  await startMove(tx, { serverId: id, ...start });
  return { againMs: 0 };
}
