/** The audit log of all customers, the operator and the service itself, as the operator reads it. */
import type { Sql } from '../kernel/sql.ts';

export interface OperatorAuditRow {
  readonly id: string;
  /** null: not a customer's event, or their account was deleted. */
  readonly email: string | null;
  readonly action: string;
  readonly resource: string | null;
  readonly result: 'ok' | 'error' | 'denied';
  readonly actor_token: string | null;
  readonly actor_session: string | null;
  readonly ip_country: string;
  readonly request_id: string;
  readonly note: string | null;
  readonly created_at: Date;
}

/** Omitted fields match everything. */
export interface OperatorAuditFilter {
  readonly customerId?: string;
  readonly action?: string;
  readonly resource?: string;
  /** Only events without a token or session: those of the operator or the service itself. */
  readonly unattributed?: true;
}

/** Lists events newest first: ids begin with the time. */
export async function listOperatorAudit(
  tx: Sql,
  filter: OperatorAuditFilter,
  limit: number,
): Promise<OperatorAuditRow[]> {
  const values: unknown[] = [limit];
  const where = ['true'];
  const add = (column: string, value: unknown) => {
    if (value !== undefined) where.push(`${column} = $${values.push(value)}`);
  };
  add('e.customer_id', filter.customerId);
  add('e.action', filter.action);
  add('e.resource', filter.resource);
  if (filter.unattributed) where.push('e.actor_token is null and e.actor_session is null');
  return await tx.rows<OperatorAuditRow>(
    `select e.id, c.email, e.action, e.resource, e.result, e.actor_token, e.actor_session, e.ip_country,
            e.request_id, e.note, e.created_at
       from audit_events e left join customers c on c.id = e.customer_id
      where ${where.join(' and ')} order by e.id desc limit $1`,
    values,
  );
}
