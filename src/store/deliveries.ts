/** Deliveries: one row for each attempt; those with `due_at` are what is still to be sent. */
import type { Sql } from '../kernel/sql.ts';
import type { PageRequest } from '../spec/lists.ts';
import type { DELIVERED_TYPES } from '../spec/schemas/delivery.ts';
import type { DeliveryStatus } from '../spec/states.ts';
import { type Page, readPage } from './page.ts';

export interface DeliveryRow {
  /** Of this attempt. */
  readonly id: string;
  /** Over all attempts, as the receiver sees it. */
  readonly delivery_id: string;
  readonly webhook_id: string;
  readonly customer_id: string;
  readonly event_id: string;
  readonly event_type: (typeof DELIVERED_TYPES)[number];
  /** A ping's `data`; null where the event is a row of events. */
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

/** Queues a delivery's first attempt, due at once; its id is the delivery's, too. */
export async function queueDelivery(tx: Sql, row: QueuedDelivery): Promise<DeliveryRow> {
  const [queued] = await tx.rows<DeliveryRow>(
    `insert into deliveries (id, delivery_id, webhook_id, customer_id, event_id, event_type, event_data, attempt,
                             status, next_attempt_at, due_at, created_at)
     values ($1, $1, $2, $3, $4, $5, $6, 1, 'pending', $7, $7, $7) returning ${COLUMNS}`,
    [
      row.id,
      row.webhook_id,
      row.customer_id,
      row.event_id,
      row.event_type,
      row.event_data === null ? null : JSON.stringify(row.event_data),
      row.created_at,
    ],
  );
  if (!queued) throw new Error('a queued delivery came back without its row');
  return queued;
}

/** Takes back what is not sent yet: a pending attempt is cancelled, a failed one has no next. */
export async function cancelDeliveries(tx: Sql, customerId: string, webhookId: string): Promise<void> {
  await tx.run(
    `update deliveries
        set status = case status when 'pending' then 'cancelled' else status end, due_at = null, next_attempt_at = null
      where webhook_id = $1 and customer_id = $2 and due_at is not null`,
    [webhookId, customerId],
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
      where: 'webhook_id = ? and customer_id = ?',
      values: [log.webhookId, log.customerId],
      since: log.since,
      id: { column: 'id', type: 'uuid' },
      sorts: { created_at: { column: 'created_at', type: 'timestamptz' } },
      filters: {
        status: { where: 'status = ?', indexed: true },
        event_type: { where: 'event_type = ?', indexed: true },
      },
    },
    page,
  );
}

/** The first attempt of a delivery that the log still shows. */
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
