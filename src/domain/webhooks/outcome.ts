/** Computes the result of a delivery attempt (SPEC "Delivery and signature" 3 to 5). */
import { newId } from '../../kernel/ids.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { WebhookResponse } from '../../ports/webhooks.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { AttemptResult } from '../../store/webhooks/deliveries.ts';
import type { DueDelivery } from '../../store/webhooks/queues.ts';

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
