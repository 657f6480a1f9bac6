/** The inputs of acts that wait for a second person. They are sealed, and go before their requests. */
import type { Sql } from '../../kernel/sql.ts';

export interface ApprovalInputRow {
  readonly request_id: string;
  readonly input_sealed: string;
  readonly expires_at: Date;
}

export async function insertApprovalInput(tx: Sql, row: ApprovalInputRow): Promise<void> {
  await tx.run(
    `insert into approval_inputs (request_id, input_sealed, expires_at)
     values ($request_id, $input_sealed, $expires_at) on conflict do nothing`,
    row,
  );
}

/** The request was decided. */
export async function expireApprovalInput(tx: Sql, requestId: string, at: Date): Promise<void> {
  await tx.run('update approval_inputs set expires_at = $2 where request_id = $1', [requestId, at]);
}

export interface PlainInputRow {
  readonly id: string;
  readonly params: object | null;
  readonly body: object;
  /** When it was decided, or expires. */
  readonly ended_at: Date;
}

/** Locks inputs that the previous version stored in plain text. */
export async function lockPlainInputs(tx: Sql, limit: number): Promise<PlainInputRow[]> {
  return await tx.rows<PlainInputRow>(
    `select id, params, body, coalesce(decided_at, expires_at) as ended_at from approval_requests
      where body is not null order by id limit $1 for update skip locked`,
    [limit],
  );
}

export async function clearPlainInputs(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.run('update approval_requests set params = null, body = null where id = any($1::uuid[])', [ids]);
}
