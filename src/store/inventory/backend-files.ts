/** Files on their way to backends: a queue of transfers, in real time on the database's clock. */
import type { Sql } from '../../kernel/sql.ts';
import type { ComputeFault } from '../../ports/compute-fault.ts';
import type { HostFileKind, WantedFile } from '../../ports/host-files.ts';

/** Names a row. */
export interface BackendFile extends WantedFile {
  readonly backend: string;
}

export interface LeasedFile extends BackendFile {
  readonly attempts: number;
  readonly lease_id: string;
  /** Another backend of the region that has the file and may send it. Null: this machine sends it. */
  readonly source: string | null;
}

/** For how long a backend has an ISO image, and for how long it sends none of a file that was damaged. */
const KEPT = `interval '1 day'`;
const KEY = `backend = $backend and kind = $kind and image_sha256 = $imageSha256`;
const LEASED = `${KEY} and lease_id = $lease_id`;

/**
 * A server waits for the file, so it comes before those that are sent ahead of time. A row that was ready is
 * sent again: the host lacks the file. Returns the kind of the last failure, or null.
 */
export async function requestBackendFile(tx: Sql, file: BackendFile): Promise<ComputeFault | null> {
  const row = await tx.row<{ fault: ComputeFault | null }>(
    `insert into backend_files as f (backend, kind, image_sha256, awaited_at)
     values ($backend, $kind, $imageSha256, clock_timestamp())
     on conflict (backend, kind, image_sha256) do update
        set awaited_at = coalesce(f.awaited_at, excluded.awaited_at), ready_at = null,
            -- Also of a file that the operator gave up.
            due_at = case when f.ready_at is null then coalesce(f.due_at, excluded.due_at)
                          else excluded.due_at end
     returning fault`,
    { ...file },
  );
  return row?.fault ?? null;
}

/**
 * Makes the missing rows of the disks that each active backend needs: those of the images on offer, and the
 * rescue disk. Deletes the unfinished rows of disks that are no longer used, and those of ISO images that
 * hosts have deleted.
 */
export async function planBackendFiles(tx: Sql, rescue: string | null): Promise<void> {
  await tx.run(
    `with wanted as (
       select distinct 'disk' as kind, base_sha256 as image_sha256 from images
        where type = 'official' and active and deprecated_at is null and base_sha256 is not null
       union all select 'rescue', $1 where $1::text is not null),
     gone as (
       delete from backend_files f
        where leased_until is null and case kind
                when 'iso' then ready_at < clock_timestamp() - ${KEPT}
                else (ready_at is null or kind = 'rescue') and awaited_at is null
                  and not exists (select from wanted w
                                   where w.kind = f.kind and w.image_sha256 = f.image_sha256) end)
     insert into backend_files (backend, kind, image_sha256)
     select b.name, w.kind, w.image_sha256 from backends b cross join wanted w where b.state = 'active'
     on conflict do nothing`,
    [rescue],
  );
}

/** The backend of the region that has the file and sends the fewest others, fewer than `perBackend`. */
const SOURCE = `
  select s.backend
    from backend_files s join backends b on b.name = s.backend and b.state = 'active'
    cross join lateral (select count(*) as sent from backend_files o
                         where o.source = s.backend and o.leased_until > clock_timestamp()) busy
   where s.kind = due.kind and s.image_sha256 = due.image_sha256 and s.ready_at is not null
     and coalesce(s.damaged_at < clock_timestamp() - ${KEPT}, true)
     and b.region_id = due.region_id and s.backend <> due.backend and busy.sent < $perBackend
   order by busy.sent, s.backend limit 1`;

/**
 * Leases the next due file of a backend with fewer than `perBackend` transfers, and chooses who sends it:
 * once wrong bytes arrived, always this machine, so that no other host can keep it away. Awaited files come
 * first.
 */
export async function claimBackendFile(
  tx: Sql,
  claim: { readonly leaseId: string; readonly leaseS: number; readonly perBackend: number },
): Promise<LeasedFile | undefined> {
  return await tx.row<LeasedFile>(
    `with due as (
       select f.backend, f.kind, f.image_sha256, b.region_id
         from backend_files f join backends b on b.name = f.backend and b.state = 'active'
        where ready_at is null and due_at <= clock_timestamp()
          and (leased_until is null or leased_until < clock_timestamp())
          and (select count(*) from backend_files o
                where o.backend = f.backend and o.leased_until > clock_timestamp()) < $perBackend
        order by awaited_at nulls last, due_at limit 1 for update of f skip locked)
     update backend_files f
        set lease_id = $leaseId, leased_until = clock_timestamp() + make_interval(secs => $leaseS),
            source = case when f.fault is distinct from 'refused' then (${SOURCE}) end
       from due where f.backend = due.backend and f.kind = due.kind and f.image_sha256 = due.image_sha256
     returning f.backend, f.kind, f.image_sha256 as "imageSha256", f.attempts, f.lease_id, f.source`,
    claim,
  );
}

