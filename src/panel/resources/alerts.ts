/** Alerts: the list with a form to create one, and the page of one alert. */
import { ALERT_METRICS, ALERT_WINDOWS } from '../../spec/alerts.ts';
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { Alert } from '../../spec/schemas/alert.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { collapsibleForm } from '../parts/compact-forms.ts';
import {
  day,
  detailList,
  emptyState,
  pager,
  section,
  sectionLink,
  statusBadge,
  table,
  time,
} from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { formatNumber } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { alertFields } from './alert-fields.ts';
import { serverLink } from './server-choice.ts';

type Servers = readonly Pick<Server, 'id' | 'name'>[];

export function alertsView(data: {
  readonly alerts: readonly Alert[];
  readonly next: string | null;
  readonly first: string | null;
  readonly servers: Servers;
  readonly forms: FormContext;
}): View {
  const rows = data.alerts.map((alert) => [
    alertLink(alert),
    describeCondition(alert),
    describeSelection(alert, data.servers),
    firingBadge(alert),
  ]);
  const list =
    rows.length > 0
      ? table({ caption: 'Alerts', columns: ['Name', 'Condition', 'Servers', 'Status'], rows })
      : emptyState(
          'No alerts yet.',
          'An alert emails you when the load of a server is high, or a server is down. Create one below.',
          sectionLink('Create alert'),
        );
  return {
    title: 'Alerts',
    section: 'alerts',
    header: { actions: sectionLink('Create alert') },
    body: html`${list}
${pager(data)}
${section(
  'Create alert',
  form(
    data.forms,
    { name: 'create' },
    html`${alertFields(data.forms, 'create', null, data.servers)}
<button>Create alert</button>`,
  ),
)}`,
  };
}

export function alertView(data: {
  readonly alert: Alert;
  readonly servers: Servers;
  readonly forms: FormContext;
}): View {
  const { alert, servers, forms } = data;
  return {
    title: alert.name,
    section: 'alerts',
    breadcrumbs: [['Alerts', PANEL_PATHS.alerts]],
    header: { status: firingBadge(alert), facts: [describeCondition(alert)] },
    body: html`${detailList([
      ['Condition', describeCondition(alert)],
      ['Servers', describeSelection(alert, servers)],
      ['Created', day(alert.created_at)],
      ['ID', html`<code>${alert.id}</code>`],
    ])}
${alert.firing.length > 0 && section('Firing', firingTable(alert, servers))}
${section('Edit', changeForm(alert, servers, forms))}
${section('Delete', deleteForm(forms))}`,
  };
}

/** The alerts that fire for a server, for its page. */
export function firingList(alerts: readonly Alert[], serverId: string): Html {
  const rows = alerts.map((alert) => {
    const since = alert.firing.find(({ server }) => server === serverId)?.since ?? null;
    return [alertLink(alert), describeCondition(alert), time(since)];
  });
  return table({ caption: 'Firing alerts', columns: ['Alert', 'Condition', 'Since'], rows });
}

function alertLink({ id, name }: Alert): Html {
  return html`<a href="${resourcePath(PANEL_PATHS.alerts, id)}">${name}</a>`;
}

function describeCondition({ metric, compare, value, window }: Alert): string {
  const { title, unit } = ALERT_METRICS[metric];
  const minutes = `for ${ALERT_WINDOWS[window]} minutes`;
  if (value === null) return `${title} ${minutes}`;
  const amount = unit === 'percent' ? `${value}%` : `${formatNumber(value)} bytes/s`;
  const bound = `${title} ${compare === 'lt' ? 'below' : 'above'} ${amount}`;
  return metric === 'transfer_pct' ? bound : `${bound} ${minutes}`;
}

function describeSelection({ servers: listed, label_selector: labels }: Alert, servers: Servers): Html {
  if (labels !== null) {
    return labels === '' ? html`All servers` : html`Servers with ${labels.replaceAll(',', ', ')}`;
  }
  if (listed === null || listed.length === 0) return html`No servers`;
  return html`${listed.map((id, index) => html`${index > 0 && ', '}${serverLink(id, servers)}`)}`;
}

function firingBadge({ enabled, firing }: Alert): Html {
  if (!enabled) return statusBadge('disabled');
  if (firing.length === 0) return statusBadge('OK', 'good');
  return html`${statusBadge('firing', 'bad')}${firing.length > 1 && html` for ${firing.length} servers`}`;
}

function firingTable({ firing }: Alert, servers: Servers): Html {
  const rows = firing.map(({ server, since }) => [serverLink(server, servers), time(since)]);
  return table({ caption: 'Servers for which the alert fires', columns: ['Server', 'Since'], rows });
}

function changeForm(alert: Alert, servers: Servers, forms: FormContext): Html {
  return collapsibleForm(forms, 'change', {
    summary: 'Edit condition, servers, or status',
    content: html`${alertFields(forms, 'change', alert, servers)}
<button>Save changes</button>`,
  });
}

function deleteForm(forms: FormContext): Html {
  return collapsibleForm(forms, 'delete', {
    summary: 'Delete this alert',
    description: 'This permanently deletes the alert. Its servers are not changed.',
    content: html`<button class="danger">Delete alert</button>`,
  });
}
