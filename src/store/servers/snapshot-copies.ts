/** Copies of snapshots in the store of files: a queue of work, in real time on the database's clock. */
import type { Sql } from '../../kernel/sql.ts';
import { LOCAL_BACKEND } from '../../ports/backends.ts';
import type { SnapshotStatus } from '../../spec/states.ts';

export interface LeasedCopy {
  readonly snapshot_id: string;
  readonly attempts: number;
  readonly lease_id: string;
  /** The store has all of it. */
  readonly stored: boolean;
  /** The host may have a file for it. */
  readonly prepared: boolean;
}

const LEASED = 'snapshot_id = $snapshot_id and lease_id = $lease_id';

/** Requests copies of these snapshots, unless they were requested. Shared ones have none. */
export async function requestCopies(tx: Sql, snapshotIds: readonly string[]): Promise<void> {
  await tx.run(
    `insert into snapshot_copies (snapshot_id)
     select id from snapshots where id = any ($1::uuid[]) and status = 'ready' and not shared order by id
     on conflict do nothing`,
    [snapshotIds],
  );
}

/** Requests copies of all snapshots that have none, and returns how many those are. */
export async function requestAllCopies(tx: Sql): Promise<number> {
  return await tx.run(
    `insert into snapshot_copies (snapshot_id)
     select id from snapshots where status = 'ready' and not shared order by id
     on conflict do nothing`,
  );
}

/** Makes the row due: its snapshot was deleted, or lost. */
export async function settleCopy(tx: Sql, snapshotId: string): Promise<void> {
  await tx.run('update snapshot_copies set due_at = clock_timestamp() where snapshot_id = $1', [snapshotId]);
}

/** Does the same for all that the previous version may have left. */
export async function settleOrphanedCopies(tx: Sql): Promise<void> {
  await tx.run(
    `update snapshot_copies c set due_at = clock_timestamp()
      where due_at is null and not exists (select from snapshots n where n.id = c.snapshot_id)`,
  );
}

/**
 * Leases the next due row. A host that has a file for another one waits, and what needs no host does not. The
 * transaction must end soon: claims wait for each other, so that no two take the same host.
 */
export async function claimCopy(
  tx: Sql,
  claim: { readonly leaseId: string; readonly leaseS: number },
): Promise<LeasedCopy | undefined> {
  await tx.run(`select pg_advisory_xact_lock(hashtextextended('snapshot_copies', 0))`);
  return await tx.row<LeasedCopy>(
    `with busy as materialized (
       select m.id, m.host_id from snapshot_copies o join snapshots m on m.id = o.snapshot_id
        where o.stored_at is null and o.prepared_at is not null
       union
       select m.id, m.host_id from snapshot_copies o join snapshots m on m.id = o.snapshot_id
        where o.lease_id is not null and o.leased_until > clock_timestamp() and o.stored_at is null),
     due as (
       select c.snapshot_id from snapshot_copies c left join snapshots n on n.id = c.snapshot_id
        where c.due_at <= clock_timestamp()
          and (c.leased_until is null or c.leased_until < clock_timestamp())
          and (n.id is null or c.stored_at is not null
               or not exists (select from busy
                               where busy.id <> n.id and busy.host_id is not distinct from n.host_id))
        order by c.due_at limit 1 for update of c skip locked)
     update snapshot_copies c
        set lease_id = $leaseId, leased_until = clock_timestamp() + make_interval(secs => $leaseS)
       from due where c.snapshot_id = due.snapshot_id
     returning c.snapshot_id, c.attempts, c.lease_id, c.stored_at is not null as stored,
               c.prepared_at is not null as prepared`,
    claim,
  );
}

/** Extends the lease. Returns false when it was lost. */
export async function holdCopy(tx: Sql, copy: LeasedCopy, leaseS: number): Promise<boolean> {
  const changed = await tx.run(
    `update snapshot_copies set leased_until = clock_timestamp() + make_interval(secs => $leaseS)
      where ${LEASED}`,
    { ...copy, leaseS },
  );
  return changed === 1;
}

