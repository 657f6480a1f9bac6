/** The customer's audit log: the last 90 days. */
import { notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { DAY_MS, formatRfc3339 } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { AuditEvent } from '../../spec/schemas/audit-event.ts';
import { type AuditEventRow, type AuditReach, findAuditEvent, pageAuditEvents } from '../../store/audit.ts';
import { findInside } from '../../store/customers/reach.ts';
import type { CustomerActor, Service } from '../context.ts';

/** Returns one event. An id that is unknown, malformed, expired, or another customer's is `not_found`. */
export async function getAuditEvent(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<AuditEvent> {
  const id = parseId('audit', shownId) ?? notFound('audit');
  const reach = await auditReach(service, actor);
  const row = await findAuditEvent(service.db, actor.customerId, id, retentionCutoff(service), reach);
  return auditObject(row ?? notFound('audit'));
}

export async function listAuditEvents(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<AuditEvent>> {
  const { customerId } = actor;
  const since = retentionCutoff(service);
  const reach = await auditReach(service, actor);
  const { rows, next } = await pageAuditEvents(service.db, customerId, since, page, reach);
  return { items: rows.map(auditObject), next };
}

/** A limited token reads the events of resources inside, of itself, and of the tokens that it created. */
async function auditReach(
  { db }: Service,
  { customerId, tokenId, limits }: CustomerActor,
): Promise<AuditReach | undefined> {
  const reach = limits?.reach;
  if (!reach || tokenId === null) return undefined;
  const inside = await findInside(db, { customerId, tokenId, reach }, null);
  return {
    resources: inside.map(({ kind, id }) => formatId(kind, id)),
    tokens: inside.filter(({ kind }) => kind === 'token').map(({ id }) => id),
  };
}

function retentionCutoff(service: Service): Date {
  return new Date(service.clock.now().getTime() - LIMITS.auditRetentionDays * DAY_MS);
}

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
