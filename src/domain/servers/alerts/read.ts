/** Reads a customer's alerts; another customer's alert is not found. */
import { notFound } from '../../../kernel/fail.ts';
import { formatId, parseId } from '../../../kernel/ids.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import { ALERT_WINDOW_NAMES, ALERT_WINDOWS, type AlertWindow, hasValue } from '../../../spec/alerts.ts';
import { formatLabelSelector } from '../../../spec/label-filters.ts';
import type { Page, PageRequest } from '../../../spec/lists.ts';
import type { Alert } from '../../../spec/schemas/alert.ts';
import {
  findAlert as findRow,
  listAlertsFiringFor,
  pageAlerts,
  type ShownAlertRow,
} from '../../../store/servers/alerts.ts';
import type { CustomerActor, Service } from '../../context.ts';

/** Returns an alert by its public id. Unknown, malformed, and another customer's ids are `not_found`. */
export async function findAlert(service: Service, actor: CustomerActor, shownId: string): Promise<Alert> {
  const id = parseId('alert', shownId) ?? notFound('alert');
  return alertObject((await findRow(service.db, actor.customerId, id)) ?? notFound('alert'));
}

export async function listAlerts(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<Alert>> {
  const { rows, next } = await pageAlerts(service.db, actor.customerId, page);
  return { items: rows.map(alertObject), next };
}

/** Returns the alerts that fire for a server. A server that is not the customer's has none. */
export async function listFiringAlerts(
  service: Service,
  actor: CustomerActor,
  shownServerId: string,
): Promise<Alert[]> {
  const serverId = parseId('server', shownServerId);
  if (serverId === undefined) return [];
  return (await listAlertsFiringFor(service.db, actor.customerId, serverId)).map(alertObject);
}

export function alertObject(row: ShownAlertRow): Alert {
  const isCompared = hasValue(row.metric);
  return {
    id: formatId('alert', row.id),
    object: 'alert',
    name: row.name,
    metric: row.metric,
    compare: isCompared ? row.compare : null,
    value: isCompared ? row.value : null,
    window: windowOf(row.window_min),
    servers: row.servers?.map((id) => formatId('server', id)) ?? null,
    label_selector: row.label_selector && formatLabelSelector(row.label_selector),
    enabled: row.enabled,
    firing: row.firing.map(({ server, since }) => {
      return { server: formatId('server', server), since: formatRfc3339(new Date(since)) };
    }),
    created_at: formatRfc3339(row.created_at),
  };
}

export function windowOf(minutes: number): AlertWindow {
  const found = ALERT_WINDOW_NAMES.find((name) => ALERT_WINDOWS[name] === minutes);
  if (found === undefined) throw new Error(`no window of ${minutes} minutes`);
  return found;
}
