/**
 * Moves of servers between hosts, and of detached volumes and snapshots (`disk-moves.ts`). While a move is
 * under way both hosts have the capacity reserved: the host that has the machine or volume by the row of the
 * server or volume, the other one by the row of the move. A snapshot reserves nothing on any host.
 */
import type { Sql } from '../../kernel/sql.ts';
import { enqueueTask, type TaskKind } from '../tasks.ts';

/**
 * `queued`; `copying`: the source has the machine; `kept`: so it stays; `switched`: the target has it;
 * `moved`: it runs there. `kept` and `moved` last until the other host has deleted its copy.
 */
export type MoveState = 'queued' | 'copying' | 'kept' | 'switched' | 'moved';

/** The kind of resource that moves. */
export type MoveKind = 'server' | 'volume' | 'snapshot';

/** The tasks that start and end moves. */
const MOVE_TASKS: Readonly<Record<MoveKind, TaskKind>> = {
  server: 'move',
  volume: 'volume_move',
  snapshot: 'snapshot_move',
};

export interface MoveRow {
  readonly kind: MoveKind;
  /** The id of the server, or of the volume or snapshot. */
  readonly server_id: string;
  readonly id: string;
  /** The service key from which the key of its transfer is derived; null while queued. */
  readonly key_id: string | null;
  readonly state: MoveState;
  readonly from_host: string;
  readonly from_name: string;
  readonly wanted_host: string | null;
  readonly to_host: string | null;
  readonly to_name: string | null;
  readonly volume_ids: string[];
  readonly copied_bytes: bigint;
  readonly total_bytes: bigint;
  readonly attempts: number;
  readonly tried_hosts: string[];
  readonly last_fault: string | null;
  /** Since when its hosts have failed to continue the copy of a volume or snapshot. */
  readonly failing_since: Date | null;
  /** Its host has no room for the new size of the server: the operation that resizes it moves it. */
  readonly for_resize: boolean;
  /** Whether its source takes no servers and should become empty. */
  readonly from_draining: boolean;
  /** Whether its hosts are lost. */
  readonly from_lost: boolean;
  readonly to_lost: boolean;
  readonly created_at: Date;
  readonly started_at: Date | null;
}

const SELECT = `select m.kind, m.server_id, m.id, m.key_id, m.state, m.from_host, f.name as from_name,
    m.wanted_host, m.to_host, t.name as to_name, m.volume_ids, m.copied_bytes, m.total_bytes, m.attempts,
    m.tried_hosts, m.last_fault, m.failing_since, m.for_resize, f.draining as from_draining,
    f.lost_at is not null as from_lost, t.lost_at is not null as to_lost, m.created_at, m.started_at
  from moves m join hosts f on f.id = m.from_host left join hosts t on t.id = m.to_host`;

export async function findMove(tx: Sql, serverId: string): Promise<MoveRow | undefined> {
  return await tx.row<MoveRow>(`${SELECT} where m.server_id = $1`, [serverId]);
}

export async function lockMove(tx: Sql, serverId: string): Promise<MoveRow | undefined> {
  return await tx.row<MoveRow>(`${SELECT} where m.server_id = $1 for update of m`, [serverId]);
}

/** Lists moves, those under way first; of one host by its name. */
export async function listMoves(
  tx: Sql,
  filter: { readonly host: string | null; readonly limit: number },
): Promise<MoveRow[]> {
  return await tx.rows<MoveRow>(
    `${SELECT} where $1::text is null or f.name = $1 or t.name = $1
      order by m.state = 'queued', m.started_at, m.created_at, m.server_id limit $2`,
    [filter.host, filter.limit],
  );
}

/** Queues the move of a server, unless it has one. Returns whether it did. */
export async function queueMove(
  tx: Sql,
  move: {
    readonly id: string;
    readonly serverId: string;
    readonly wantedHost: string | null;
    readonly now: Date;
  },
): Promise<boolean> {
  const queued = await tx.run(
    `insert into moves (server_id, id, state, from_host, wanted_host, created_at)
     select id, $id, 'queued', host_id, $wantedHost, $now from servers
      where id = $serverId and host_id is not null
     on conflict (server_id) do nothing`,
    move,
  );
  return queued === 1;
}

/** Queues moves of all servers of the host that have none. Returns the ids of the servers. */
export async function queueMovesFrom(tx: Sql, hostId: string, now: Date): Promise<string[]> {
  const rows = await tx.rows<{ server_id: string }>(
    `insert into moves (server_id, id, state, from_host, created_at)
     select id, gen_random_uuid(), 'queued', host_id, $2 from servers
      where host_id = $1 and status <> 'destroying'
     on conflict (server_id) do nothing returning server_id`,
    [hostId, now],
  );
  return rows.map(({ server_id: id }) => id);
}

/** Removes queued moves from a host; those under way end. */
export async function cancelQueuedMoves(tx: Sql, hostName: string): Promise<void> {
  await tx.run(
    `delete from moves where state = 'queued' and from_host = (select id from hosts where name = $1)`,
    [hostName],
  );
}

/** Removes queued moves from and to a host that is lost. */
export async function cancelMovesOfLostHost(tx: Sql, hostId: string): Promise<void> {
  await tx.run(`delete from moves where state = 'queued' and $1 in (from_host, wanted_host)`, [hostId]);
}

