/** Servers in the words of the operator's commands. */
import { tebibytes } from '../domain/servers/throttle.ts';
import { showId } from '../kernel/ids.ts';
import { centsText } from '../kernel/money.ts';
import { sessionTime } from '../kernel/time.ts';
import type { DeskServerRow } from '../store/desk-servers.ts';
import { counted } from './table.ts';

export function statusText({ status, suspended_reason }: DeskServerRow): string {
  return suspended_reason === null ? status : `${status} (${suspended_reason})`;
}

/** `frozen; running, reboot under way`, `under a legal hold; running`, `neither frozen nor held; suspended (balance)`. */
export function leversText(row: DeskServerRow): string {
  const levers = [row.frozen_at !== null && 'frozen', row.hold_order !== null && 'under a legal hold'];
  const on = levers.filter((lever) => lever !== false);
  const underWay = row.operation === null ? '' : `, ${row.operation} under way`;
  return `${on.length > 0 ? on.join(' and ') : 'neither frozen nor held'}; ${statusText(row)}${underWay}`;
}

export function serverColumns(row: DeskServerRow): string[] {
  const notes = [
    row.frozen_at !== null && 'frozen',
    row.hold_order !== null && 'held',
    row.throttled && 'slow',
    row.operation !== null && `${row.operation} under way`,
  ].filter((note) => note !== false);
  return [
    showId('server', row.id),
    row.email,
    row.name,
    statusText(row),
    row.plan_id,
    row.region_id,
    row.host ?? '',
    row.ipv4 ?? '',
    sessionTime(row.paid_until).slice(0, 10),
    notes.join(', '),
  ];
}

export function serverFacts(row: DeskServerRow): [string, string | null][] {
  const months = counted(row.billing_months, 'month');
  const renewal = row.auto_renew ? 'renews by itself' : 'is not to be renewed';
  return [
    ['server', showId('server', row.id)],
    ['name', row.name],
    ['customer', row.email],
    ['status', statusText(row)],
    ['plan', row.plan_id],
    ['region', row.region_id],
    ['host', row.host],
    ['IPv4', row.ipv4],
    ['IPv6', row.ipv6_prefix],
    ['made', `${sessionTime(row.created_at)} UTC`],
    ['paid until', `${sessionTime(row.paid_until)} UTC; ${renewal}`],
    ['price', `${centsText(row.price_cents_cycle)} USD for ${months}`],
    ['sent', sent(row)],
    ['frozen', row.frozen_at && `since ${sessionTime(row.frozen_at)} UTC: ${row.freeze_reason}`],
    ['legal hold', row.hold_order],
    ['mail', row.mail_allowed ? 'may reach others’ mail servers' : null],
    ['under way', underWay(row)],
    ['last fault', row.last_fault],
  ];
}

/** Of the month that was counted last. */
function sent({ sent_bytes, sent_since, transfer_tb, throttled }: DeskServerRow): string | null {
  if (sent_bytes === null || sent_since === null) return null;
  const since = `since ${sessionTime(sent_since).slice(0, 10)}`;
  return `${tebibytes(sent_bytes)} of ${Number(transfer_tb)} TiB ${since}${throttled ? '; slow until the month ends' : ''}`;
}

/** What a worker is at, and how often it has tried. */
function underWay({ operation, step, begun_at, attempts }: DeskServerRow): string | null {
  if (operation === null || begun_at === null) return null;
  const tried = attempts ? `, ${counted(attempts, 'try', 'tries')} failed` : '';
  return `${operation} since ${sessionTime(begun_at)} UTC, at ${step}${tried}`;
}
