import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { AuditEvent } from '../../spec/schemas/audit-event.ts';
import type { AuditEventRow } from '../../store/audit.ts';

/** Returns an audit event in the REST shape. Both actors are null when the service acted on its own. */
export function auditObject(row: AuditEventRow): AuditEvent {
  return {
    id: formatId('audit', row.id),
    object: 'audit_event',
    action: row.action,
    resource: row.resource,
    actor_token: row.actor_token && formatId('token', row.actor_token),
    actor_session: row.actor_session && formatId('session', row.actor_session),
    request_id: row.request_id,
    ip_country: row.ip_country,
    result: row.result,
    created_at: formatRfc3339(row.created_at),
  };
}
