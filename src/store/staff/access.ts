/** Sessions and API tokens of staff. */
import type { Sql } from '../../kernel/sql.ts';
import type { StaffRole } from '../../spec/staff/roles.ts';

export interface StaffIdentityRow {
  readonly session_id: string | null;
  readonly token_id: string | null;
  readonly staff_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: StaffRole;
  /** The role of the token, which may be lower than the person's. */
  readonly token_role: StaffRole | null;
  readonly seen_at: Date | null;
}

export async function insertStaffSession(
  tx: Sql,
  row: { readonly digest: Buffer; readonly id: string; readonly staffId: string; readonly now: Date },
): Promise<void> {
  await tx.run(
    `insert into staff_sessions (digest, id, staff_id, created_at, seen_at)
     values ($digest, $id, $staffId, $now, $now)`,
    row,
  );
}

export interface StaffSessionCutoffs {
  readonly createdAfter: Date;
  readonly seenAfter: Date;
}

/** Finds the person of a session that has neither ended nor expired. */
export async function findStaffSession(
  tx: Sql,
  digest: Buffer,
  cutoffs: StaffSessionCutoffs,
): Promise<StaffIdentityRow | undefined> {
  return await tx.row<StaffIdentityRow>(
    `select e.id as session_id, null::uuid as token_id, s.id as staff_id, s.email, s.name, s.role,
            null::text as token_role, e.seen_at
       from staff_sessions e join staff s on s.id = e.staff_id
      where e.digest = $1 and e.created_at > $2 and e.seen_at > $3 and s.disabled_at is null`,
    [digest, cutoffs.createdAfter, cutoffs.seenAfter],
  );
}

export async function touchStaffSession(tx: Sql, id: string, now: Date): Promise<void> {
  await tx.run('update staff_sessions set seen_at = $2 where id = $1 and seen_at < $2', [id, now]);
}

export async function deleteStaffSession(tx: Sql, id: string): Promise<void> {
  await tx.run('delete from staff_sessions where id = $1', [id]);
}

/** Ends all sessions of a person but one. */
export async function deleteOtherStaffSessions(tx: Sql, staffId: string, kept: string | null): Promise<void> {
  await tx.run('delete from staff_sessions where staff_id = $1 and id is distinct from $2::uuid', [
    staffId,
    kept,
  ]);
}

/** Finds a person with access. */
export async function findStaffIdentity(
  tx: Sql,
  id: string,
): Promise<Pick<StaffIdentityRow, 'staff_id' | 'email' | 'name' | 'role'> | undefined> {
  return await tx.row(
    `select id as staff_id, email, name, role from staff
      where id = $1 and disabled_at is null and password_hash is not null`,
    [id],
  );
}

/** Deletes the sessions and the API tokens of a person. Returns how many there were. */
export async function deleteStaffAccess(
  tx: Sql,
  staffId: string,
): Promise<{ readonly sessions: number; readonly tokens: number }> {
  return {
    sessions: await tx.run('delete from staff_sessions where staff_id = $1', [staffId]),
    tokens: await tx.run('delete from staff_tokens where staff_id = $1', [staffId]),
  };
}

/** After a change of the role. Tokens keep working, with the rights that both roles have. */
export async function deleteStaffSessions(tx: Sql, staffId: string): Promise<void> {
  await tx.run('delete from staff_sessions where staff_id = $1', [staffId]);
}

/** Deletes expired sessions of everyone, and the person's oldest above `keep`. */
export async function trimStaffSessions(
  tx: Sql,
  staffId: string,
  keep: number,
  { createdAfter, seenAfter }: StaffSessionCutoffs,
): Promise<void> {
  await tx.run(
    `delete from staff_sessions
      where created_at <= $createdAfter or seen_at <= $seenAfter or id in (
        select id from staff_sessions where staff_id = $staffId
         order by created_at desc, id desc offset $keep)`,
    { staffId, keep, createdAfter, seenAfter },
  );
}

export interface StaffTokenRow {
  readonly id: string;
  readonly name: string;
  readonly role: StaffRole;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly last_used_at: Date | null;
}

export async function insertStaffToken(
  tx: Sql,
  row: {
    readonly id: string;
    readonly staffId: string;
    readonly name: string;
    readonly digest: Buffer;
    readonly role: StaffRole;
    readonly expiresAt: Date;
    readonly now: Date;
  },
): Promise<void> {
  await tx.run(
    `insert into staff_tokens (id, staff_id, name, digest, role, created_at, expires_at)
     values ($id, $staffId, $name, $digest, $role, $now, $expiresAt)`,
    row,
  );
}

/** Finds the person of a token that is neither revoked nor expired. */
export async function findStaffToken(
  tx: Sql,
  digest: Buffer,
  now: Date,
): Promise<StaffIdentityRow | undefined> {
  return await tx.row<StaffIdentityRow>(
    `select null::uuid as session_id, t.id as token_id, s.id as staff_id, s.email, s.name, s.role,
            t.role as token_role, t.last_used_at as seen_at
       from staff_tokens t join staff s on s.id = t.staff_id
      where t.digest = $1 and t.expires_at > $2 and s.disabled_at is null and s.password_hash is not null`,
    [digest, now],
  );
}

export async function touchStaffToken(tx: Sql, id: string, now: Date): Promise<void> {
  await tx.run('update staff_tokens set last_used_at = $2 where id = $1', [id, now]);
}

/** Newest first. The quota bounds their number. */
export async function listStaffTokens(tx: Sql, staffId: string): Promise<StaffTokenRow[]> {
  return await tx.rows<StaffTokenRow>(
    `select id, name, role, created_at, expires_at, last_used_at from staff_tokens
      where staff_id = $1 order by created_at desc, id desc`,
    [staffId],
  );
}

/** Returns false when the person has no such token. */
export async function deleteStaffToken(tx: Sql, staffId: string, id: string): Promise<boolean> {
  return (await tx.run('delete from staff_tokens where staff_id = $1 and id = $2', [staffId, id])) === 1;
}
