/**
 * Second factors: one sealed secret for each enrolled customer. Every change requires the customer's lock.
 */
import type { Sql } from '../../kernel/sql.ts';

export interface TotpRow {
  readonly customer_id: string;
  readonly secret_sealed: string;
  readonly begun_at: Date;
  /** Null: enrollment has begun, and sign-in does not require a code yet. */
  readonly confirmed_at: Date | null;
  readonly last_step: number;
  readonly wrong_codes: number;
  readonly wrong_since: Date | null;
}

export async function findTotp(tx: Sql, customerId: string): Promise<TotpRow | undefined> {
  return await tx.row<TotpRow>(
    `select customer_id, secret_sealed, begun_at, confirmed_at, last_step, wrong_codes, wrong_since
       from totp_secrets where customer_id = $1`,
    [customerId],
  );
}

/** Saves a new secret, replacing an unconfirmed one. Returns false when a secret is in use. */
export async function saveTotpSecret(
  tx: Sql,
  row: { readonly customerId: string; readonly secretSealed: string; readonly begunAt: Date },
): Promise<boolean> {
  const saved = await tx.run(
    `insert into totp_secrets (customer_id, secret_sealed, begun_at) values ($1, $2, $3)
     on conflict (customer_id) do update set secret_sealed = $2, begun_at = $3
      where totp_secrets.confirmed_at is null`,
    [row.customerId, row.secretSealed, row.begunAt],
  );
  return saved === 1;
}

export async function confirmTotpRow(tx: Sql, customerId: string, now: Date): Promise<void> {
  await tx.run('update totp_secrets set confirmed_at = $2 where customer_id = $1', [customerId, now]);
}

/** Consumes the codes of this step and all before it. Returns false when they are already used. */
export async function consumeTotpStep(tx: Sql, customerId: string, step: number): Promise<boolean> {
  const used = await tx.run(
    'update totp_secrets set last_step = $2 where customer_id = $1 and last_step < $2',
    [customerId, step],
  );
  return used === 1;
}

/** Counts an incorrect code at `at`. A count that began before `since` starts over. Both are real time. */
export async function recordWrongCode(tx: Sql, customerId: string, at: Date, since: Date): Promise<void> {
  await tx.run(
    `update totp_secrets
        set wrong_codes = case when wrong_since > $3 then wrong_codes + 1 else 1 end,
            wrong_since = case when wrong_since > $3 then wrong_since else $2::timestamptz end
      where customer_id = $1`,
    [customerId, at, since],
  );
}

/** Deletes the secret, confirmed or not. Returns whether it was in use. */
export async function deleteTotp(tx: Sql, customerId: string): Promise<boolean> {
  const deleted = await tx.row<{ confirmed_at: Date | null }>(
    'delete from totp_secrets where customer_id = $1 returning confirmed_at',
    [customerId],
  );
  return deleted !== undefined && deleted.confirmed_at !== null;
}

/** Deletes a secret that is unconfirmed or was confirmed after `since`. */
export async function deleteTotpSince(tx: Sql, customerId: string, since: Date): Promise<void> {
  await tx.run(
    'delete from totp_secrets where customer_id = $1 and (confirmed_at is null or confirmed_at > $2)',
    [customerId, since],
  );
}
