/**
 * One delivery attempt: its content, signed request, and result (SPEC "Event envelope", "Delivery and
 * signature").
 */

import { createHmac } from 'node:crypto';
import { formatId, idTimestamp, newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { formatRfc3339, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import type { WebhookRequest, WebhookResponse, WebhookSender } from '../../ports/webhooks.ts';
import { LIMITS } from '../../spec/limits.ts';
import { SEALED } from '../../spec/sealed.ts';
import { type EventContent, readEventContents } from '../../store/events/events.ts';
import type { AttemptResult } from '../../store/webhooks/deliveries.ts';
import type { DueDelivery, LeasedQueue } from '../../store/webhooks/queues.ts';
import type { Service } from '../context.ts';

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

/** The secrets that sign a delivery. */
export interface SigningSecrets {
  readonly secret: string;
  /** Null: the secret is not being rotated. */
  readonly nextSecret: string | null;
}

/** Returns the secrets; null, with a log entry, if the key that sealed one is no longer configured. */
export function openWebhookSecrets(
  { keys, log }: Pick<Service, 'keys' | 'log'>,
  queue: LeasedQueue,
): SigningSecrets | null {
  const { webhook_id: id, next_secret_sealed: next } = queue;
  try {
    return {
      secret: keys.open(SEALED.webhookSecret, id, queue.secret_sealed).toString(),
      nextSecret: next === null ? null : keys.open(SEALED.nextWebhookSecret, id, next).toString(),
    };
  } catch (error) {
    const webhook = formatId('webhook', id);
    log.error({ err: error, webhook }, 'opening the webhook secret failed');
    return null;
  }
}

interface DeliveryTarget extends SigningSecrets {
  readonly url: string;
}

/** Returns a function that sends a delivery of this webhook; null: its event is no longer retained. */
export function createDeliverySender(
  sender: WebhookSender,
  to: DeliveryTarget,
  contents: EventContents,
): (due: DueDelivery) => Promise<WebhookResponse | null> {
  return async (due) => {
    const content = contents.get(due.event_id);
    return content ? await sender.send(webhookRequest(to, due, content, new Date())) : null;
  };
}

/**
 * `at` is real time, because the endpoint compares it with its own clock. A secret is the complete
 * `whsec_…`.
 */
export function webhookRequest(
  to: DeliveryTarget,
  delivery: Pick<DueDelivery, 'delivery_id' | 'event_id' | 'event_type'>,
  content: EventContent,
  at: Date,
): WebhookRequest {
  const body = envelope(delivery, content);
  const sign = (secret: string) => signPayload(secret, Math.floor(at.getTime() / SECOND_MS), body);
  return {
    url: to.url,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'skerry-webhooks',
      'X-Service-Delivery-Id': formatId('delivery', delivery.delivery_id),
      'X-Service-Signature': sign(to.secret),
      ...(to.nextSecret !== null && { 'X-Service-Signature-Next': sign(to.nextSecret) }),
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

const GONE = 410;

/**
 * Returns the number of the current attempt. The due row is either the attempt itself or the failed one
 * before it.
 */
export function attemptNumber(due: Pick<DueDelivery, 'attempt' | 'pending'>): number {
  return due.pending ? due.attempt : due.attempt + 1;
}

export function isGone(response: WebhookResponse | null): boolean {
  return response !== null && 'status' in response && response.status === GONE;
}

/** `response` is null if the event is no longer retained and cannot be sent. Times are business time. */
export function toAttemptResult(
  due: DueDelivery,
  response: WebhookResponse | null,
  timing: { readonly attemptedAt: Date; readonly endedAt: Date; readonly durationMs: number },
): AttemptResult {
  const status = response !== null && 'status' in response ? response.status : null;
  const delivered = status !== null && status >= 200 && status <= 299;
  const retryDelay = response === null || delivered ? undefined : retryDelayMs(due);
  return {
    id: due.id,
    retryId: due.pending ? null : newId(timing.attemptedAt),
    status: delivered ? 'delivered' : 'failed',
    httpStatus: status,
    error: response === null ? 'event no longer kept' : 'fault' in response ? response.fault : null,
    durationMs: timing.durationMs,
    attemptedAt: timing.attemptedAt,
    nextAttemptAt: retryDelay === undefined ? null : new Date(timing.endedAt.getTime() + retryDelay),
  };
}

/** Returns undefined to give up. A ping is not retried. */
function retryDelayMs(due: DueDelivery): number | undefined {
  const attempt = attemptNumber(due);
  if (due.event_type === 'ping' || attempt >= LIMITS.webhookAttemptsMax) return undefined;
  const minutes = LIMITS.webhookBackoffMinutes[attempt - 1];
  return minutes === undefined ? undefined : minutes * MINUTE_MS;
}
