/** The audit log: a filtered list, and the page of one event. */
import { ACTIONS } from '../../spec/actions.ts';
import { LIMITS } from '../../spec/limits.ts';
import { ACCOUNT_PATHS, resourcePath } from '../../spec/paths.ts';
import type { AuditEvent } from '../../spec/schemas/audit-event.ts';
import { detailList, emptyState, pager, statusBadge, table, time } from '../parts/components.ts';
import { Fields, type FormContext } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { accountTabs } from './components.ts';

/** Resources that only the operator acts on; a customer's log never contains them. */
const OPERATOR_RESOURCES = [
  'maintenance',
  'policy',
  'switch',
  'catalogue',
  'price',
  'host',
  'machine',
  'ips',
];
const CUSTOMER_ACTIONS = ACTIONS.filter((action) => !OPERATOR_RESOURCES.includes(action.split('.')[0] ?? ''));

const RESULTS = {
  ok: statusBadge('succeeded', 'good'),
  error: statusBadge('failed', 'bad'),
  denied: statusBadge('denied', 'bad'),
} as const;

/** The latest changes of a resource whose changes take effect at once, so it has no actions. */
export function latestChanges(resource: string, noun: string, events: readonly AuditEvent[]): Html {
  if (events.length === 0) return html`<p>No activity in the last ${LIMITS.auditRetentionDays} days.</p>`;
  const rows = events.map((event) => [
    html`<a href="${resourcePath(ACCOUNT_PATHS.audit, event.id)}">${time(event.created_at)}</a>`,
    CHANGE_WORDS[event.action] ?? html`<code>${event.action}</code>`,
    RESULTS[event.result],
    formatActor(event),
  ]);
  const columns = ['Time', 'Change', 'Result', 'Actor'];
  const query = new URLSearchParams({ resource }).toString();
  return html`${table({ caption: 'Latest activity, newest first', columns, rows })}
<p><a href="${ACCOUNT_PATHS.audit}?${query}">All activity of this ${noun}</a></p>`;
}

/** As requests: the result is next to them. */
const CHANGE_WORDS: Readonly<Record<string, string>> = {
  'firewall_group.create': 'Create group',
  'firewall_group.update': 'Change servers, name, or policy',
  'firewall_group.replace_rules': 'Save rules',
  'firewall_group.delete': 'Delete group',
  'firewall_rule.create': 'Add rule',
  'firewall_rule.delete': 'Delete rule',
};

type Filter = Readonly<Record<string, string>>;

export function auditLogView(data: {
  readonly events: readonly AuditEvent[];
  readonly filter: Filter;
  readonly next: string | null;
  readonly first: string | null;
  readonly forms: FormContext;
}): View {
  const { events, filter } = data;
  const rows = events.map((event) => [
    html`<a href="${resourcePath(ACCOUNT_PATHS.audit, event.id)}">${time(event.created_at)}</a>`,
    html`<code>${event.action}</code>`,
    RESULTS[event.result],
    event.resource === null ? '–' : html`<code>${event.resource}</code>`,
    formatActor(event),
    formatCountry(event),
  ]);
  const columns = ['Time', 'Action', 'Result', 'Resource', 'Actor', 'Country'];
  const isFiltered = Object.keys(filter).length > 0;
  return {
    title: 'Audit log',
    section: 'account',
    breadcrumbs: [['Account', ACCOUNT_PATHS.overview]],
    body: html`${accountTabs(ACCOUNT_PATHS.audit)}
<p>Sign-ins and changes to this account in the last ${LIMITS.auditRetentionDays} days, including attempts that
failed. “System” is our service, or a visitor who was not signed in. We store the country of each request,
not its IP address. Days start at 00:00 UTC.</p>
${auditFilterForm(data.forms, filter)}
${
  rows.length > 0
    ? html`<div class="ids">${table({ caption: 'Audit log, newest first', columns, rows })}</div>`
    : emptyState(
        isFiltered ? 'No matching activity.' : 'No activity yet.',
        isFiltered
          ? html`<a href="${ACCOUNT_PATHS.audit}">Clear filters</a>`
          : 'Changes to your account will be listed here.',
      )
}
${pager(data)}`,
  };
}

function auditFilterForm(forms: FormContext, filter: Filter): Html {
  const fields = new Fields(forms, 'filter');
  const dayOf = (name: string) => (filter[name] ?? '').slice(0, 10);
  const choices = [['', 'Any'] as const, ...CUSTOMER_ACTIONS.map((action) => [action, action] as const)];
  return html`<form method="get" class="filters row" role="search" aria-label="Filter the audit log">
${fields.select('action', 'Action', { value: filter.action ?? '', choices })}
${fields.text('resource', 'Resource', { value: filter.resource ?? '', placeholder: 'srv_…', size: 20 })}
${fields.text('from', 'From', { type: 'date', value: dayOf('from') })}
${fields.text('to', 'Before', { type: 'date', value: dayOf('to') })}
<button class="plain">Apply</button>
</form>`;
}

function formatActor({ actor_session: session, actor_token: token }: AuditEvent): string {
  if (token !== null) return 'API\u00a0token';
  return session === null ? 'System' : 'Session';
}

function formatCountry({ ip_country: country }: AuditEvent): string {
  return country === 'XX' ? 'Unknown' : country;
}

export function auditEventView(event: AuditEvent): View {
  const { actor_session: session, actor_token: token } = event;
  const code = (text: string | null) => text && html`<code>${text}</code>`;
  const query = (resource: string) => new URLSearchParams({ resource }).toString();
  return {
    title: event.action,
    section: 'account',
    breadcrumbs: [
      ['Account', ACCOUNT_PATHS.overview],
      ['Audit log', ACCOUNT_PATHS.audit],
    ],
    body: html`${detailList([
      ['Time', time(event.created_at)],
      ['Result', RESULTS[event.result]],
      ['Resource', code(event.resource)],
      ['Session', code(session)],
      ['API token', code(token)],
      ['Actor', session === null && token === null && 'System, or a visitor who was not signed in'],
      ['Country', formatCountry(event)],
      ['Request ID', code(event.request_id)],
      ['ID', code(event.id)],
    ])}
${
  event.resource !== null &&
  html`<p><a
href="${ACCOUNT_PATHS.audit}?${query(event.resource)}">All activity for ${event.resource}</a></p>`
}`,
  };
}
