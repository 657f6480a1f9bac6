/**
 * The hash chain over the audit log. Rows are linked after their commit, in the order of their ids as far as
 * they are visible. One transaction changes the chain at a time, over all processes; nothing waits for it.
 */
import type { Sql } from '../kernel/sql.ts';

/**
 * The hash of a row `e`: of all its columns that have a value, so that a column added later changes no hash.
 * The text of a time depends on the session's time zone, its number does not.
 */
export const AUDIT_ROW_HASH = `sha256(convert_to(jsonb_strip_nulls(
  to_jsonb(e) || jsonb_build_object('created_at', extract(epoch from e.created_at)))::text, 'UTF8'))`;

/** The key of the advisory lock. */
const CHAIN_LOCK = 7_355_615;

/** Takes the lock until the transaction ends. Returns false when another transaction has it. */
export async function tryLockChain(tx: Sql): Promise<boolean> {
  const row = await tx.row<{ locked: boolean }>('select pg_try_advisory_xact_lock($1::bigint) as locked', [
    CHAIN_LOCK,
  ]);
  return row?.locked ?? false;
}

export interface ChainHead {
  readonly no: bigint;
  readonly hash: Buffer;
  /** The row of the head; null: it is the anchor. */
  readonly event_id: string | null;
}

/** Returns the last link, or the anchor when there is none. */
export async function readChainHead(tx: Sql): Promise<ChainHead> {
  const row = await tx.row<ChainHead>(
    `(select no, hash, event_id from audit_links order by no desc limit 1)
     union all (select no, hash, null from audit_anchor) order by event_id nulls last limit 1`,
  );
  if (!row) throw new Error('the audit chain has no anchor');
  return row;
}

/** Returns the hash of a link or of the anchor; undefined: deleted, or not reached yet. */
export async function readChainHash(tx: Sql, no: bigint): Promise<Buffer | undefined> {
  const row = await tx.row<{ hash: Buffer }>(
    `select hash from audit_links where no = $1
     union all select hash from audit_anchor where no = $1 limit 1`,
    [no],
  );
  return row?.hash;
}

/** Returns the number of the last deleted link. */
export async function readAnchorNo(tx: Sql): Promise<bigint> {
  return (await tx.row<{ no: bigint }>('select no from audit_anchor'))?.no ?? 0n;
}

export interface UnlinkedRow {
  readonly id: string;
  readonly row_hash: Buffer;
}

/** Lists rows without a link with an id above `after`, in the order of their ids. */
export async function readUnlinked(tx: Sql, after: string, limit: number): Promise<UnlinkedRow[]> {
  return await tx.rows<UnlinkedRow>(
    `select e.id, ${AUDIT_ROW_HASH} as row_hash from audit_events e
      where e.id > $1 and not exists (select from audit_links l where l.event_id = e.id)
      order by e.id limit $2`,
    [after, limit],
  );
}

export async function readNewestAuditId(tx: Sql): Promise<string | undefined> {
  return (await tx.row<{ id: string }>('select id from audit_events order by id desc limit 1'))?.id;
}

export async function countUnlinked(tx: Sql): Promise<bigint> {
  const row = await tx.row<{ n: bigint }>(
    `select count(*) as n from audit_events e
      where not exists (select from audit_links l where l.event_id = e.id)`,
  );
  return row?.n ?? 0n;
}

export interface AuditLink {
  readonly no: bigint;
  readonly id: string;
  readonly row_hash: Buffer;
  readonly hash: Buffer;
}

export async function insertLinks(tx: Sql, links: readonly AuditLink[]): Promise<void> {
  await tx.run(
    `insert into audit_links (no, event_id, row_hash, hash)
     select * from unnest($links.no::bigint[], $links.id::uuid[], $links.row_hash::bytea[],
                          $links.hash::bytea[])`,
    { links },
  );
}

/**
 * Deletes the oldest links, at most `limit`, up to the first whose row still exists or is not older than
 * `before`. The anchor becomes the last of them. Returns how many were deleted.
 */
export async function deleteExpiredLinks(tx: Sql, before: string, limit: number): Promise<number> {
  return await tx.run(
    `with oldest as (
       select l.no, l.hash, l.event_id < $1 and e.id is null as expired
         from (select no, hash, event_id from audit_links order by no limit $2) l
         left join audit_events e on e.id = l.event_id),
     gone as (
       select no, hash from oldest
        where no < coalesce((select min(no) from oldest where not expired), 9223372036854775807)),
     anchored as (
       update audit_anchor a set no = g.no, hash = g.hash
         from (select no, hash from gone order by no desc limit 1) g)
     delete from audit_links where no in (select no from gone)`,
    [before, limit],
  );
}
