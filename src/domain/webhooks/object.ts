/** Returns webhooks and deliveries in the REST shape. */
import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Delivery } from '../../spec/schemas/delivery.ts';
import type { Webhook } from '../../spec/schemas/webhook.ts';
import type { DeliveryRow } from '../../store/webhooks/deliveries.ts';
import type { WebhookRow } from '../../store/webhooks/webhooks.ts';

export function webhookObject(row: WebhookRow): Webhook {
  return {
    id: formatId('webhook', row.id),
    object: 'webhook',
    url: row.url,
    events: [...row.events],
    active: row.active,
    secret_hint: row.secret_hint,
    created_at: formatRfc3339(row.created_at),
  };
}

export function deliveryObject(row: DeliveryRow): Delivery {
  return {
    id: formatId('delivery', row.delivery_id),
    object: 'webhook_delivery',
    event: formatId('event', row.event_id),
    event_type: row.event_type,
    attempt: row.attempt,
    status: row.status,
    http_status: row.http_status,
    error: row.error,
    duration_ms: row.duration_ms,
    attempted_at: row.attempted_at && formatRfc3339(row.attempted_at),
    next_attempt_at: row.next_attempt_at && formatRfc3339(row.next_attempt_at),
    created_at: formatRfc3339(row.created_at),
  };
}
