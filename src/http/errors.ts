/** The one mapper from what was thrown to what the session surface answers. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../kernel/fail.ts';
import { FAILURES, type FailureCode } from '../spec/errors.ts';
import type { Edge } from './settings.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Refusals that this endpoint answers with HTTP 200, whatever the table says. */
    readonly errorsWithStatus200?: readonly FailureCode[];
  }
}

const RETRY_AFTER_S = 5;

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
  const line = { err: error, requestId: request.id };
  if (failure.code === 'internal') edge.service.log.error(line, 'fault');
  // What we refuse ourselves is no news; that the database is away, and why, is.
  if (failure.code === 'maintenance' && failure !== error)
    edge.service.log.warn(line, 'database unavailable');
  const isStatus200 = request.routeOptions.config.errorsWithStatus200?.includes(failure.code) ?? false;
  reply.code(isStatus200 ? 200 : FAILURES[failure.code].session);
  const retryAfterS = failure.extras.retry_after_s;
  if (failure.code === 'rate_limited' && typeof retryAfterS === 'number') {
    reply.header('retry-after', retryAfterS);
  }
  return errorBody(failure);
}

/** What was thrown, as a refusal: our own, the database's absence, a fault of the request, or a fault of ours. */
export function toFailure(edge: Edge, error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (edge.settings.isUnavailable(error)) return new Failure('maintenance', { retry_after_s: RETRY_AFTER_S });
  if (isRequestError(error)) return new Failure('bad_request', {}, error.message);
  return new Failure('internal');
}

/** What the framework found wrong with a request: its body, its length, its media type, its shape. */
function isRequestError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { statusCode, code } = error as { statusCode?: unknown; code?: unknown };
  const isClientError = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return isClientError && typeof code === 'string' && code.startsWith('FST_');
}
