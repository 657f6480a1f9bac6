/** How the session surface reads requests and writes responses. admission/forms.ts admits its forms. */
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { CustomerActor } from '../../domain/context.ts';
import { type Identity, identify } from '../../domain/sessions/identify.ts';
import { type Call, handleForm, type PostEndpoint } from '../admission/forms.ts';
import { idempotencyKeyHeader, markReplay, runOnce } from '../admission/once.ts';
import { readSessionCookie } from '../cookie.ts';
import type { Edge } from '../settings.ts';

export interface GetEndpoint {
  readonly path: string;
  /** The schema of a 200 response. */
  readonly responseSchema: object;
  readonly run: (call: GetCall) => Promise<object>;
}

export interface GetCall {
  readonly edge: Edge;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly identity: Identity;
}

export function registerGet(scope: FastifyInstance, edge: Edge, endpoint: GetEndpoint): void {
  const schema: FastifySchema = { response: { 200: endpoint.responseSchema } };
  scope.get(endpoint.path, { schema }, async (request, reply) => {
    const identity = await identify(edge.service, readSessionCookie(request));
    return await endpoint.run({ edge, request, reply, identity });
  });
}

export function registerPost(scope: FastifyInstance, edge: Edge, endpoint: PostEndpoint): void {
  const config = { errorsWithStatus200: endpoint.errorsWithStatus200 ?? [] };
  scope.post(endpoint.path, { config }, async (request, reply) => {
    const identity = await identify(edge.service, readSessionCookie(request));
    return await handleForm(edge, endpoint, { request, reply, identity });
  });
}

/** Runs a change once per Idempotency-Key and returns its response. */
export async function respondOnce<Result extends object>(
  call: Call,
  verb: (actor: CustomerActor) => Promise<Result>,
  respond: (result: Result) => object,
): Promise<object> {
  const { request, reply, form } = call;
  const submission = {
    actor: call.customer(),
    key: idempotencyKeyHeader(request),
    credential: readSessionCookie(request) ?? '',
    query: request.query as object,
    body: Object.fromEntries([...form].filter(([name]) => name !== '_token')),
  };
  const result = await runOnce(call, submission, verb, respond);
  markReplay(reply, result);
  return result.response.body;
}
