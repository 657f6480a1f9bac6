/** Sends the requests of one webhook: their content and signature. */
import { formatId, idTimestamp } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { WebhookResponse, WebhookSender } from '../../ports/webhooks.ts';
import { type EventContent, readEventContents } from '../../store/events/events.ts';
import type { DueDelivery, LeasedQueue } from '../../store/webhooks/queues.ts';
import type { Service } from '../context.ts';
import { WEBHOOK_SEAL_PURPOSE } from './create.ts';
import { webhookRequest } from './request.ts';

export type EventContents = ReadonlyMap<string, EventContent>;

/** Returns event contents by id, without events that are no longer retained. A ping contains its own. */
export async function loadEventContents(
  sql: Sql,
  deliveries: readonly DueDelivery[],
): Promise<EventContents> {
  const ids = deliveries.filter(({ event_data }) => event_data === null).map(({ event_id }) => event_id);
  const contents = await readEventContents(sql, [...new Set(ids)]);
  for (const { event_id, event_data } of deliveries) {
    if (event_data === null) continue;
    contents.set(event_id, { happenedMs: idTimestamp(event_id).getTime(), data: event_data });
  }
  return contents;
}

/** Returns the signing secret; null, with a log entry, if the key that sealed it is no longer configured. */
export function openWebhookSecret(service: Pick<Service, 'keys' | 'log'>, queue: LeasedQueue): string | null {
  try {
    return service.keys.open(WEBHOOK_SEAL_PURPOSE, queue.secret_sealed).toString();
  } catch (error) {
    const webhook = formatId('webhook', queue.webhook_id);
    service.log.error({ err: error, webhook }, 'opening the webhook secret failed');
    return null;
  }
}

/** Returns a function that sends a delivery of this webhook; null: its event is no longer retained. */
export function createDeliverySender(
  sender: WebhookSender,
  to: { readonly url: string; readonly secret: string },
  contents: EventContents,
): (due: DueDelivery) => Promise<WebhookResponse | null> {
  return async (due) => {
    const content = contents.get(due.event_id);
    return content ? await sender.send(webhookRequest(to, due, content, new Date())) : null;
  };
}
