/** Staff: who they are, their credentials, and their invitations. */
import type { Sql } from '../../kernel/sql.ts';
import type { StaffRole } from '../../spec/staff/roles.ts';

export interface StaffRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: StaffRole;
  /** Null: the invitation has not been accepted. */
  readonly password_hash: string | null;
  readonly totp_sealed: string | null;
  readonly totp_last_step: number;
  readonly invite_until: Date | null;
  readonly created_at: Date;
  readonly joined_at: Date | null;
  readonly disabled_at: Date | null;
}

const COLUMNS = `id, email, name, role, password_hash, totp_sealed, totp_last_step::float8 as totp_last_step,
  invite_until, created_at, joined_at, disabled_at`;

export interface NewInvitation {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly name: string;
  readonly role: StaffRole;
  readonly totpSealed: string;
  readonly digest: Buffer;
  readonly until: Date;
  readonly now: Date;
}

/** Returns false when a person has this email address. */
export async function insertStaff(tx: Sql, row: NewInvitation): Promise<boolean> {
  const inserted = await tx.run(
    `insert into staff
       (id, email, email_key, name, role, totp_sealed, invite_digest, invite_until, created_at)
     values ($id, $email, $emailKey, $name, $role, $totpSealed, $digest, $until, $now)
     on conflict (email_key) do nothing`,
    row,
  );
  return inserted === 1;
}

/** Replaces credentials by a new invitation. */
export async function renewInvitation(tx: Sql, row: Omit<NewInvitation, 'email' | 'emailKey' | 'now'>) {
  await tx.run(
    `update staff set name = $name, role = $role, totp_sealed = $totpSealed, totp_last_step = 0,
            password_hash = null, disabled_at = null, joined_at = null, invite_digest = $digest,
            invite_until = $until
      where id = $id`,
    row,
  );
}

export async function findStaff(tx: Sql, id: string): Promise<StaffRow | undefined> {
  return await tx.row<StaffRow>(`select ${COLUMNS} from staff where id = $1`, [id]);
}

export async function findStaffByEmail(tx: Sql, emailKey: string): Promise<StaffRow | undefined> {
  return await tx.row<StaffRow>(`select ${COLUMNS} from staff where email_key = $1`, [emailKey]);
}

/** Finds whom an unexpired invitation is for. */
export async function findInvited(tx: Sql, digest: Buffer, now: Date): Promise<StaffRow | undefined> {
  return await tx.row<StaffRow>(
    `select ${COLUMNS} from staff where invite_digest = $1 and invite_until > $2 and disabled_at is null`,
    [digest, now],
  );
}

export async function lockStaff(tx: Sql, id: string): Promise<StaffRow | undefined> {
  return await tx.row<StaffRow>(`select ${COLUMNS} from staff where id = $1 for update`, [id]);
}

/** All changes that could leave the service without an owner wait for each other. */
export async function lockOwners(tx: Sql): Promise<readonly string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from staff where role = 'owner' and disabled_at is null and password_hash is not null
      order by id for update`,
  );
  return rows.map(({ id }) => id);
}

export async function acceptInvitation(
  tx: Sql,
  row: { readonly id: string; readonly passwordHash: string; readonly step: number; readonly now: Date },
): Promise<void> {
  await tx.run(
    `update staff set password_hash = $passwordHash, totp_last_step = $step, joined_at = $now,
            invite_digest = null, invite_until = null where id = $id`,
    row,
  );
}

export async function setStaffRole(tx: Sql, id: string, role: StaffRole): Promise<void> {
  await tx.run('update staff set role = $2 where id = $1', [id, role]);
}

/** Ends an invitation, too, and forgets the credentials. */
export async function disableStaff(tx: Sql, id: string, now: Date): Promise<void> {
  await tx.run(
    `update staff set disabled_at = coalesce(disabled_at, $2), password_hash = null, totp_sealed = null,
            invite_digest = null, invite_until = null
      where id = $1`,
    [id, now],
  );
}

/** Returns false when the code of this step was used. */
export async function consumeStaffStep(tx: Sql, id: string, step: number): Promise<boolean> {
  const used = await tx.run('update staff set totp_last_step = $2 where id = $1 and totp_last_step < $2', [
    id,
    step,
  ]);
  return used === 1;
}

/** Newest first: an id begins with its creation time. */
export async function listStaff(
  tx: Sql,
  { beforeId, limit }: { readonly beforeId: string | null; readonly limit: number },
): Promise<StaffRow[]> {
  return await tx.rows<StaffRow>(
    `select ${COLUMNS} from staff where $1::uuid is null or id < $1 order by id desc limit $2`,
    [beforeId, limit],
  );
}

export async function setStaffPassword(tx: Sql, id: string, passwordHash: string): Promise<void> {
  await tx.run('update staff set password_hash = $2 where id = $1', [id, passwordHash]);
}
