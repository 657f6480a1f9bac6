/** Password reset requests, until a worker has looked up their accounts. */
import type { Sql } from '../kernel/sql.ts';

export interface ResetRequestRow {
  readonly id: string;
  readonly email_sealed: string;
  readonly ip_country: string;
  readonly requested_at: Date;
}

/** Returns false when `limit` requests are already waiting. */
export async function insertResetRequest(tx: Sql, row: ResetRequestRow, limit: number): Promise<boolean> {
  const inserted = await tx.run(
    `insert into reset_requests (id, email_sealed, ip_country, requested_at)
     select $1, $2, $3, $4
      where (select count(*) from (select from reset_requests limit $5) as waiting) < $5`,
    [row.id, row.email_sealed, row.ip_country, row.requested_at, limit],
  );
  return inserted === 1;
}

export async function findResetRequest(tx: Sql, id: string): Promise<ResetRequestRow | undefined> {
  return await tx.row<ResetRequestRow>(
    `select id, email_sealed, ip_country, requested_at from reset_requests where id = $1`,
    [id],
  );
}

/** Returns false when another worker has already handled it. */
export async function deleteResetRequest(tx: Sql, id: string): Promise<boolean> {
  return (await tx.run(`delete from reset_requests where id = $1`, [id])) === 1;
}
