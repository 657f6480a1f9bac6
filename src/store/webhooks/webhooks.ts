/** Webhook subscriptions and their queued deliveries. */
import type { Sql } from '../../kernel/sql.ts';
import type { PageRequest } from '../../spec/lists.ts';
import type { SUBSCRIBABLE_EVENTS } from '../../spec/schemas/webhook.ts';
import type { Scope } from '../../spec/scopes.ts';
import type { PausedReason } from '../../spec/states.ts';
import type { Reach } from '../../spec/token-limits.ts';
import { BY_CREATION, countUpTo, type Page, readPage } from '../page.ts';
import { assignmentsFor, parametersFor } from '../parameters.ts';

export interface WebhookRow {
  readonly id: string;
  readonly url: string;
  readonly events: readonly (typeof SUBSCRIBABLE_EVENTS)[number][];
  readonly active: boolean;
  /** Why the service paused it; meaningless while it is active, null if its customer paused it. */
  readonly paused_reason: PausedReason | null;
  /** The scope of its creator: money events need `billing`. */
  readonly scope: Scope;
  readonly secret_hint: string;
  /** Null: its secret is not being rotated. */
  readonly next_secret_hint: string | null;
  readonly created_at: Date;
}

const COLUMNS = 'id, url, events, active, paused_reason, scope, secret_hint, next_secret_hint, created_at';

export async function insertWebhook(
  tx: Sql,
  row: WebhookRow & {
    readonly customer_id: string;
    readonly secret_sealed: string;
    /** The chain of the limited token that creates it, and the resources whose events it receives. */
    readonly limited_by: readonly string[] | null;
    readonly reach: Reach | null;
  },
): Promise<void> {
  await tx.run(
    `insert into webhooks (${COLUMNS}, active_since, customer_id, secret_sealed, limited_by, reach)
     values (${parametersFor(COLUMNS)}, $created_at, $customer_id, $secret_sealed, $limited_by::uuid[],
             $reach::jsonb)`,
    { ...row, reach: row.reach && JSON.stringify(row.reach) },
  );
  await tx.run('insert into webhook_queues (webhook_id) values ($1)', [row.id]);
}

/** Counts up to `limit`. */
export async function countWebhooks(tx: Sql, customerId: string, limit: number): Promise<number> {
  return await countUpTo(tx, 'webhooks where customer_id = $customerId', { customerId, limit });
}

/** With `maker`, only those of this limited token and of the tokens that it made. */
export async function pageWebhooks(
  sql: Sql,
  customerId: string,
  page: PageRequest,
  maker?: string,
): Promise<Page<WebhookRow>> {
  return await readPage<WebhookRow>(
    sql,
    {
      columns: COLUMNS,
      from: 'webhooks',
      where: maker ? 'customer_id = $customerId and $maker = any(limited_by)' : 'customer_id = $customerId',
      values: { customerId, ...(maker ? { maker } : {}) },
      sorts: BY_CREATION,
      filters: { active: { where: 'active = $active::bool' } },
    },
    page,
  );
}

/** Finds the customer's own webhook. Another customer's webhook looks like a missing one. */
export async function findWebhook(sql: Sql, customerId: string, id: string): Promise<WebhookRow | undefined> {
  return await sql.row<WebhookRow>(`select ${COLUMNS} from webhooks where id = $1 and customer_id = $2`, [
    id,
    customerId,
  ]);
}

/** Does the same, and locks it: queueing and canceling its deliveries wait for the change. */
export async function lockWebhook(tx: Sql, customerId: string, id: string): Promise<WebhookRow | undefined> {
  return await tx.row<WebhookRow>(
    `select ${COLUMNS} from webhooks where id = $1 and customer_id = $2 for no key update`,
    [id, customerId],
  );
}

/** Counts its pings and replays that wait for their first attempt, up to `limit`. */
export async function countRequestedDeliveries(
  tx: Sql,
  customerId: string,
  webhookId: string,
  limit: number,
): Promise<number> {
  return await countUpTo(
    tx,
    `deliveries where webhook_id = $webhookId and customer_id = $customerId
       and on_request and status = 'pending'`,
    { customerId, webhookId, limit },
  );
}

/** Reactivated, it hears only of events from `now` on. */
export async function updateWebhook(tx: Sql, customerId: string, row: WebhookRow, now: Date): Promise<void> {
  await tx.run(
    `update webhooks
        set ${assignmentsFor('url, events, active, paused_reason, scope')},
            active_since = case when $active and not active then $now else active_since end
      where id = $id and customer_id = $customerId`,
    { ...row, customerId, now },
  );
}

/** Reads the sealed secrets of a webhook that the caller has locked. */
export async function readSealedSecrets(
  tx: Sql,
  id: string,
): Promise<{ readonly secret_sealed: string; readonly next_secret_sealed: string | null } | undefined> {
  return await tx.row('select secret_sealed, next_secret_sealed from webhooks where id = $1', [id]);
}

/** Replaces both secrets of a webhook that the caller has locked. */
export async function updateSecrets(
  tx: Sql,
  row: Pick<WebhookRow, 'id' | 'secret_hint' | 'next_secret_hint'> & {
    readonly secret_sealed: string;
    readonly next_secret_sealed: string | null;
  },
): Promise<void> {
  const changed = assignmentsFor('secret_sealed, secret_hint, next_secret_sealed, next_secret_hint');
  await tx.run(`update webhooks set ${changed} where id = $id`, row);
}

/** Locks the customer's active webhooks, in the order of their ids. The quota bounds their number. */
export async function lockActiveWebhooks(tx: Sql, customerId: string): Promise<WebhookRow[]> {
  return await tx.rows<WebhookRow>(
    `select ${COLUMNS} from webhooks where customer_id = $1 and active order by id for no key update`,
    [customerId],
  );
}

/** Returns false when the customer has no webhook with this id. */
export async function deleteWebhook(tx: Sql, customerId: string, id: string): Promise<boolean> {
  return (await tx.run('delete from webhooks where id = $1 and customer_id = $2', [id, customerId])) === 1;
}

/** Lists all webhooks of a customer, newest first. */
export async function listOperatorWebhooks(sql: Sql, customerId: string): Promise<WebhookRow[]> {
  return await sql.rows<WebhookRow>(
    `select ${COLUMNS} from webhooks where customer_id = $1 order by created_at desc, id desc`,
    [customerId],
  );
}

/** Returns the id of the customer that owns the webhook. */
export async function findWebhookOwner(sql: Sql, id: string): Promise<string | undefined> {
  const row = await sql.row<{ customer_id: string }>('select customer_id from webhooks where id = $1', [id]);
  return row?.customer_id;
}
