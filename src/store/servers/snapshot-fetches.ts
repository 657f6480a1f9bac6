/**
 * Fetches of snapshots that no host has. One operation at a time holds the fetch, so that hosts do not take
 * it from each other. Changing that requires the lock of the snapshot.
 */
import type { Sql } from '../../kernel/sql.ts';
import { LOCAL_BACKEND } from '../../ports/backends.ts';
import { findCopiedSnapshot } from './snapshot-copies.ts';

/** A copy that a host has to fetch, because no host has the snapshot. */
export interface CopyToFetch {
  readonly host_id: string;
  readonly host: string;
  readonly machineId: string;
  readonly generation: number;
  readonly diskGb: number;
  readonly sizeGb: number;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** For the host of the server; undefined if a host has the snapshot, or the store does not. */
export async function findCopyToFetch(
  tx: Sql,
  snapshotId: string,
  serverId: string,
): Promise<CopyToFetch | undefined> {
  const row = await tx.row<Omit<CopyToFetch, 'sizeBytes'> & { readonly sizeBytes: bigint }>(
    `select h.id as host_id, h.name as host, n.server_id as "machineId", n.generation,
            n.disk_gb as "diskGb", n.size_gb::float8 as "sizeGb", c.size_bytes as "sizeBytes", c.sha256
       from snapshots n join snapshot_copies c on c.snapshot_id = n.id
       join servers s on s.id = $2 join hosts h on h.id = s.host_id
      where n.id = $1 and n.status = 'ready' and not n.shared and n.host_id is null
        and c.stored_at is not null`,
    [snapshotId, serverId],
  );
  return row && { ...row, sizeBytes: Number(row.sizeBytes) };
}

/** Whether the operation that holds fetch `c` still needs it. */
const IS_NEEDED = `exists (
  select from operations o join servers s on s.id = o.server_id join hosts h on h.id = s.host_id
   where o.id = c.fetched_by and o.snapshot_id = c.snapshot_id and o.kind in ('provision', 'restore')
     and h.lost_at is null)`;

export interface Fetching {
  readonly snapshotId: string;
  readonly operationId: string;
}

/** How soon a worker looks whether the fetch is still needed. */
const CHECK_S = 60;

/**
 * Lets the operation hold the fetch. Returns when it began or last had new bytes; undefined while another
 * operation holds it, or a worker removes what is left of one.
 */
export async function holdFetch(tx: Sql, fetching: Fetching, now: Date): Promise<Date | undefined> {
  const snapshot = await findCopiedSnapshot(tx, fetching.snapshotId, { lock: true });
  if (snapshot?.host_id !== null) return undefined;
  const row = await tx.row<{ moved_at: Date }>(
    `update snapshot_copies c
        set fetched_by = $operationId,
            fetched_bytes = case when fetched_by = $operationId then fetched_bytes else 0 end,
            fetch_moved_at = case when fetched_by = $operationId then fetch_moved_at else $now end,
            due_at = coalesce(due_at, clock_timestamp() + make_interval(secs => ${CHECK_S}))
      where snapshot_id = $snapshotId and stored_at is not null
        and (fetched_by is null or fetched_by = $operationId or not ${IS_NEEDED})
        and (leased_until is null or leased_until < clock_timestamp())
     returning fetch_moved_at as moved_at`,
    { ...fetching, now },
  );
  return row?.moved_at;
}

/** A repeated attempt that ends where the former one did is no progress. */
export async function recordFetchProgress(
  tx: Sql,
  fetching: Fetching,
  { bytes, now }: { readonly bytes: number; readonly now: Date },
): Promise<void> {
  await tx.run(
    `update snapshot_copies set fetched_bytes = $bytes, fetch_moved_at = $now
      where snapshot_id = $snapshotId and fetched_by = $operationId and $bytes > 0
        and fetched_bytes <> $bytes`,
    { ...fetching, bytes, now },
  );
}

/** The host has fetched it. Returns false if that is no longer so, or of no use. */
export async function placeFetchedSnapshot(tx: Sql, fetching: Fetching, hostId: string): Promise<boolean> {
  await findCopiedSnapshot(tx, fetching.snapshotId, { lock: true });
  const placed = await tx.run(
    `update snapshots n set host_id = h.id from hosts h, operations o, snapshot_copies c
      where n.id = $snapshotId and n.host_id is null and h.id = $hostId and h.lost_at is null
        and o.id = $operationId and c.snapshot_id = n.id and c.fetched_by = o.id
        and coalesce(h.backend, '${LOCAL_BACKEND}') = coalesce(
              (select p.backend from placed_resources p where p.kind = 'snapshot' and p.id = n.id::text),
              '${LOCAL_BACKEND}')`,
    { ...fetching, hostId },
  );
  if (placed === 0) return false;
  await tx.run(
    'update snapshot_copies set fetched_by = null, due_at = clock_timestamp() where snapshot_id = $1',
    [fetching.snapshotId],
  );
  return true;
}

/** Whether a fetch goes on, or an unneeded one may have left something. */
export async function findFetch(tx: Sql, snapshotId: string): Promise<'none' | 'needed' | 'left'> {
  const snapshot = await findCopiedSnapshot(tx, snapshotId, { lock: true });
  if (snapshot?.host_id !== null) return 'none';
  const row = await tx.row<{ needed: boolean }>(
    `select ${IS_NEEDED} as needed from snapshot_copies c where snapshot_id = $1 and fetched_by is not null`,
    [snapshotId],
  );
  if (row === undefined) return 'none';
  return row.needed ? 'needed' : 'left';
}

/** Nothing is left of it. The caller holds the lease of the copy. */
export async function forgetFetch(tx: Sql, copy: { snapshot_id: string; lease_id: string }): Promise<void> {
  await tx.run(
    'update snapshot_copies set fetched_by = null where snapshot_id = $snapshot_id and lease_id = $lease_id',
    { ...copy },
  );
}