/** The host may have a file from now on, or has none. Returns false when the lease was lost. */
export async function recordPrepared(tx: Sql, copy: LeasedCopy, isPrepared: boolean): Promise<boolean> {
  const changed = await tx.run(
    `update snapshot_copies
        set prepared_at = case when $isPrepared then coalesce(prepared_at, clock_timestamp()) end
      where ${LEASED}`,
    { ...copy, isPrepared },
  );
  return changed === 1;
}

export async function recordCopyProgress(
  tx: Sql,
  copy: LeasedCopy,
  progress: { readonly sizeBytes: number; readonly sentBytes: number },
): Promise<void> {
  await tx.run(
    `update snapshot_copies set size_bytes = $sizeBytes, sent_bytes = $sentBytes where ${LEASED}`,
    { ...copy, ...progress },
  );
}

/** The store has the copy. The caller holds the snapshot's lock. Returns false when the lease was lost. */
export async function recordStoredCopy(
  tx: Sql,
  copy: LeasedCopy,
  file: { readonly sizeBytes: number; readonly sha256: string },
): Promise<boolean> {
  const changed = await tx.run(
    `update snapshot_copies
        set size_bytes = $sizeBytes, sha256 = $sha256, sent_bytes = $sizeBytes, attempts = 0,
            last_fault = null, prepared_at = null, stored_at = coalesce(stored_at, clock_timestamp())
      where ${LEASED}`,
    { ...copy, ...file },
  );
  return changed === 1;
}

/**
 * Ends the lease. `inS`: until the next run; null: there is nothing left to do, unless the snapshot is gone.
 */
export async function releaseCopy(tx: Sql, copy: LeasedCopy, inS: number | null): Promise<void> {
  await tx.run(
    `update snapshot_copies c
        set lease_id = null, leased_until = null,
            attempts = case when $inS::float8 is null then 0 else attempts end,
            last_fault = case when $inS::float8 is null then null else last_fault end,
            due_at = case when $inS::float8 is null
                           and exists (select from snapshots n where n.id = c.snapshot_id
                                         and n.status = 'ready' and n.lost_at is null) then null
                     else clock_timestamp() + make_interval(secs => coalesce($inS, 0)) end
      where ${LEASED}`,
    { ...copy, inS },
  );
}

export async function failCopy(
  tx: Sql,
  copy: LeasedCopy,
  failure: { readonly message: string; readonly inS: number },
): Promise<void> {
  await tx.run(
    `update snapshot_copies
        set attempts = attempts + 1, last_fault = $message, lease_id = null, leased_until = null,
            due_at = clock_timestamp() + make_interval(secs => $inS)
      where ${LEASED}`,
    { ...copy, ...failure },
  );
}

/** Deletes the row of a snapshot that is gone, once its object is. */
export async function deleteCopy(tx: Sql, copy: LeasedCopy): Promise<void> {
  await tx.run(`delete from snapshot_copies where ${LEASED}`, { ...copy });
}

export interface CopiedSnapshot {
  /** Null: no host has it. */
  readonly host_id: string | null;
  readonly disk_gb: number;
  readonly status: SnapshotStatus;
  readonly lost_at: Date | null;
}

/** Returns the snapshot to copy; undefined once it is deleted. With `lock`, it stays as it is. */
export async function findCopiedSnapshot(
  tx: Sql,
  id: string,
  { lock = false } = {},
): Promise<CopiedSnapshot | undefined> {
  return await tx.row<CopiedSnapshot>(
    `select host_id, disk_gb, status, lost_at from snapshots where id = $1${lock ? ' for update' : ''}`,
    [id],
  );
}

