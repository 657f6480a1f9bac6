/** Passkeys of staff. Additions require the person's lock, so that their number is exact. */
import type { Sql } from '../../kernel/sql.ts';

export interface StaffPasskeyRow {
  readonly id: string;
  readonly staff_id: string;
  readonly credential_id: Buffer;
  readonly public_key: Buffer;
  readonly counter: bigint;
  readonly name: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

const COLUMNS = 'id, staff_id, credential_id, public_key, counter, name, created_at, last_used_at';

/** Oldest first. The quota bounds their number. */
export async function listStaffPasskeys(tx: Sql, staffId: string): Promise<StaffPasskeyRow[]> {
  return await tx.rows<StaffPasskeyRow>(
    `select ${COLUMNS} from staff_passkeys where staff_id = $1 order by created_at, id`,
    [staffId],
  );
}

/** Finds the passkey of a person with access. */
export async function findStaffPasskey(tx: Sql, credentialId: Buffer): Promise<StaffPasskeyRow | undefined> {
  return await tx.row<StaffPasskeyRow>(`select ${COLUMNS} from staff_passkeys where credential_id = $1`, [
    credentialId,
  ]);
}

/** Returns false when the credential is stored already. */
export async function insertStaffPasskey(
  tx: Sql,
  row: Omit<StaffPasskeyRow, 'last_used_at'>,
): Promise<boolean> {
  const inserted = await tx.run(
    `insert into staff_passkeys (id, staff_id, credential_id, public_key, counter, name, created_at)
     values ($id, $staff_id, $credential_id, $public_key, $counter, $name, $created_at)
     on conflict (credential_id) do nothing`,
    row,
  );
  return inserted === 1;
}

/** Records a use. Returns false if the counter did not advance, or the passkey was removed meanwhile. */
export async function useStaffPasskey(
  tx: Sql,
  use: { readonly id: string; readonly counter: bigint; readonly now: Date },
): Promise<boolean> {
  const used = await tx.run(
    `update staff_passkeys set counter = $counter, last_used_at = $now
      where id = $id and (counter < $counter or (counter = 0 and $counter = 0::bigint))`,
    use,
  );
  return used === 1;
}

/** Returns false when the person has no such passkey. */
export async function deleteStaffPasskey(tx: Sql, staffId: string, id: string): Promise<boolean> {
  return (await tx.run('delete from staff_passkeys where staff_id = $1 and id = $2', [staffId, id])) === 1;
}

export async function deleteStaffPasskeys(tx: Sql, staffId: string): Promise<void> {
  await tx.run('delete from staff_passkeys where staff_id = $1', [staffId]);
}
