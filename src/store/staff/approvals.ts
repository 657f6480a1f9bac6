/** Acts of staff that wait for a second person, and the rules that make them wait. */
import type { Sql } from '../../kernel/sql.ts';
import type { ApprovalState } from '../../spec/staff/roles.ts';

export interface ApprovalRuleRow {
  readonly operation: string;
  /** Null: every act. */
  readonly over_cents: bigint | null;
  readonly created_at: Date;
}

export async function listApprovalRules(tx: Sql): Promise<ApprovalRuleRow[]> {
  return await tx.rows('select operation, over_cents, created_at from approval_rules order by operation');
}

export async function saveApprovalRule(tx: Sql, row: ApprovalRuleRow): Promise<void> {
  await tx.run(
    `insert into approval_rules (operation, over_cents, created_at)
     values ($operation, $over_cents, $created_at)
     on conflict (operation) do update set over_cents = excluded.over_cents`,
    row,
  );
}

/** Returns false when there is no such rule. */
export async function deleteApprovalRule(tx: Sql, operation: string): Promise<boolean> {
  return (await tx.run('delete from approval_rules where operation = $1', [operation])) === 1;
}

export interface ApprovalRow {
  readonly id: string;
  readonly staff_id: string;
  readonly operation: string;
  readonly target: string | null;
  /** Null: it was forgotten, or the previous version stored it in plain text. */
  readonly input_sealed: string | null;
  readonly params: Readonly<Record<string, string>> | null;
  readonly body: Readonly<Record<string, unknown>> | null;
  readonly reason: string | null;
  readonly state: ApprovalState;
  readonly fault: string | null;
  readonly decided_by: string | null;
  readonly decided_at: Date | null;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const COLUMNS = `a.id, a.staff_id, a.operation, a.target, i.input_sealed, a.params, a.body, a.reason, a.state,
  a.fault, a.decided_by, a.decided_at, a.created_at, a.expires_at`;

const SELECT = `select ${COLUMNS}, s.email, d.email as decided_email
  from approval_requests a join staff s on s.id = a.staff_id left join staff d on d.id = a.decided_by
  left join approval_inputs i on i.request_id = a.id`;

export async function insertApproval(
  tx: Sql,
  row: Pick<ApprovalRow, 'id' | 'staff_id' | 'operation' | 'target' | 'reason'> & {
    readonly created_at: Date;
    readonly expires_at: Date;
  },
): Promise<void> {
  await tx.run(
    `insert into approval_requests
       (id, staff_id, operation, target, reason, created_at, expires_at)
     values ($id, $staff_id, $operation, $target, $reason, $created_at, $expires_at)`,
    row,
  );
}

/** With the email addresses of both people. */
export type NamedApprovalRow = ApprovalRow & {
  readonly email: string;
  readonly decided_email: string | null;
};

/** Newest first. */
export async function listApprovals(
  tx: Sql,
  query: { readonly state: ApprovalState | null; readonly beforeId: string | null; readonly limit: number },
): Promise<NamedApprovalRow[]> {
  return await tx.rows<NamedApprovalRow>(
    `${SELECT}
      where ($state::text is null or a.state = $state) and ($beforeId::uuid is null or a.id < $beforeId)
      order by a.id desc limit $limit`,
    query,
  );
}

export async function findApproval(tx: Sql, id: string): Promise<NamedApprovalRow | undefined> {
  return await tx.row<NamedApprovalRow>(`${SELECT} where a.id = $1`, [id]);
}

export async function countOpenApprovals(tx: Sql, staffId: string): Promise<number> {
  const row = await tx.row<{ n: bigint }>(
    `select count(*) as n from approval_requests where state = 'open' and staff_id = $1`,
    [staffId],
  );
  return Number(row?.n ?? 0n);
}

/** Decides an open request. Returns false when it is no longer open. */
export async function decideApproval(
  tx: Sql,
  row: {
    readonly id: string;
    readonly state: 'approved' | 'refused' | 'withdrawn';
    /** Null: a command on the machine. */
    readonly decidedBy: string | null;
    readonly now: Date;
  },
): Promise<boolean> {
  const decided = await tx.run(
    `update approval_requests set state = $state, decided_by = $decidedBy, decided_at = $now
      where id = $id and state = 'open' and expires_at > $now`,
    row,
  );
  return decided === 1;
}

export async function completeApproval(
  tx: Sql,
  row: { readonly id: string; readonly state: 'done' | 'failed'; readonly fault: string | null },
): Promise<void> {
  await tx.run(`update approval_requests set state = $state, fault = $fault where id = $id`, row);
}

/** The approved requests of the person for the act, oldest first. */
export async function listApproved(
  tx: Sql,
  act: {
    readonly staffId: string;
    readonly operation: string;
    readonly target: string | null;
    readonly now: Date;
  },
): Promise<ApprovalRow[]> {
  return await tx.rows<ApprovalRow>(
    `select ${COLUMNS} from approval_requests a left join approval_inputs i on i.request_id = a.id
      where a.staff_id = $staffId and a.operation = $operation and a.target is not distinct from $target
        and a.state = 'approved' and a.expires_at > $now
      order by a.id limit 100`,
    act,
  );
}

/** Returns false when it was used meanwhile. */
export async function markUsed(tx: Sql, id: string): Promise<boolean> {
  const sql = `update approval_requests set state = 'done' where id = $1 and state = 'approved'`;
  return (await tx.run(sql, [id])) === 1;
}

export async function countActiveOwners(tx: Sql): Promise<number> {
  const row = await tx.row<{ n: bigint }>(
    `select count(*) as n from staff
      where role = 'owner' and password_hash is not null and disabled_at is null`,
  );
  return Number(row?.n ?? 0n);
}
