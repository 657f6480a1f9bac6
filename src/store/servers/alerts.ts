/** Alerts of customers, with the servers that they list and those for which they fire. */
import type { Sql } from '../../kernel/sql.ts';
import type { AlertComparison, AlertMetric } from '../../spec/alerts.ts';
import type { PageRequest } from '../../spec/lists.ts';
import { BY_CREATION_OR_NAME, countUpTo, type Page, readPage } from '../page.ts';
import { assignmentsFor, parametersFor } from '../parameters.ts';

export interface AlertRow {
  readonly id: string;
  readonly name: string;
  readonly metric: AlertMetric;
  readonly compare: AlertComparison;
  /** Meaningless for `unreachable`. */
  readonly value: number;
  readonly window_min: number;
  /** Null: `servers` lists them. */
  readonly label_selector: Readonly<Record<string, string>> | null;
  readonly enabled: boolean;
  readonly created_at: Date;
}

export interface ShownAlertRow extends AlertRow {
  /** Null: the labels select them. */
  readonly servers: readonly string[] | null;
  readonly firing: readonly { readonly server: string; readonly since: string }[];
}

const COLUMNS = 'id, name, metric, compare, value, window_min, label_selector, enabled, created_at';
const SHOWN_COLUMNS = `${COLUMNS},
  case when label_selector is null then
    array(select t.server_id from alert_servers t where t.alert_id = a.id order by 1) end as servers,
  (select coalesce(jsonb_agg(jsonb_build_object('server', f.server_id, 'since', f.since)
                             order by f.since, f.server_id), '[]')
     from alert_firings f where f.alert_id = a.id) as firing`;

type StoredAlert = Omit<AlertRow, 'label_selector'> & {
  readonly customer_id: string;
  readonly label_selector: AlertRow['label_selector'];
};

export async function insertAlert(tx: Sql, row: StoredAlert): Promise<void> {
  await tx.run(
    `insert into alerts (${COLUMNS}, customer_id) values (${parametersFor(COLUMNS)}, $customer_id)`,
    row,
  );
}

export async function updateAlert(tx: Sql, row: AlertRow): Promise<void> {
  const columns = 'name, metric, compare, value, window_min, label_selector, enabled';
  await tx.run(`update alerts set ${assignmentsFor(columns)} where id = $id`, row);
}

/** Replaces the list of servers. */
export async function setAlertServers(tx: Sql, alertId: string, serverIds: readonly string[]): Promise<void> {
  await tx.run(
    `with gone as (delete from alert_servers where alert_id = $1 and server_id <> all($2::uuid[]))
     insert into alert_servers (alert_id, server_id) select $1, unnest($2::uuid[]) on conflict do nothing`,
    [alertId, serverIds],
  );
}

/** Counts up to `limit`. */
export async function countAlerts(tx: Sql, customerId: string, limit: number): Promise<number> {
  return await countUpTo(tx, 'alerts where customer_id = $customerId', { customerId, limit });
}

export async function pageAlerts(
  sql: Sql,
  customerId: string,
  page: PageRequest,
): Promise<Page<ShownAlertRow>> {
  return await readPage<ShownAlertRow>(
    sql,
    {
      columns: SHOWN_COLUMNS,
      from: 'alerts a',
      where: 'customer_id = $customerId',
      values: { customerId },
      sorts: BY_CREATION_OR_NAME,
      filters: {
        metric: { where: 'metric = $metric' },
        enabled: { where: 'enabled = $enabled::bool' },
        name: { where: 'name = $name' },
      },
    },
    page,
  );
}

/** Finds the customer's own alert. Another customer's alert looks like a missing one. */
export async function findAlert(
  sql: Sql,
  customerId: string,
  id: string,
): Promise<ShownAlertRow | undefined> {
  return await sql.row<ShownAlertRow>(
    `select ${SHOWN_COLUMNS} from alerts a where id = $1 and customer_id = $2`,
    [id, customerId],
  );
}

/** Does the same, and locks it: its evaluation waits for the change. */
export async function lockAlert(tx: Sql, customerId: string, id: string): Promise<AlertRow | undefined> {
  return await tx.row<AlertRow>(
    `select ${COLUMNS} from alerts where id = $1 and customer_id = $2 for update`,
    [id, customerId],
  );
}

/** Returns the customer's alerts that fire for the server, by name. The quota bounds their number. */
export async function listAlertsFiringFor(
  sql: Sql,
  customerId: string,
  serverId: string,
): Promise<ShownAlertRow[]> {
  return await sql.rows<ShownAlertRow>(
    `select ${SHOWN_COLUMNS} from alerts a
      where customer_id = $1
        and exists (select from alert_firings f where f.alert_id = a.id and f.server_id = $2)
      order by name, id`,
    [customerId, serverId],
  );
}

/** Deletes the alert. The caller holds its lock. */
export async function deleteAlert(tx: Sql, id: string): Promise<void> {
  await tx.run('delete from alerts where id = $1', [id]);
}

/** Locks those servers of the customer so that they are not deleted meanwhile. Returns their ids. */
export async function lockListedServers(
  tx: Sql,
  customerId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from servers where id = any($1::uuid[]) and customer_id = $2 order by id for key share`,
    [ids, customerId],
  );
  return rows.map(({ id }) => id);
}
