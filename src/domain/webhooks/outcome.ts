/** What follows from an attempt (SPEC "Delivery and signature" 3 to 5). */
import { newId } from '../../kernel/ids.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { WebhookResponse } from '../../ports/webhooks.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { AttemptResult } from '../../store/deliveries.ts';
import type { DueDelivery } from '../../store/webhook-queues.ts';

const GONE = 410;

/** Which attempt it is time for: the row that waits is that of the attempt itself, or that of a failed one before it. */
export function attemptNumber(due: Pick<DueDelivery, 'attempt' | 'pending'>): number {
  return due.pending ? due.attempt : due.attempt + 1;
}

export function isGone(answer: WebhookResponse | null): boolean {
  return answer !== null && 'status' in answer && answer.status === GONE;
}

/** `answer` null: the event is no longer kept, so there is nothing to send. Times are business time. */
export function toAttemptResult(
  due: DueDelivery,
  answer: WebhookResponse | null,
  timing: { readonly attemptedAt: Date; readonly endedAt: Date; readonly durationMs: number },
): AttemptResult {
  const status = answer !== null && 'status' in answer ? answer.status : null;
  const delivered = status !== null && status >= 200 && status <= 299;
  const retryDelay = answer === null || delivered ? undefined : retryDelayMs(due);
  return {
    id: due.id,
    retryId: due.pending ? null : newId(timing.attemptedAt),
    status: delivered ? 'delivered' : 'failed',
    httpStatus: status,
    error: answer === null ? 'event no longer kept' : 'fault' in answer ? answer.fault : null,
    durationMs: timing.durationMs,
    attemptedAt: timing.attemptedAt,
    nextAttemptAt: retryDelay === undefined ? null : new Date(timing.endedAt.getTime() + retryDelay),
  };
}

/** Undefined: it is given up. A ping is not tried again. */
function retryDelayMs(due: DueDelivery): number | undefined {
  const attempt = attemptNumber(due);
  if (due.event_type === 'ping' || attempt >= LIMITS.webhookAttemptsMax) return undefined;
  const minutes = LIMITS.webhookBackoffMinutes[attempt - 1];
  return minutes === undefined ? undefined : minutes * MINUTE_MS;
}
