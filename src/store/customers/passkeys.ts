/** Passkeys. Additions require the customer's lock, so that their number is exact. */
import type { Sql } from '../../kernel/sql.ts';

export interface PasskeyRow {
  readonly id: string;
  readonly customer_id: string;
  readonly credential_id: Buffer;
  readonly public_key: Buffer;
  readonly counter: bigint;
  readonly transports: string[];
  readonly name: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

const COLUMNS =
  'id, customer_id, credential_id, public_key, counter, transports, name, created_at, last_used_at';

/** Lists at most a hundred, oldest first. The quota is lower. */
export async function listPasskeys(tx: Sql, customerId: string): Promise<PasskeyRow[]> {
  return await tx.rows<PasskeyRow>(
    `select ${COLUMNS} from passkeys where customer_id = $1 order by created_at, id limit 100`,
    [customerId],
  );
}

export async function findPasskey(tx: Sql, credentialId: Buffer): Promise<PasskeyRow | undefined> {
  return await tx.row<PasskeyRow>(`select ${COLUMNS} from passkeys where credential_id = $1`, [credentialId]);
}

/** Returns false when the credential is already stored, for whichever customer. */
export async function insertPasskey(tx: Sql, row: Omit<PasskeyRow, 'last_used_at'>): Promise<boolean> {
  const inserted = await tx.run(
    `insert into passkeys (id, customer_id, credential_id, public_key, counter, transports, name, created_at)
     values ($id, $customer_id, $credential_id, $public_key, $counter, $transports, $name, $created_at)
     on conflict (credential_id) do nothing`,
    row,
  );
  return inserted === 1;
}

/** Records a use. Returns false if the counter did not advance, or the passkey was removed meanwhile. */
export async function usePasskey(
  tx: Sql,
  use: { readonly id: string; readonly counter: bigint; readonly now: Date },
): Promise<boolean> {
  const used = await tx.run(
    `update passkeys set counter = $counter, last_used_at = $now
      where id = $id and (counter < $counter or (counter = 0 and $counter = 0::bigint))`,
    use,
  );
  return used === 1;
}

export async function renamePasskey(
  tx: Sql,
  row: Pick<PasskeyRow, 'id' | 'customer_id' | 'name'>,
): Promise<boolean> {
  const renamed = await tx.run('update passkeys set name = $3 where id = $1 and customer_id = $2', [
    row.id,
    row.customer_id,
    row.name,
  ]);
  return renamed === 1;
}

/** Deletes one passkey and returns its name; undefined: the customer has none with this id. */
export async function deletePasskey(
  tx: Sql,
  customerId: string,
  id: string,
): Promise<{ readonly name: string } | undefined> {
  return await tx.row<{ name: string }>(
    'delete from passkeys where id = $1 and customer_id = $2 returning name',
    [id, customerId],
  );
}

/** Deletes all passkeys of the customer and returns their ids. */
export async function deletePasskeys(tx: Sql, customerId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>('delete from passkeys where customer_id = $1 returning id', [
    customerId,
  ]);
  return rows.map(({ id }) => id);
}

/** Records that a challenge was answered. Returns false for a second answer. */
export async function insertUsedChallenge(tx: Sql, digest: Buffer, expiresAt: Date): Promise<boolean> {
  const inserted = await tx.run(
    'insert into used_challenges (digest, expires_at) values ($1, $2) on conflict do nothing',
    [digest, expiresAt],
  );
  return inserted === 1;
}
