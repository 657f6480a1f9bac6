/** Builds the request to an endpoint (SPEC "Event envelope", "Delivery and signature"). */
import { createHmac } from 'node:crypto';
import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339, SECOND_MS } from '../../kernel/time.ts';
import type { WebhookRequest } from '../../ports/webhooks.ts';
import type { EventContent } from '../../store/events/events.ts';
import type { DueDelivery } from '../../store/webhooks/queues.ts';

/**
 * `at` is real time, because the endpoint compares it with its own clock. `secret` is the complete
 * `whsec_…`.
 */
export function webhookRequest(
  to: { readonly url: string; readonly secret: string },
  delivery: Pick<DueDelivery, 'delivery_id' | 'event_id' | 'event_type'>,
  content: EventContent,
  at: Date,
): WebhookRequest {
  const body = envelope(delivery, content);
  return {
    url: to.url,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'skerry-webhooks',
      'X-Service-Delivery-Id': formatId('delivery', delivery.delivery_id),
      'X-Service-Signature': signPayload(to.secret, Math.floor(at.getTime() / SECOND_MS), body),
    },
    body,
  };
}

/** Sends the data as stored, so that every attempt and replay is identical byte for byte. */
function envelope(
  { event_id, event_type }: Pick<DueDelivery, 'event_id' | 'event_type'>,
  { happenedMs, data }: EventContent,
): string {
  const created_at = formatRfc3339(new Date(happenedMs));
  const head = { id: formatId('event', event_id), object: 'event', type: event_type, created_at };
  return `${JSON.stringify(head).slice(0, -1)},"data":${data}}`;
}

export function signPayload(secret: string, unixSeconds: number, body: string): string {
  const v1 = createHmac('sha256', secret).update(`${unixSeconds}.${body}`).digest('hex');
  return `t=${unixSeconds},v1=${v1}`;
}
