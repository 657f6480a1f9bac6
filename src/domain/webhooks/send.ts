/** One subscription's requests: what is in them, and by which secret they are signed. */
import { showId, timeOfId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { WebhookAnswer, WebhookSender } from '../../ports/webhooks.ts';
import { type EventContent, readEventContents } from '../../store/events.ts';
import type { DueDelivery, HeldQueue } from '../../store/webhook-queues.ts';
import type { Service } from '../context.ts';
import { WEBHOOK_SECRET } from './create.ts';
import { webhookRequest } from './request.ts';

export type EventContents = ReadonlyMap<string, EventContent>;

/** By id; an event that is no longer kept is not among them. A ping brings its own. */
export async function eventContents(sql: Sql, deliveries: readonly DueDelivery[]): Promise<EventContents> {
  const ids = deliveries.filter(({ event_data }) => event_data === null).map(({ event_id }) => event_id);
  const contents = await readEventContents(sql, [...new Set(ids)]);
  for (const { event_id, event_data } of deliveries) {
    if (event_data === null) continue;
    contents.set(event_id, { happenedMs: timeOfId(event_id).getTime(), data: event_data });
  }
  return contents;
}

/** Sends one delivery after another of this subscription; null: its event is no longer kept. */
export function sendingTo(
  service: Pick<Service, 'keys' | 'log'>,
  sender: WebhookSender,
  held: HeldQueue,
  contents: EventContents,
): (due: DueDelivery) => Promise<WebhookAnswer | null> {
  const { url } = held;
  let secret: string | null = null;
  try {
    secret = service.keys.open(WEBHOOK_SECRET, held.secret_sealed).toString();
  } catch (error) {
    // Each attempt fails until the operator gives the key back.
    const webhook = showId('webhook', held.webhook_id);
    service.log.error({ err: error, webhook }, 'the secret of a webhook cannot be opened');
  }
  return async (due) => {
    const content = contents.get(due.event_id);
    if (!content) return null;
    if (secret === null) return { fault: 'failed' };
    return await sender.send(webhookRequest({ url, secret }, due, content, new Date()));
  };
}
