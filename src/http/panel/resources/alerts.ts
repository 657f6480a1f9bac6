/** Alert pages. */
import { findAlert, listAlerts } from '../../../domain/servers/alerts/read.ts';
import { alertsView, alertView } from '../../../panel/resources/alerts.ts';
import { ALERT_METRIC_NAMES, hasValue } from '../../../spec/alerts.ts';
import { PANEL_PATHS, resourcePath } from '../../../spec/paths.ts';
import type { Alert } from '../../../spec/schemas/alert.ts';
import { type Form, field } from '../../form.ts';
import { listOwnServers } from '../choices.ts';
import { bodyReader, checkedIds, isChecked, number, text, untrimmedText } from '../field-readers.ts';
import { readList } from '../list.ts';
import { type PageContext, type PanelPage, page, restForm } from '../page-types.ts';

const alertPath = (id: string): string => resourcePath(PANEL_PATHS.alerts, id);

/** Leaves out what the chosen metric and selection do not use: a form without scripts sends all fields. */
function readAlert(form: Form): object {
  const metric = ALERT_METRIC_NAMES.find((name) => name === field(form, 'metric'));
  const isCompared = metric === undefined || hasValue(metric);
  const isListed = field(form, 'select') === 'servers';
  return bodyReader({
    name: untrimmedText,
    metric: text,
    window: text,
    ...(isCompared ? { compare: text, value: number } : {}),
    // Empty text selects all servers.
    ...(isListed ? { servers: checkedIds } : { label_selector: field }),
  })(form);
}

export const ALERT_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.alerts,
    access: 'customer',
    readOperations: ['alerts.list', 'servers.list'],
    render: showAlerts,
    forms: {
      create: restForm<Alert>({
        operation: 'alerts.create',
        body: readAlert,
        done: ({ id }) => ({ to: alertPath(id), notice: 'alert_created' }),
      }),
    },
  },
  page({
    path: `${PANEL_PATHS.alerts}/{id}`,
    access: 'customer',
    readOperations: ['alerts.get', 'servers.list'],
    render: showAlert,
    forms: {
      change: restForm<Alert>({
        operation: 'alerts.update',
        body: (form) => ({ ...readAlert(form), enabled: isChecked(form, 'enabled') }),
        done: ({ id }) => ({ to: alertPath(id), notice: 'saved' }),
      }),
      delete: restForm({
        operation: 'alerts.delete',
        done: () => ({ to: PANEL_PATHS.alerts, notice: 'alert_deleted' }),
      }),
    },
  }),
];

async function showAlerts(context: PageContext) {
  const [list, servers] = await Promise.all([
    readList(context, 'alerts.list', (page) => listAlerts(context.service, context.customer(), page)),
    listOwnServers(context),
  ]);
  const { items: alerts, next, first } = list;
  return alertsView({ alerts, next, first, servers, forms: context.forms });
}

async function showAlert(context: PageContext<{ readonly id: string }>) {
  const [alert, servers] = await Promise.all([
    findAlert(context.service, context.customer(), context.params.id),
    listOwnServers(context),
  ]);
  return alertView({ alert, servers, forms: context.forms });
}
