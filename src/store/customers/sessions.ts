import type { Sql } from '../../kernel/sql.ts';

export interface SessionRow {
  readonly id: string;
  readonly customer_id: string;
  readonly seen_at: Date;
  readonly frozen_at: Date | null;
  /** Since when the panel's keyboard shortcuts are off. */
  readonly shortcuts_off_at: Date | null;
  readonly email: string;
  readonly balance_cents: bigint;
  /** The current version of the operator's rules. */
  readonly rules_version: bigint;
  /** The number of the customer's latest event. */
  readonly last_seq: bigint;
}

/** A session is valid if it was created after `createdAfter` and last used after `seenAfter`. */
export interface SessionCutoffs {
  readonly createdAfter: Date;
  readonly seenAfter: Date;
}

export async function insertSession(
  tx: Sql,
  row: { readonly digest: Buffer; readonly id: string; readonly customerId: string; readonly now: Date },
): Promise<void> {
  await tx.run(
    `insert into sessions (digest, id, customer_id, created_at, seen_at) values ($1, $2, $3, $4, $4)`,
    [row.digest, row.id, row.customerId, row.now],
  );
}

export async function findSession(
  tx: Sql,
  digest: Buffer,
  cutoffs: SessionCutoffs,
): Promise<SessionRow | undefined> {
  return await tx.row<SessionRow>(
    `select s.id, s.customer_id, s.seen_at, c.frozen_at, c.shortcuts_off_at, c.email, b.balance_cents,
            o.rules_version, coalesce(e.last_seq, 0) as last_seq
       from sessions s
       join customers c on c.id = s.customer_id
       join balances b on b.customer_id = s.customer_id
       left join event_counters e on e.customer_id = s.customer_id
       cross join service o
      where s.digest = $1 and s.created_at > $2 and s.seen_at > $3`,
    [digest, cutoffs.createdAfter, cutoffs.seenAfter],
  );
}

/** Whether the customer's token and session exist; null counts as existing. */
export async function credentialsExist(
  tx: Sql,
  {
    customerId,
    tokenId,
    sessionId,
  }: { customerId: string; tokenId: string | null; sessionId: string | null },
): Promise<boolean> {
  const row = await tx.row<{ exist: boolean }>(
    `select ($2::uuid is null or exists (select from api_tokens where id = $2 and customer_id = $1))
        and ($3::uuid is null or exists (select from sessions where id = $3 and customer_id = $1)) as exist`,
    [customerId, tokenId, sessionId],
  );
  return row?.exist ?? false;
}

/** Updates the last use of a session. Of several concurrent requests, only one writes. */
export async function touchSession(tx: Sql, id: string, now: Date, seenBefore: Date): Promise<void> {
  await tx.run(`update sessions set seen_at = $2 where id = $1 and seen_at <= $3`, [id, now, seenBefore]);
}

/** Returns false when the session was already deleted. */
export async function deleteSession(tx: Sql, id: string): Promise<boolean> {
  return (await tx.run(`delete from sessions where id = $1`, [id])) === 1;
}

/** Deletes every session of the customer except `exceptId`; null deletes all. */
export async function deleteOtherSessions(
  tx: Sql,
  customerId: string,
  exceptId: string | null,
): Promise<void> {
  await tx.run(`delete from sessions where customer_id = $1 and id is distinct from $2`, [
    customerId,
    exceptId,
  ]);
}

/** Deletes the customer's expired sessions and, oldest first, the valid ones in excess of `keep`. */
export async function trimSessions(
  tx: Sql,
  customerId: string,
  keep: number,
  cutoffs: SessionCutoffs,
): Promise<void> {
  await tx.run(
    `delete from sessions
      where customer_id = $1 and (created_at <= $2 or seen_at <= $3 or id in (
        select id from sessions where customer_id = $1 and created_at > $2 and seen_at > $3
         order by created_at desc, id desc offset $4))`,
    [customerId, cutoffs.createdAfter, cutoffs.seenAfter, keep],
  );
}

export interface OwnSessionRow {
  readonly id: string;
  readonly created_at: Date;
  readonly seen_at: Date;
}

/** Lists the customer's valid sessions, newest first. `trimSessions` bounds their number. */
export async function listSessions(
  tx: Sql,
  customerId: string,
  cutoffs: SessionCutoffs,
): Promise<OwnSessionRow[]> {
  return await tx.rows<OwnSessionRow>(
    `select id, created_at, seen_at from sessions
      where customer_id = $1 and created_at > $2 and seen_at > $3 order by created_at desc, id desc`,
    [customerId, cutoffs.createdAfter, cutoffs.seenAfter],
  );
}

/** Returns false when the customer has no session with this id. */
export async function deleteOwnSession(tx: Sql, customerId: string, id: string): Promise<boolean> {
  return (await tx.run(`delete from sessions where id = $1 and customer_id = $2`, [id, customerId])) === 1;
}