export async function cancelQueuedMove(tx: Sql, serverId: string): Promise<void> {
  await tx.run(`delete from moves where server_id = $1 and state = 'queued'`, [serverId]);
}

/** Makes the task of a move due. */
export async function enqueueMove(
  tx: Sql,
  { kind, server_id: subject }: Pick<MoveRow, 'kind' | 'server_id'>,
  now: Date,
): Promise<void> {
  await enqueueTask(tx, { kind: MOVE_TASKS[kind], subject, now });
}

/** Returns up to `limit` moves from the host that were queued first. */
export async function listQueuedFrom(
  tx: Sql,
  hostId: string,
  limit: number,
): Promise<Pick<MoveRow, 'kind' | 'server_id'>[]> {
  return await tx.rows(
    `select kind, server_id from moves where from_host = $1 and state = 'queued'
      order by created_at, server_id limit $2`,
    [hostId, limit],
  );
}

/**
 * Whether the host may send one more. Moves start one after another, so that two cannot take the last
 * place.
 */
export async function mayStartMove(tx: Sql, hostId: string): Promise<boolean> {
  await tx.run(`select pg_advisory_xact_lock(hashtextextended('moves', 0))`);
  const row = await tx.row<{ free: boolean }>(
    `select (select count(*) from moves where from_host = $1 and state in ('copying', 'switched'))
              < concurrent_moves as free
       from hosts where id = $1`,
    [hostId],
  );
  return row?.free ?? false;
}

/** Starts a queued move to a host where its capacity is reserved. */
export async function startMove(
  tx: Sql,
  move: {
    readonly serverId: string;
    readonly id: string;
    readonly keyId: string;
    readonly toHost: string;
    readonly ramMb: number;
    readonly diskGb: number;
    readonly volumeIds: readonly string[];
    readonly now: Date;
    /** For a resize: how much larger its disk will be on the target. */
    readonly growDiskGb?: number;
  },
): Promise<void> {
  await tx.run(
    `update moves
        set id = $id, key_id = $keyId, state = 'copying', to_host = $toHost, ram_mb = $ramMb,
            disk_gb = $diskGb, volume_ids = $volumeIds, copied_bytes = 0, total_bytes = 0, started_at = $now,
            for_resize = $forResize, grow_disk_gb = $growDiskGb
      where server_id = $serverId and state = 'queued'`,
    { growDiskGb: 0, ...move, forResize: move.growDiskGb !== undefined },
  );
}

/** Notes why a queued move has not started. */
export async function noteMoveFault(
  tx: Sql,
  serverId: string,
  note: { readonly fault: string; readonly triedHosts: readonly string[] },
): Promise<void> {
  await tx.run(
    `update moves set last_fault = $2, tried_hosts = $3 where server_id = $1 and state = 'queued'`,
    [serverId, note.fault, note.triedHosts],
  );
}

export async function setMoveProgress(
  tx: Sql,
  id: string,
  progress: { readonly copiedBytes: number; readonly totalBytes: number },
): Promise<void> {
  await tx.run(
    `update moves set copied_bytes = $2, total_bytes = $3, failing_since = null
      where id = $1 and state = 'copying'`,
    [id, progress.copiedBytes, progress.totalBytes],
  );
}

export async function setMoveState(
  tx: Sql,
  id: string,
  state: MoveState,
  fault: string | null = null,
): Promise<void> {
  await tx.run(`update moves set state = $2, last_fault = coalesce($3, last_fault) where id = $1`, [
    id,
    state,
    fault,
  ]);
}

/** Releases what the host without the machine reserved for it. */
async function releaseReservation(tx: Sql, id: string): Promise<void> {
  await tx.run(
    `update hosts h set used_ram_mb = h.used_ram_mb - m.ram_mb, used_disk_gb = h.used_disk_gb - m.disk_gb
       from moves m
      where m.id = $1
        and h.id = case when m.state in ('copying', 'kept') then m.to_host
                        when m.state in ('switched', 'moved') then m.from_host end`,
    [id],
  );
}

export async function deleteMove(tx: Sql, id: string): Promise<void> {
  await releaseReservation(tx, id);
  await tx.run('delete from moves where id = $1', [id]);
}

/** Queues a move again whose copy on the target is gone. */
export async function requeueMove(tx: Sql, id: string): Promise<void> {
  await releaseReservation(tx, id);
  await tx.run(
    `update moves
        set state = 'queued', attempts = attempts + 1, tried_hosts = tried_hosts || to_host, to_host = null,
            key_id = null, ram_mb = 0, disk_gb = 0, volume_ids = '{}', copied_bytes = 0, total_bytes = 0,
            started_at = null, failing_since = null, for_resize = false, grow_disk_gb = 0
      where id = $1`,
    [id],
  );
}

/** Whether a volume of the server has a change or a task that a driver has not confirmed. */
export async function hasUnsettledVolumes(tx: Sql, serverId: string): Promise<boolean> {
  const row = await tx.row(
    `select from volume_changes where server_id = $1
     union all
     select from volumes v join tasks t on t.kind = 'volume' and t.subject = v.id where v.server_id = $1
     limit 1`,
    [serverId],
  );
  return row !== undefined;
}
