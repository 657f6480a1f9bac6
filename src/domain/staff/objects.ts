/** Customers and servers as staff read them: everything that the service keeps, and no secret. */
import { formatId } from '../../kernel/ids.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { OperatorAuditRow } from '../../store/audit.ts';
import type { CustomerOverview } from '../../store/customers/customers.ts';
import type { OperatorServerRow } from '../../store/servers/operator.ts';

const time = (value: Date | null): string | null => value && formatRfc3339(value);

interface CustomerExtras {
  readonly passkeys: number;
  readonly tags: readonly string[];
  /** Of abuse: those that are open, and all of the last 180 days. */
  readonly reports: { readonly open: number; readonly recent: number };
}

export function toCustomerObject(row: CustomerOverview, { passkeys, tags, reports }: CustomerExtras) {
  return {
    object: 'customer' as const,
    id: formatId('customer', row.id),
    email: row.email,
    email_confirmed_at: time(row.email_confirmed_at),
    has_openpgp_key: row.has_openpgp_key,
    totp_since: time(row.totp_since),
    passkeys,
    created_at: formatRfc3339(row.created_at),
    frozen_at: time(row.frozen_at),
    deleting_at: time(row.deleting_at),
    balance_usd: centsToUsd(row.balance_cents),
    pending_payments: Number(row.payments),
    servers: Number(row.servers),
    suspended_servers: Number(row.suspended),
    held_servers: Number(row.held),
    volumes: Number(row.volumes),
    snapshots: Number(row.snapshots),
    sessions: Number(row.sessions),
    tokens: Number(row.tokens),
    tags,
    abuse_reports: reports,
  };
}

export function toServerObject(row: OperatorServerRow) {
  const operation = row.operation && {
    kind: row.operation,
    step: row.step,
    started_at: time(row.begun_at),
    attempts: row.attempts,
    last_fault: row.last_fault,
  };
  return {
    object: 'server' as const,
    id: formatId('server', row.id),
    customer: row.email,
    name: row.name,
    status: row.status,
    suspended_reason: row.suspended_reason,
    plan: row.plan_id,
    region: row.region_id,
    host: row.host,
    ipv4: row.ipv4,
    ipv6: row.ipv6_prefix,
    price_usd: centsToUsd(row.price_cents_cycle),
    billing_months: row.billing_months,
    auto_renew: row.auto_renew,
    paid_until: formatRfc3339(row.paid_until),
    created_at: formatRfc3339(row.created_at),
    frozen_at: time(row.frozen_at),
    freeze_reason: row.freeze_reason,
    hold_order: row.hold_order,
    throttled: row.throttled,
    mail_allowed: row.mail_allowed,
    blackholed_until: time(row.blackhole_until),
    operation,
  };
}

export function toAuditObject(row: OperatorAuditRow) {
  return {
    object: 'audit_event' as const,
    id: formatId('audit', row.id),
    customer: row.email,
    action: row.action,
    resource: row.resource,
    result: row.result,
    actor_token: row.actor_token && formatId('token', row.actor_token),
    actor_session: row.actor_session && formatId('session', row.actor_session),
    country: row.ip_country,
    request_id: row.request_id,
    note: row.note,
    created_at: formatRfc3339(row.created_at),
  };
}
