/** The REST surface: its scope, its document, CORS, and what is answered where nothing is. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../../kernel/fail.ts';
import { failureOf } from '../errors.ts';
import { admit, type V1Edge } from './admit.ts';
import { v1Answer } from './answer-error.ts';
import { readJsonBodies } from './json-body.ts';
import { leaveMultipart } from './multipart.ts';
import { openApiText } from './openapi.ts';
import { guard, registerRoute } from './pipeline.ts';
import { ROUTES } from './routes.ts';

/** Open to every origin, without credentials (DECISIONS "CORS"); kept by nobody on the way. */
const EVERY_ANSWER = {
  'access-control-allow-origin': '*',
  'cache-control': 'no-store',
  'access-control-expose-headers': exposed(),
};
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PATCH, PUT, DELETE, OPTIONS',
  'access-control-allow-headers':
    'Authorization, Content-Type, Idempotency-Key, X-Service-Beta, Last-Event-ID',
  'access-control-max-age': '86400',
};

function exposed(): string {
  const rate = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After'];
  return ['X-Request-Id', 'Idempotent-Replayed', ...rate].join(', ');
}

export function registerV1(scope: FastifyInstance, edge: V1Edge): void {
  readJsonBodies(scope);
  leaveMultipart(scope);
  scope.addHook('onRequest', async (_request, reply) => {
    reply.headers(EVERY_ANSWER);
  });
  guard(scope, edge);
  const document = openApiText();
  scope.get('/openapi.json', async (_request, reply) => reply.type('application/json').send(document));
  for (const path of ['/', '/*']) {
    scope.options(path, async (_request, reply) => reply.code(204).headers(PREFLIGHT).send());
  }
  for (const route of ROUTES) registerRoute(scope, edge, route);
  scope.setNotFoundHandler((request, reply) => refuseUnknown(edge, request, reply));
}

/** A path that cannot be decoded is an unknown one. */
export async function answerUnreadablePath(
  edge: V1Edge,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  reply.headers(EVERY_ANSWER);
  try {
    await refuseUnknown(edge, request, reply);
  } catch (error) {
    const { status, body } = v1Answer(failureOf(edge, error), request.id);
    reply.code(status).send(body);
  }
}

/** An unknown path or method: 401 without a token, as anywhere else, then 404. */
async function refuseUnknown(edge: V1Edge, request: FastifyRequest, reply: FastifyReply): Promise<never> {
  await admit(edge, undefined, request, reply);
  return fail('not_found', {}, 'There is no such endpoint; GET /v1/openapi.json lists all of them.');
}
