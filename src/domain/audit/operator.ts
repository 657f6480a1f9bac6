/** The audit log of all customers, for the operator. */
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { listOperatorAudit, type OperatorAuditFilter, type OperatorAuditRow } from '../../store/audit.ts';
import type { Service } from '../context.ts';
import { requireCustomer } from '../customers/operator.ts';

export interface OperatorAuditQuery extends Omit<OperatorAuditFilter, 'customerId' | 'beforeId'> {
  /** An email address, or `cus_…`. */
  readonly customer?: string | undefined;
  /** `audit_…`: only older events. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Newest first, and whether there are more. Throws an OperatorError for an unknown customer. */
export async function listAuditForOperator(
  { db }: Pick<Service, 'db'>,
  { customer, before, limit, ...filter }: OperatorAuditQuery,
): Promise<{ readonly rows: readonly OperatorAuditRow[]; readonly hasMore: boolean }> {
  const beforeId = before === undefined ? undefined : parseId('audit', before);
  if (before !== undefined && beforeId === undefined) return { rows: [], hasMore: false };
  const owner = await ownerFilter(db, customer);
  const rows = await listOperatorAudit(db, { ...filter, ...owner, ...(beforeId && { beforeId }) }, limit + 1);
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

async function ownerFilter(db: Sql, customer: string | undefined) {
  return customer === undefined ? {} : { customerId: (await requireCustomer(db, customer)).id };
}
