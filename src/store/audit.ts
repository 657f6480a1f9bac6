import type { Sql } from '../kernel/sql.ts';

export interface AuditRow {
  readonly id: string;
  readonly customerId: string | null;
  readonly action: string;
  readonly resource: string | null;
  readonly actorToken: string | null;
  readonly actorSession: string | null;
  readonly requestId: string;
  readonly ipCountry: string;
  readonly result: 'ok' | 'error' | 'denied';
  readonly createdAt: Date;
}

export async function insertAudit(tx: Sql, row: AuditRow): Promise<void> {
  await tx.run(
    `insert into audit_events
       (id, customer_id, action, resource, actor_token, actor_session, request_id, ip_country, result, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      row.id,
      row.customerId,
      row.action,
      row.resource,
      row.actorToken,
      row.actorSession,
      row.requestId,
      row.ipCountry,
      row.result,
      row.createdAt,
    ],
  );
}
