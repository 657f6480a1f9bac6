/** Creates, changes, and deletes alerts. */

import {
  type ErrorItem,
  fail,
  invalidRequest,
  notFound,
  requireLabels,
  requireQuota,
  unknownReference,
} from '../../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { ALERT_METRICS, ALERT_WINDOWS, hasValue } from '../../../spec/alerts.ts';
import type { Alert, CreateAlert, UpdateAlert } from '../../../spec/schemas/alert.ts';
import { lockCustomer } from '../../../store/customers/customers.ts';
import {
  type AlertRow,
  countAlerts,
  deleteAlert as deleteRow,
  findAlert as findRow,
  insertAlert,
  lockAlert,
  lockListedServers,
  setAlertServers,
  updateAlert as updateRow,
} from '../../../store/servers/alerts.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { readQuotas } from '../../customers/own-limits.ts';
import { recordAudit } from '../../record.ts';
import { alertObject } from './read.ts';
import { resolveAlert } from './record.ts';

type Rule = Pick<AlertRow, 'metric' | 'compare' | 'value' | 'window_min'>;

/** Fails with `limit_reached` {limit}, and with `unknown_reference` for another customer's server. */
export async function createAlert(service: Service, actor: CustomerActor, body: CreateAlert): Promise<Alert> {
  requireOneSelection(body, { isNew: true });
  const { customerId } = actor;
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const serverIds = await requireServers(tx, customerId, body.servers);
    // Under the customer's lock, concurrent requests count each other.
    (await lockCustomer(tx, customerId)) ?? fail('auth_required');
    const { alerts: limit } = await readQuotas(service, tx, customerId);
    requireQuota('alerts', limit, await countAlerts(tx, customerId, limit));
    const row: AlertRow = {
      id: newId(now),
      name: body.name,
      ...ruleFrom(body, null),
      label_selector: selectedLabels(body) ?? null,
      enabled: body.enabled ?? true,
      created_at: now,
    };
    await insertAlert(tx, { ...row, customer_id: customerId });
    if (serverIds) await setAlertServers(tx, row.id, serverIds);
    const alert = await readAlert(tx, customerId, row.id);
    await recordAudit(tx, { actor, action: 'alert.create', resource: alert.id }, now);
    await actor.saveResponse?.(tx, alert);
    return alert;
  });
}

/**
 * Changes the given fields. If the rule changes or the alert is disabled, it no longer fires: a changed rule
 * is evaluated from the start. Servers that are no longer selected are left to the next evaluation.
 */
export async function updateAlert(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  body: UpdateAlert,
): Promise<Alert> {
  requireOneSelection(body, { isNew: false });
  const { customerId } = actor;
  const id = parseId('alert', shownId) ?? notFound('alert');
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    if (!(await findRow(tx, customerId, id))) notFound('alert');
    const serverIds = await requireServers(tx, customerId, body.servers);
    const current = (await lockAlert(tx, customerId, id)) ?? notFound('alert');
    const rule = ruleFrom(body, current);
    const row: AlertRow = {
      ...current,
      ...rule,
      name: body.name ?? current.name,
      label_selector: serverIds ? null : (selectedLabels(body) ?? current.label_selector),
      enabled: body.enabled ?? current.enabled,
    };
    await updateRow(tx, row);
    if (serverIds || row.label_selector) await setAlertServers(tx, id, serverIds ?? []);
    if (!row.enabled || !isSameRule(rule, current)) await resolveAlert(tx, customerId, id, now);
    await recordAudit(tx, { actor, action: 'alert.update', resource: shownId }, now);
    return await readAlert(tx, customerId, id);
  });
}

/** Deletes an alert. What it fires for is resolved in the same commit. */
export async function deleteAlert(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  const { customerId } = actor;
  const id = parseId('alert', shownId) ?? notFound('alert');
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    if (!(await lockAlert(tx, customerId, id))) notFound('alert');
    await resolveAlert(tx, customerId, id, now);
    await deleteRow(tx, id);
    await recordAudit(tx, { actor, action: 'alert.delete', resource: formatId('alert', id) }, now);
  });
}

async function readAlert(tx: Sql, customerId: string, id: string): Promise<Alert> {
  return alertObject((await findRow(tx, customerId, id)) ?? notFound('alert'));
}

type Selection = Pick<UpdateAlert, 'servers' | 'label_selector'>;

function requireOneSelection({ servers, label_selector }: Selection, { isNew }: { isNew: boolean }): void {
  if (servers && label_selector !== undefined) {
    const items: ErrorItem[] = [{ field: 'label_selector', issue: 'invalid_value' }];
    invalidRequest(items, 'Send either `servers` or `label_selector`, not both.');
  }
  if (isNew && !servers && label_selector === undefined) {
    const items: ErrorItem[] = [{ field: 'servers', issue: 'required' }];
    invalidRequest(
      items,
      'Send `servers`, or `label_selector`. An empty `label_selector` means all servers.',
    );
  }
}

/** Undefined: not given. No labels select all servers. */
function selectedLabels({ label_selector: text }: Selection): AlertRow['label_selector'] | undefined {
  if (text === undefined) return undefined;
  return text.trim() === '' ? {} : requireLabels(text, 'label_selector');
}

/** Returns the ids of the listed servers, locked; undefined if none are listed. */
async function requireServers(
  tx: Sql,
  customerId: string,
  shown: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
  if (shown === undefined) return undefined;
  const ids = shown.map((one, index) => parseId('server', one) ?? unknownReference(`servers.${index}`));
  const found = await lockListedServers(tx, customerId, ids);
  const missing = ids.findIndex((id) => !found.includes(id));
  if (missing >= 0) unknownReference(`servers.${missing}`);
  return [...new Set(ids)];
}

/** The rule after a request. A metric that is compared needs a value; `unreachable` refuses it. */
function ruleFrom(body: UpdateAlert, current: Rule | null): Rule {
  const metric = body.metric ?? current?.metric ?? 'unreachable';
  const window_min = body.window ? ALERT_WINDOWS[body.window] : (current?.window_min ?? ALERT_WINDOWS['5m']);
  if (!hasValue(metric)) {
    const given = (['compare', 'value'] as const).filter((field) => body[field] !== undefined);
    if (given.length === 0) return { metric, compare: 'gt', value: 0, window_min };
    const items: ErrorItem[] = given.map((field) => ({ field, issue: 'invalid_value' }));
    invalidRequest(items, `The metric ${metric} is not compared: omit \`compare\` and \`value\`.`);
  }
  // A value of another metric has another unit.
  const kept = current?.metric === metric ? current : null;
  const value = body.value ?? kept?.value;
  if (value === undefined) invalidRequest([{ field: 'value', issue: 'required' }]);
  const { max } = ALERT_METRICS[metric];
  if (value > max) invalidRequest([{ field: 'value', issue: 'max', max }]);
  return { metric, compare: body.compare ?? kept?.compare ?? 'gt', value, window_min };
}

function isSameRule(one: Rule, other: Rule): boolean {
  return (['metric', 'compare', 'value', 'window_min'] as const).every((name) => one[name] === other[name]);
}
