/** Second factors: a sealed secret for each customer who has begun one. Whoever changes a row holds the customer's lock. */
import type { Sql } from '../kernel/sql.ts';

export interface TotpRow {
  readonly secret_sealed: string;
  readonly begun_at: Date;
  /** Null: begun, and asked of nobody yet. */
  readonly confirmed_at: Date | null;
  readonly last_step: number;
  readonly wrong_codes: number;
  readonly wrong_since: Date | null;
}

export async function findTotp(tx: Sql, customerId: string): Promise<TotpRow | undefined> {
  return await tx.row<TotpRow>(
    `select secret_sealed, begun_at, confirmed_at, last_step, wrong_codes, wrong_since
       from totp_secrets where customer_id = $1`,
    [customerId],
  );
}

/** Puts a new secret down, over one that was only begun; false where one is in use. */
export async function saveTotpSecret(
  tx: Sql,
  row: { readonly customerId: string; readonly secretSealed: string; readonly begunAt: Date },
): Promise<boolean> {
  const put = await tx.run(
    `insert into totp_secrets (customer_id, secret_sealed, begun_at) values ($1, $2, $3)
     on conflict (customer_id) do update set secret_sealed = $2, begun_at = $3
      where totp_secrets.confirmed_at is null`,
    [row.customerId, row.secretSealed, row.begunAt],
  );
  return put === 1;
}

export async function confirmTotpRow(tx: Sql, customerId: string, now: Date): Promise<void> {
  await tx.run('update totp_secrets set confirmed_at = $2 where customer_id = $1', [customerId, now]);
}

/** Uses up the codes of this step and of all before; false when they are used up. */
export async function consumeTotpStep(tx: Sql, customerId: string, step: number): Promise<boolean> {
  const used = await tx.run(
    'update totp_secrets set last_step = $2 where customer_id = $1 and last_step < $2',
    [customerId, step],
  );
  return used === 1;
}

/** Counts a wrong code at `at`; what began before `since` is forgotten. Both are of real time. */
export async function recordWrongCode(tx: Sql, customerId: string, at: Date, since: Date): Promise<void> {
  await tx.run(
    `update totp_secrets
        set wrong_codes = case when wrong_since > $3 then wrong_codes + 1 else 1 end,
            wrong_since = case when wrong_since > $3 then wrong_since else $2::timestamptz end
      where customer_id = $1`,
    [customerId, at, since],
  );
}

/** Removes the secret, in use or begun; whether it was in use. */
export async function deleteTotp(tx: Sql, customerId: string): Promise<boolean> {
  const gone = await tx.row<{ confirmed_at: Date | null }>(
    'delete from totp_secrets where customer_id = $1 returning confirmed_at',
    [customerId],
  );
  return gone !== undefined && gone.confirmed_at !== null;
}

/** Removes it where it has been in use only since then, or was only begun. */
export async function deleteTotpSince(tx: Sql, customerId: string, since: Date): Promise<void> {
  await tx.run(
    'delete from totp_secrets where customer_id = $1 and (confirmed_at is null or confirmed_at > $2)',
    [customerId, since],
  );
}
