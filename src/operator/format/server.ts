/** Formats servers for the operator's commands. */
import { formatTebibytes } from '../../domain/servers/traffic.ts';
import { formatId } from '../../kernel/ids.ts';
import { formatCents } from '../../kernel/money.ts';
import { formatSessionTime } from '../../kernel/time.ts';
import type { OperatorServerRow } from '../../store/servers/operator.ts';
import { formatCount } from './table.ts';

export function formatStatus({ status, suspended_reason }: OperatorServerRow): string {
  return suspended_reason === null ? status : `${status} (${suspended_reason})`;
}

/** Such as `frozen; running, reboot in progress` or `not frozen, no legal hold; suspended (balance)`. */
export function formatControls(row: OperatorServerRow): string {
  const controls = [row.frozen_at !== null && 'frozen', row.hold_order !== null && 'under a legal hold'];
  const active = controls.filter((control) => control !== false);
  const operation = row.operation === null ? '' : `, ${row.operation} in progress`;
  const state = active.length > 0 ? active.join(' and ') : 'not frozen, no legal hold';
  return `${state}; ${formatStatus(row)}${operation}`;
}

export function serverColumns(row: OperatorServerRow): string[] {
  const notes = [
    row.frozen_at !== null && 'frozen',
    row.hold_order !== null && 'legal hold',
    row.throttled && 'throttled',
    row.blackhole_until !== null && 'blackholed',
    row.operation !== null && `${row.operation} in progress`,
  ].filter((note) => note !== false);
  return [
    formatId('server', row.id),
    row.email,
    row.name,
    formatStatus(row),
    row.plan_id,
    row.region_id,
    row.host ?? '',
    row.ipv4 ?? '',
    formatSessionTime(row.paid_until).slice(0, 10),
    notes.join(', '),
  ];
}

export function serverFacts(row: OperatorServerRow): [string, string | null][] {
  const months = formatCount(row.billing_months, 'month');
  const renewal = row.auto_renew ? 'renews automatically' : 'does not renew';
  return [
    ['server', formatId('server', row.id)],
    ['name', row.name],
    ['customer', row.email],
    ['status', formatStatus(row)],
    ['plan', row.plan_id],
    ['region', row.region_id],
    ['host', row.host],
    ['IPv4', row.ipv4],
    ['IPv6', row.ipv6_prefix],
    ['created', `${formatSessionTime(row.created_at)} UTC`],
    ['paid until', `${formatSessionTime(row.paid_until)} UTC; ${renewal}`],
    ['price', `${formatCents(row.price_cents_cycle)} USD for ${months}`],
    ['traffic', describeTransfer(row)],
    ['frozen', row.frozen_at && `since ${formatSessionTime(row.frozen_at)} UTC: ${row.freeze_reason}`],
    ['legal hold', row.hold_order],
    ['mail', row.mail_allowed ? 'outbound SMTP allowed' : null],
    ['blackholed', row.blackhole_until && `until ${formatSessionTime(row.blackhole_until)} UTC`],
    ['operation', describeOperation(row)],
    ['last error', row.last_fault],
  ];
}

/** Formats the outbound traffic of the last counted month. */
function describeTransfer({
  sent_bytes,
  sent_since,
  transfer_tb,
  throttled,
}: OperatorServerRow): string | null {
  if (sent_bytes === null || sent_since === null) return null;
  const since = `since ${formatSessionTime(sent_since).slice(0, 10)}`;
  const sent = `${formatTebibytes(sent_bytes)} of ${Number(transfer_tb)} TiB sent ${since}`;
  return throttled ? `${sent}; throttled until the month ends` : sent;
}

/** Formats the running operation, its step, and its failed attempts. */
function describeOperation({ operation, step, begun_at, attempts }: OperatorServerRow): string | null {
  if (operation === null || begun_at === null) return null;
  const failures = attempts ? `, ${formatCount(attempts, 'attempt')} failed` : '';
  return `${operation} since ${formatSessionTime(begun_at)} UTC, at step ${step}${failures}`;
}
