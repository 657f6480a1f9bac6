/** Maps a thrown error to the response of the session surface. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../kernel/fail.ts';
import { OutcomeUnknown } from '../kernel/faults/deadline.ts';
import { logFault as logRepeatedFault } from '../kernel/faults/fault-log.ts';
import { OUTCOME_UNKNOWN_MESSAGE } from '../spec/error-messages.ts';
import { FAILURES, type FailureCode } from '../spec/errors.ts';
import type { Edge } from './settings.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Failures that this endpoint answers with HTTP 200, regardless of the table in `spec/errors.ts`. */
    readonly errorsWithStatus200?: readonly FailureCode[];
  }
}

const RETRY_AFTER_S = 5;

/** The parts of a surface's dependencies that errors need. */
interface FaultEdge {
  readonly service: Pick<Edge['service'], 'log'>;
  readonly settings: Pick<Edge['settings'], 'isUnavailable'>;
}

/** `{ok:false, error, msg, …}` */
export function errorBody(failure: Failure): object {
  return { ok: false, error: failure.code, msg: failure.message, ...failure.extras };
}

export function prepareErrorResponse(
  edge: Edge,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): object {
  const failure = toFailure(edge, error);
  logFault(edge, error, failure, request.id);
  const isStatus200 = request.routeOptions.config.errorsWithStatus200?.includes(failure.code) ?? false;
  reply.code(isStatus200 ? 200 : FAILURES[failure.code].session);
  setRetryAfter(reply, failure);
  return errorBody(failure);
}

/** Logs what is our fault: a bug, and a database outage with its cause. Maintenance is expected. */
export function logFault(edge: FaultEdge, error: unknown, failure: Failure, requestId: string): void {
  const { log } = edge.service;
  const line = { err: error, requestId };
  // A bug is rare, and each of its requests has its own cause.
  if (failure.code === 'internal') log.error(line, 'request failed');
  if (failure.code === 'maintenance' && failure !== error)
    logRepeatedFault(log, 'warn', 'database unavailable', line);
}

export function setRetryAfter(reply: FastifyReply, { code, extras }: Failure): void {
  const { retry_after_s: retryAfterS } = extras;
  if (code === 'rate_limited' && typeof retryAfterS === 'number') reply.header('retry-after', retryAfterS);
}

/**
 * Converts a thrown value to a failure: ours, a database outage, an invalid request, or an internal error.
 */
export function toFailure(edge: Pick<FaultEdge, 'settings'>, error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof OutcomeUnknown) {
    return new Failure('maintenance', { retry_after_s: RETRY_AFTER_S }, OUTCOME_UNKNOWN_MESSAGE);
  }
  if (edge.settings.isUnavailable(error)) return new Failure('maintenance', { retry_after_s: RETRY_AFTER_S });
  if (isRequestError(error)) return new Failure('bad_request', {}, error.message);
  return new Failure('internal');
}

/** Whether the framework rejected the request: its body, length, media type, or shape. */
function isRequestError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { statusCode, code } = error as { statusCode?: unknown; code?: unknown };
  const isClientError = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return isClientError && typeof code === 'string' && code.startsWith('FST_');
}
