/** What follows from an attempt (SPEC "Delivery and signature" 3 to 5). */
import { newId } from '../../kernel/ids.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { WebhookAnswer } from '../../ports/webhooks.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { AttemptResult } from '../../store/deliveries.ts';
import type { DueDelivery } from '../../store/webhook-queues.ts';

const GONE = 410;

/** Which attempt it is time for: the row that waits is that of the attempt itself, or that of a failed one before it. */
export function attemptOf(due: Pick<DueDelivery, 'attempt' | 'pending'>): number {
  return due.pending ? due.attempt : due.attempt + 1;
}

export function isGone(answer: WebhookAnswer | null): boolean {
  return answer !== null && 'status' in answer && answer.status === GONE;
}

/** `answer` null: the event is no longer kept, so there is nothing to send. Times are business time. */
export function outcome(
  due: DueDelivery,
  answer: WebhookAnswer | null,
  took: { readonly attemptedAt: Date; readonly endedAt: Date; readonly durationMs: number },
): AttemptResult {
  const status = answer !== null && 'status' in answer ? answer.status : null;
  const delivered = status !== null && status >= 200 && status <= 299;
  const wait = answer === null || delivered ? undefined : waitAfter(due);
  return {
    id: due.id,
    retryId: due.pending ? null : newId(took.attemptedAt),
    status: delivered ? 'delivered' : 'failed',
    httpStatus: status,
    error: answer === null ? 'event no longer kept' : 'fault' in answer ? answer.fault : null,
    durationMs: took.durationMs,
    attemptedAt: took.attemptedAt,
    nextAttemptAt: wait === undefined ? null : new Date(took.endedAt.getTime() + wait),
  };
}

/** Undefined: it is given up. A ping is not tried again. */
function waitAfter(due: DueDelivery): number | undefined {
  const attempt = attemptOf(due);
  if (due.event_type === 'ping' || attempt >= LIMITS.webhookAttemptsMax) return undefined;
  const minutes = LIMITS.webhookWaitsMinutes[attempt - 1];
  return minutes === undefined ? undefined : minutes * MINUTE_MS;
}