/** Records the progress and extends the lease. Returns false when the lease was lost. */
export async function recordFileProgress(
  tx: Sql,
  file: LeasedFile,
  progress: { readonly sentBytes: number; readonly sizeBytes: number; readonly leaseS: number },
): Promise<boolean> {
  const changed = await tx.run(
    `update backend_files
        set sent_bytes = $sentBytes, size_bytes = $sizeBytes,
            leased_until = clock_timestamp() + make_interval(secs => $leaseS)
      where ${LEASED}`,
    { ...file, ...progress },
  );
  return changed === 1;
}

/** The source does not send the file, so this machine does. */
export async function dropSource(tx: Sql, file: LeasedFile): Promise<void> {
  await tx.run(`update backend_files set source = null where ${LEASED}`, { ...file });
}

/** The copy of this backend has other bytes than the file. */
export async function markDamaged(tx: Sql, file: BackendFile): Promise<void> {
  await tx.run(`update backend_files set damaged_at = clock_timestamp() where ${KEY}`, { ...file });
}

/** The host has the file, an ISO image for a day. Until then it can send it to others. */
export async function finishBackendFile(tx: Sql, file: LeasedFile): Promise<void> {
  await tx.run(
    `update backend_files
        set ready_at = clock_timestamp(), awaited_at = null, attempts = 0, fault = null, last_fault = null,
            lease_id = null, leased_until = null, damaged_at = null
      where ${LEASED}`,
    { ...file },
  );
}

/** The transfer failed, and is tried again in `inS` seconds. */
export async function failBackendFile(
  tx: Sql,
  file: LeasedFile,
  failure: { readonly fault: ComputeFault; readonly message: string; readonly inS: number },
): Promise<void> {
  await tx.run(
    `update backend_files
        set attempts = attempts + 1, fault = $fault, last_fault = $message,
            due_at = clock_timestamp() + make_interval(secs => $inS), lease_id = null, leased_until = null
      where ${LEASED}`,
    { ...file, ...failure },
  );
}

/** Ends the lease without a result, for a process that stops. */
export async function releaseBackendFile(tx: Sql, file: LeasedFile): Promise<void> {
  await tx.run(`update backend_files set lease_id = null, leased_until = null where ${LEASED}`, { ...file });
}

/** Tries a file again now, also after it was given up. Returns false if nothing is to be sent. */
export async function retryBackendFile(tx: Sql, file: BackendFile): Promise<boolean> {
  const sql = `update backend_files set due_at = clock_timestamp() where ${KEY} and ready_at is null`;
  return (await tx.run(sql, { ...file })) === 1;
}

/**
 * Sends the file no more until a server needs it. Returns false while it is sent, or if there is nothing to
 * send.
 */
export async function giveUpBackendFile(tx: Sql, file: BackendFile): Promise<boolean> {
  const changed = await tx.run(
    `update backend_files set due_at = null, lease_id = null, leased_until = null
      where ${KEY} and ready_at is null and (leased_until is null or leased_until < clock_timestamp())`,
    { ...file },
  );
  return changed === 1;
}

export async function deleteBackendFiles(tx: Sql, backend: string): Promise<void> {
  await tx.run('delete from backend_files where backend = $1', [backend]);
}

/** Returns the path key and size of an uploaded image with this content, if its file exists. */
export async function findIsoFile(
  tx: Sql,
  sha256: string,
): Promise<{ readonly blob_key: string; readonly size_bytes: bigint } | undefined> {
  return await tx.row(
    `select blob_key, size_bytes from images where sha256 = $1 and blob_key is not null limit 1`,
    [sha256],
  );
}

export interface BackendFileRow {
  readonly backend: string;
  readonly kind: HostFileKind;
  readonly image_sha256: string;
  readonly size_bytes: bigint | null;
  readonly sent_bytes: bigint;
  readonly ready: boolean;
  readonly sending: boolean;
  readonly attempts: number;
  readonly last_fault: string | null;
  readonly source: string | null;
  /** Another host found lately that this copy has other bytes. */
  readonly damaged: boolean;
}

/** Lists the files of active backends. */
export async function listBackendFiles(tx: Sql): Promise<BackendFileRow[]> {
  return await tx.rows<BackendFileRow>(
    `select f.backend, f.kind, f.image_sha256, f.size_bytes, f.sent_bytes, f.ready_at is not null as ready,
            coalesce(f.leased_until > clock_timestamp(), false) as sending, f.attempts, f.last_fault,
            f.source, coalesce(f.damaged_at > clock_timestamp() - ${KEPT}, false) as damaged
       from backend_files f join backends b on b.name = f.backend and b.state = 'active'
      order by f.kind, f.image_sha256, f.backend`,
  );
}
