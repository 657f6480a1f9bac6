/** The stages `idempotency` and `verb`, for all surfaces. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CustomerActor } from '../../domain/context.ts';
import { type IdempotentRequest, type IdempotentResult, runIdempotent } from '../../domain/idempotency.ts';
import type { Edge } from '../settings.ts';

/** The identity of a repeated request, in addition to its method and path. */
interface Submission<Caller extends CustomerActor>
  extends Pick<IdempotentRequest<Caller>, 'actor' | 'key' | 'credential' | 'refusal' | 'recordRefusal'> {
  readonly query?: object;
  readonly body: unknown;
  /** The HTTP status of a success. Defaults to 200. */
  readonly status?: number;
}

/** Runs the verb of an admitted request, once per idempotency key (domain/idempotency.ts). */
export async function runOnce<Caller extends CustomerActor, Result extends object>(
  { edge, request }: { readonly edge: Edge; readonly request: FastifyRequest },
  { query = {}, body, status = 200, ...submission }: Submission<Caller>,
  verb: (actor: Caller) => Promise<Result>,
  respond?: (result: Result) => object,
): Promise<IdempotentResult> {
  const content = { method: request.method, path: pathOf(request), query, body };
  return await runIdempotent(edge.service, { ...submission, status, request: content }, verb, respond);
}

/** Marks a replay, which carries the id of the first request. */
export function markReplay(reply: FastifyReply, { replayed, requestId }: IdempotentResult): void {
  if (replayed) reply.headers({ 'idempotent-replayed': 'true', 'x-request-id': requestId });
}

export function idempotencyKeyHeader({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}

/** The path of the request's URL. */
export function pathOf({ url }: FastifyRequest): string {
  return url.split('?')[0] ?? '';
}
