/** Which operations need a second person. */
import { fail, invalidRequest } from '../../kernel/fail.ts';
import { centsToUsd, parseUnits } from '../../kernel/money.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { STAFF_OPERATION_IDS, STAFF_OPERATIONS, type StaffOperation } from '../../spec/staff/operations.ts';
import {
  type ApprovalRuleRow,
  deleteApprovalRule,
  listApprovalRules as listRows,
  saveApprovalRule,
} from '../../store/staff/approvals.ts';
import type { Service } from '../context.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

/**
 * People do some for themselves, with a one-time code. An act on a legal order would wait with its text,
 * which only an owner may read.
 */
const NEVER: readonly string[] = ['approvals', 'staff_tokens', 'staff_account', 'legal_orders'];

/** Their input is evidence, of which a request would keep another copy. */
const NEVER_STORED: readonly StaffOperation[] = [
  'abuse_reports.create',
  'abuse_reports.change',
  'abuse_reports.attach',
  'abuse_reports.forward',
];

/** Operations that a rule may name. */
export const APPROVAL_OPERATIONS: readonly StaffOperation[] = STAFF_OPERATION_IDS.filter(
  (id) =>
    STAFF_OPERATIONS[id].changes && !NEVER.includes(id.split('.')[0] ?? '') && !NEVER_STORED.includes(id),
);

export interface ApprovalRuleView {
  readonly object: 'approval_rule';
  /** The operation. */
  readonly id: StaffOperation;
  readonly summary: string;
  /** Acts up to this amount need no approval; null: all need it. */
  readonly over_usd: number | null;
  readonly created_at: string;
}

export async function listApprovalRules({ db }: Pick<Deps, 'db'>): Promise<ApprovalRuleView[]> {
  return (await listRows(db)).map(toView);
}

/** Fails with `not_found`. */
export async function readApprovalRule(
  { db }: Pick<Deps, 'db'>,
  operation: string,
): Promise<ApprovalRuleView> {
  const row = (await listRows(db)).find((each) => each.operation === operation);
  return toView(row ?? fail('not_found', {}, 'This operation needs no approval.'));
}

/** Fails with `invalid_request`. */
export async function setApprovalRule(
  service: Deps,
  rule: { readonly operation: string; readonly over_usd?: string },
): Promise<ApprovalRuleView> {
  const operation = APPROVAL_OPERATIONS.find((id) => id === rule.operation);
  if (!operation) invalidRequest([{ field: 'operation', issue: 'invalid_value' }]);
  const cents = rule.over_usd === undefined ? null : parseUnits(rule.over_usd, 2);
  if (cents === undefined) invalidRequest([{ field: 'over_usd', issue: 'invalid_format' }]);
  await saveApprovalRule(service.db, { operation, over_cents: cents, created_at: service.clock.now() });
  return await readApprovalRule(service, operation);
}

/** Fails with `not_found`. */
export async function removeApprovalRule({ db }: Pick<Deps, 'db'>, operation: string): Promise<void> {
  if (!(await deleteApprovalRule(db, operation))) fail('not_found', {}, 'This operation needs no approval.');
}

function toView(row: ApprovalRuleRow): ApprovalRuleView {
  const id = row.operation as StaffOperation;
  return {
    object: 'approval_rule',
    id,
    summary: STAFF_OPERATIONS[id]?.summary ?? id,
    over_usd: row.over_cents === null ? null : centsToUsd(row.over_cents),
    created_at: formatRfc3339(row.created_at),
  };
}
