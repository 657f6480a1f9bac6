/** Servers in the words of the operator's commands. */
import { formatTebibytes } from '../domain/servers/throttle.ts';
import { formatId } from '../kernel/ids.ts';
import { formatCents } from '../kernel/money.ts';
import { formatSessionTime } from '../kernel/time.ts';
import type { OperatorServerRow } from '../store/operator-servers.ts';
import { formatCount } from './table.ts';

export function formatStatus({ status, suspended_reason }: OperatorServerRow): string {
  return suspended_reason === null ? status : `${status} (${suspended_reason})`;
}

/** `frozen; running, reboot under way`, `under a legal hold; running`, `neither frozen nor held; suspended (balance)`. */
export function formatControls(row: OperatorServerRow): string {
  const controls = [row.frozen_at !== null && 'frozen', row.hold_order !== null && 'under a legal hold'];
  const active = controls.filter((control) => control !== false);
  const operation = row.operation === null ? '' : `, ${row.operation} under way`;
  return `${active.length > 0 ? active.join(' and ') : 'neither frozen nor held'}; ${formatStatus(row)}${operation}`;
}

export function serverColumns(row: OperatorServerRow): string[] {
  const notes = [
    row.frozen_at !== null && 'frozen',
    row.hold_order !== null && 'held',
    row.throttled && 'slow',
    row.operation !== null && `${row.operation} under way`,
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
  const renewal = row.auto_renew ? 'renews by itself' : 'is not to be renewed';
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
    ['made', `${formatSessionTime(row.created_at)} UTC`],
    ['paid until', `${formatSessionTime(row.paid_until)} UTC; ${renewal}`],
    ['price', `${formatCents(row.price_cents_cycle)} USD for ${months}`],
    ['sent', describeTransfer(row)],
    ['frozen', row.frozen_at && `since ${formatSessionTime(row.frozen_at)} UTC: ${row.freeze_reason}`],
    ['legal hold', row.hold_order],
    ['mail', row.mail_allowed ? 'may reach others’ mail servers' : null],
    ['under way', describeOperation(row)],
    ['last fault', row.last_fault],
  ];
}

/** Of the month that was counted last. */
function describeTransfer({
  sent_bytes,
  sent_since,
  transfer_tb,
  throttled,
}: OperatorServerRow): string | null {
  if (sent_bytes === null || sent_since === null) return null;
  const since = `since ${formatSessionTime(sent_since).slice(0, 10)}`;
  return `${formatTebibytes(sent_bytes)} of ${Number(transfer_tb)} TiB ${since}${throttled ? '; slow until the month ends' : ''}`;
}

/** What a worker is at, and how often it has tried. */
function describeOperation({ operation, step, begun_at, attempts }: OperatorServerRow): string | null {
  if (operation === null || begun_at === null) return null;
  const failures = attempts ? `, ${formatCount(attempts, 'try', 'tries')} failed` : '';
  return `${operation} since ${formatSessionTime(begun_at)} UTC, at ${step}${failures}`;
}
