/** Deliveries: one row for each attempt. Rows with `due_at` are still to be sent. */
import type { Sql } from '../../kernel/sql.ts';
import type { PageRequest } from '../../spec/lists.ts';
import type { DELIVERED_EVENT_TYPES } from '../../spec/schemas/webhook.ts';
import type { DeliveryStatus } from '../../spec/states.ts';
import { BY_CREATION, type Page, readPage } from '../page.ts';
import { incrementQueueRevision, makeQueueDue } from './queues.ts';

export interface DeliveryRow {
  /** The id of this attempt. */
  readonly id: string;
  /** Shared by all attempts, as the receiver sees it. */
  readonly delivery_id: string;
  readonly webhook_id: string;
  readonly customer_id: string;
  readonly event_id: string;
  readonly event_type: (typeof DELIVERED_EVENT_TYPES)[number];
  /** A ping's `data`; null if the event is a row of events. */
  readonly event_data: object | null;
  readonly attempt: number;
  readonly status: DeliveryStatus;
  readonly http_status: number | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
  readonly attempted_at: Date | null;
  readonly next_attempt_at: Date | null;
  readonly created_at: Date;
}

const COLUMNS = `id, delivery_id, webhook_id, customer_id, event_id, event_type, event_data, attempt, status,
  http_status, error, duration_ms, attempted_at, next_attempt_at, created_at`;

export type QueuedDelivery = Pick<
  DeliveryRow,
  'id' | 'webhook_id' | 'customer_id' | 'event_id' | 'event_type' | 'event_data' | 'created_at'
>;

/** Queues a delivery requested by the customer: a first attempt, due now, whose id is also the delivery's. */
export async function queueDelivery(tx: Sql, row: QueuedDelivery): Promise<DeliveryRow> {
  const [queued] = await tx.rows<DeliveryRow>(
    `insert into deliveries (id, delivery_id, webhook_id, customer_id, event_id, event_type, event_data,
                             attempt, status, next_attempt_at, due_at, created_at, on_request)
     values ($id, $id, $webhook_id, $customer_id, $event_id, $event_type, $event_data, 1, 'pending',
             $created_at, $created_at, $created_at, true)
     returning ${COLUMNS}`,
    row,
  );
  if (!queued) throw new Error('the insert of a delivery did not return its row');
  await makeQueueDue(tx, row.webhook_id, row.created_at);
  return queued;
}

/**
 * Cancels unsent deliveries: a pending attempt is canceled, a failed one is not retried. A request in flight
 * is canceled too; its outcome is not recorded.
 */
export async function cancelDeliveries(tx: Sql, customerId: string, webhookId: string): Promise<void> {
  await incrementQueueRevision(tx, webhookId);
  await tx.run(
    `update deliveries
        set status = case status when 'pending' then 'cancelled' else status end,
            due_at = null, next_attempt_at = null
      where webhook_id = $1 and customer_id = $2 and due_at is not null`,
    [webhookId, customerId],
  );
}

/** The maximum per statement. Any rest stays due and is postponed by the next run. */
const POSTPONE_MAX = 5_000;

/** Postpones the webhook's due deliveries to `until`. The caller holds its queue's lock and lease. */
export async function postponeDeliveries(
  tx: Sql,
  webhookId: string,
  { now, until }: { readonly now: Date; readonly until: Date },
): Promise<void> {
  await tx.run(
    `update deliveries set due_at = $3, next_attempt_at = $3
      where id = any(array(select id from deliveries
                            where webhook_id = $1 and due_at <= $2 order by due_at limit ${POSTPONE_MAX}))`,
    [webhookId, now, until],
  );
}

export interface DeliveryLog {
  readonly customerId: string;
  readonly webhookId: string;
  /** How far back the log goes. */
  readonly since: Date;
}

export async function pageDeliveries(
  sql: Sql,
  log: DeliveryLog,
  page: PageRequest,
): Promise<Page<DeliveryRow>> {
  return await readPage<DeliveryRow>(
    sql,
    {
      columns: COLUMNS,
      from: 'deliveries',
      where: 'webhook_id = $webhookId and customer_id = $customerId',
      values: log,
      since: log.since,
      sorts: BY_CREATION,
      filters: {
        status: { where: 'status = $status', indexed: true },
        event_type: { where: 'event_type = $event_type', indexed: true },
      },
    },
    page,
  );
}

/** Returns the first attempt of a delivery that is within the log's retention. */
export async function findDelivery(
  sql: Sql,
  log: DeliveryLog,
  deliveryId: string,
): Promise<DeliveryRow | undefined> {
  return await sql.row<DeliveryRow>(
    `select ${COLUMNS} from deliveries
      where delivery_id = $1 and webhook_id = $2 and customer_id = $3 and created_at >= $4
      order by attempt limit 1`,
    [deliveryId, log.webhookId, log.customerId, log.since],
  );
}

/** The outcome of an attempt. Times are business time. */
export interface AttemptResult {
  /** The due row. */
  readonly id: string;
  /** The id for a new attempt's row; null when the due row itself is this attempt. */
  readonly retryId: string | null;
  readonly status: 'delivered' | 'failed';
  readonly httpStatus: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly attemptedAt: Date;
  readonly nextAttemptAt: Date | null;
}

/**
 * Records finished attempts. An attempt canceled meanwhile stays canceled. The caller holds the locks and
 * leases of the webhooks' queues.
 */
export async function recordAttempts(tx: Sql, results: readonly AttemptResult[]): Promise<void> {
  await tx.run(
    `with result as materialized (
       select * from unnest($results.id::uuid[], $results.retryId::uuid[], $results.status::text[],
                            $results.httpStatus::int[], $results.error::text[], $results.durationMs::int[],
                            $results.attemptedAt::timestamptz[], $results.nextAttemptAt::timestamptz[])
         as r (id, retry_id, status, http_status, error, duration_ms, attempted_at, next_attempt_at)),
     first_attempts as (
       update deliveries d
          set status = r.status, http_status = r.http_status, error = r.error, duration_ms = r.duration_ms,
              attempted_at = r.attempted_at, next_attempt_at = r.next_attempt_at, due_at = r.next_attempt_at
         from result r
        where d.id = r.id and r.retry_id is null and d.status = 'pending'),
     retries as (
       update deliveries d set due_at = null, next_attempt_at = null
         from result r
        where d.id = r.id and r.retry_id is not null and d.due_at is not null
       returning d.delivery_id, d.webhook_id, d.customer_id, d.event_id, d.event_type, d.event_data,
                 d.attempt, d.on_request, r.retry_id, r.status as outcome, r.http_status as response_status,
                 r.error as fault, r.duration_ms as took_ms, r.attempted_at as tried_at,
                 r.next_attempt_at as retry_at)
     insert into deliveries (id, delivery_id, webhook_id, customer_id, event_id, event_type, event_data,
                             attempt, status, http_status, error, duration_ms, attempted_at, next_attempt_at,
                             due_at, created_at, on_request)
     select retry_id, delivery_id, webhook_id, customer_id, event_id, event_type, event_data, attempt + 1,
            outcome, response_status, fault, took_ms, tried_at, retry_at, retry_at, tried_at, on_request
       from retries`,
    { results },
  );
}
