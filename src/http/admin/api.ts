/** The endpoints under /admin/v1, with the tokens of staff. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { StaffActor } from '../../domain/staff/context.ts';
import { identifyStaffToken } from '../../domain/staff/sign-in.ts';
import { fail } from '../../kernel/fail.ts';
import { logFault, setRetryAfter, toFailure } from '../errors.ts';
import { v1ErrorResponse } from '../v1/error-response.ts';
import { registerJsonParser } from '../v1/json-body.ts';
import type { RawQuery } from '../v1/query.ts';
import { isApproval } from './approved.ts';
import { adminOpenApiText } from './openapi.ts';
import type { AdminEdge, AdminRoute } from './route.ts';
import { ADMIN_ROUTES } from './routes.ts';
import { runAdmin } from './run.ts';

const KEY_MAX_CHARS = 255;

export function registerAdminApi(scope: FastifyInstance, edge: AdminEdge): void {
  registerJsonParser(scope);
  scope.setErrorHandler((error, request, reply) => answerAdminError(edge, error, request, reply));
  const document = adminOpenApiText();
  scope.get('/openapi.json', async (_request, reply) => reply.type('application/json').send(document));
  for (const route of ADMIN_ROUTES) registerAdminRoute(scope, edge, route);
  scope.setNotFoundHandler(async (request, reply) => {
    await requireActor(edge, request, reply);
    fail('not_found', {}, 'Endpoint not found. Check the method and the path in /admin/v1/openapi.json.');
  });
}

/** Answers like /v1: a code and a message in JSON. */
export function answerAdminError(
  edge: AdminEdge,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const failure = toFailure(edge, error);
  logFault(edge, error, failure, request.id);
  const { status, body } = v1ErrorResponse(failure, request.id);
  setRetryAfter(reply, failure);
  reply.code(status).send(body);
}

function registerAdminRoute(scope: FastifyInstance, edge: AdminEdge, route: AdminRoute): void {
  scope.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    ...(route.bodyMaxBytes !== undefined && { bodyLimit: route.bodyMaxBytes }),
    handler: async (request, reply) => {
      const actor = await requireActor(edge, request, reply);
      const answer = await runAdmin(edge, route, actor, {
        params: request.params as Record<string, string>,
        query: request.query as RawQuery,
        body: request.body,
        submission: route.method === 'GET' ? null : submissionKey(request),
      });
      if (answer instanceof Readable) reply.type('application/json');
      // 202: it waits for a second person.
      const isHeld = !route.id.startsWith('approvals.') && isApproval(answer);
      return reply.code(isHeld ? 202 : (route.status ?? 200)).send(answer);
    },
  });
}

/** Returns the person behind the token, or fails with `auth_required`. */
export async function requireActor(
  edge: AdminEdge,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<StaffActor> {
  const token = /^bearer +([\x21-\x7e]{1,200})$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const identity = token === '' ? null : await identifyStaffToken(edge.service, token);
  if (identity) return { ...identity, surface: 'api', requestId: request.id };
  reply.header('www-authenticate', 'Bearer');
  fail('auth_required', {}, 'Send a staff API token in the Authorization header: Bearer <token>.');
}

/** A repeated Idempotency-Key is refused, so that nothing is credited twice. */
function submissionKey({ headers }: FastifyRequest): string | null {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string' || key === '') return null;
  if (key.length > KEY_MAX_CHARS || !/^[\x21-\x7e]+$/.test(key)) {
    fail('bad_request', { field: 'Idempotency-Key' }, 'An Idempotency-Key has 1 to 255 ASCII characters.');
  }
  return `api:${key}`;
}
