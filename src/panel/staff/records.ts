/** The audit log of all customers, and the staff log. */
import { buttonLink, table, time } from '../parts/components.ts';
import { html } from '../parts/html.ts';
import { customerLink } from './customers.ts';
import { CONSOLE_PATHS, type ConsoleView } from './layout.ts';
import { filterField, filterForm, nothingFound, shortId } from './parts.ts';

export interface StaffLogItem {
  readonly id: string;
  readonly email: string | null;
  readonly surface: string;
  readonly operation: string;
  readonly target: string | null;
  readonly reason: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly result: string;
  readonly fault: string | null;
  readonly created_at: string;
}

/** `role: finance, name: Ann`. */
function describeDetails(details: StaffLogItem['details']): string {
  const members = Object.entries(details ?? {}).map(([name, value]) => `${name}: ${String(value)}`);
  return members.join(', ') || '–';
}

export function staffLogView(data: {
  readonly filter: { readonly target: string; readonly operation: string };
  readonly entries: readonly StaffLogItem[];
  /** The path of the next page; null on the last one. */
  readonly next: string | null;
}): ConsoleView {
  const rows = data.entries.map((row) => [
    time(row.created_at),
    row.email ?? (row.surface === 'command' ? 'command line' : 'deleted'),
    html`<code>${row.operation}</code>`,
    shortId(row.target),
    describeDetails(row.details),
    html`${row.result}${row.fault && html` (${row.fault})`}`,
    row.reason,
  ]);
  return {
    title: 'Staff log',
    section: 'log',
    body: html`${filterForm(
      CONSOLE_PATHS.log,
      html`${filterField('target', 'Target', data.filter.target)}${filterField(
        'operation',
        'Operation',
        data.filter.operation,
      )}`,
    )}
${
  rows.length === 0
    ? nothingFound('entries')
    : table({
        caption: 'Acts of staff, newest first',
        columns: ['Time', 'Who', 'Operation', 'Target', 'Details', 'Result', 'Reason'],
        rows,
      })
}
${data.next && html`<p>${buttonLink('Older entries', data.next, 'plain')}</p>`}`,
  };
}

export interface AuditItem {
  readonly id: string;
  readonly customer: string | null;
  readonly action: string;
  readonly resource: string | null;
  readonly result: string;
  readonly actor_token: string | null;
  readonly actor_session: string | null;
  readonly country: string;
  readonly note: string | null;
  readonly created_at: string;
}

export function auditView(data: {
  readonly filter: { readonly customer: string; readonly action: string; readonly resource: string };
  readonly events: readonly AuditItem[];
  /** The path of the next page; null on the last one. */
  readonly next: string | null;
}): ConsoleView {
  const { filter } = data;
  const rows = data.events.map((row) => [
    time(row.created_at),
    html`<code>${row.action}</code>`,
    shortId(row.resource),
    row.result,
    row.customer && customerLink(row.customer),
    shortId(row.actor_token ?? row.actor_session ?? 'the service'),
    row.country,
    row.note,
  ]);
  return {
    title: 'Audit log',
    section: 'audit',
    body: html`${filterForm(
      CONSOLE_PATHS.audit,
      html`${filterField('customer', 'Customer', filter.customer)}${filterField(
        'action',
        'Action',
        filter.action,
      )}${filterField('resource', 'Resource', filter.resource)}`,
    )}
${
  rows.length === 0
    ? nothingFound('entries')
    : table({
        caption: 'Actions of customers and of the service, newest first',
        columns: ['Time', 'Action', 'Resource', 'Result', 'Customer', 'Actor', 'Country', 'Note'],
        rows,
      })
}
${data.next && html`<p>${buttonLink('Older entries', data.next, 'plain')}</p>`}`,
  };
}