/** Returns the first of the snapshots, newest first, that the store has, if newer ones are requested. */
export async function findCopyToKeep(tx: Sql, ids: readonly string[]): Promise<string | undefined> {
  const rows = await tx.rows<{ id: string; stored: boolean }>(
    `select snapshot_id as id, stored_at is not null as stored from snapshot_copies
      where snapshot_id = any ($1::uuid[]) order by array_position($1::uuid[], snapshot_id)`,
    [ids],
  );
  return rows[0]?.stored === false ? rows.find(({ stored }) => stored)?.id : undefined;
}

/** Whether the store has a copy of snapshot `n`. */
export const IS_COPIED =
  'exists (select from snapshot_copies c where c.snapshot_id = n.id and c.stored_at is not null)';

/** These snapshots are no longer on a host, and the store has them. */
export async function detachFromHosts(tx: Sql, snapshotIds: readonly string[]): Promise<void> {
  await tx.run('update snapshots set host_id = null where id = any ($1::uuid[])', [snapshotIds]);
  await tx.run(
    `delete from placed_resources
      where kind = 'snapshot' and backend <> '${LOCAL_BACKEND}' and id = any ($1::text[])`,
    [snapshotIds],
  );
}

export interface CopyCounts {
  readonly stored: bigint;
  readonly bytes: bigint;
  /** Of ready snapshots, and not stored yet. */
  readonly waiting: bigint;
  /** Of those, requested long ago. */
  readonly late: bigint;
  /** With work left, whose last attempt failed. */
  readonly failing: bigint;
  /** Of snapshots that are deleted or lost. */
  readonly deleting: bigint;
  /** One of the reasons. */
  readonly fault: string | null;
}

/** A read of each row, and one or two for each snapshot. */
export async function countCopies(tx: Sql, lateS: number): Promise<CopyCounts> {
  const row = await tx.row<CopyCounts>(
    `select count(*) filter (where stored_at is not null) as stored,
            coalesce(sum(size_bytes) filter (where stored_at is not null), 0)::int8 as bytes,
            count(*) filter (where stored_at is null and n.id is not null) as waiting,
            count(*) filter (where stored_at is null and n.id is not null
                               and requested_at < clock_timestamp() - make_interval(secs => $1)) as late,
            count(*) filter (where due_at is not null and attempts > 0) as failing,
            count(*) filter (where n.id is null) as deleting,
            max(last_fault) filter (where due_at is not null) as fault
       from snapshot_copies c
       left join snapshots n on n.id = c.snapshot_id and n.status = 'ready' and n.lost_at is null`,
    [lateS],
  );
  const none = { stored: 0n, bytes: 0n, waiting: 0n, late: 0n, failing: 0n, deleting: 0n, fault: null };
  return row ?? none;
}

/** Lists, in the order of their ids, snapshots that the store had before `since`. */
export async function listStoredCopies(
  tx: Sql,
  page: { readonly since: Date; readonly afterId: string | null; readonly limit: number },
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select snapshot_id as id from snapshot_copies
      where stored_at < $since and ($afterId::uuid is null or snapshot_id > $afterId::uuid)
      order by snapshot_id limit $limit`,
    page,
  );
  return rows.map(({ id }) => id);
}

/** The store lacks these. Requests those again that a host has, and returns them. */
export async function requestMissingCopies(tx: Sql, ids: readonly string[]): Promise<string[]> {
  // As in the loss of a host, which relies on the copies.
  await tx.rows('select id from snapshots where id = any ($1::uuid[]) order by id for update', [ids]);
  const rows = await tx.rows<{ id: string }>(
    `update snapshot_copies c
        set stored_at = null, sent_bytes = 0, due_at = clock_timestamp(), requested_at = clock_timestamp()
       from snapshots n
      where c.snapshot_id = any ($1::uuid[]) and n.id = c.snapshot_id and n.host_id is not null
        and n.status = 'ready' and n.lost_at is null
     returning c.snapshot_id as id`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

export async function readStoreClock(tx: Sql): Promise<Date> {
  const row = await tx.row<{ now: Date }>('select clock_timestamp() as now');
  return row?.now ?? new Date(0);
}
