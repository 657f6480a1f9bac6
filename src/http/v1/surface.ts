/** The REST surface: its scope, its OpenAPI document, CORS, and unknown paths. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../../kernel/fail.ts';
import { toFailure } from '../errors.ts';
import { admit, type V1Edge } from './admit.ts';
import { v1ErrorResponse } from './error-response.ts';
import { registerJsonParser } from './json-body.ts';
import { skipMultipartParsing } from './multipart.ts';
import { openApiText } from './openapi/document.ts';
import { registerErrorHandler, registerRoute } from './pipeline.ts';
import { ROUTES } from './routes.ts';

/** Open to every origin, without credentials (DECISIONS "CORS"), and never stored by a cache. */
const COMMON_HEADERS = {
  'access-control-allow-origin': '*',
  'cache-control': 'no-store',
  'access-control-expose-headers': exposedHeaders(),
};
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST, PATCH, PUT, DELETE, OPTIONS',
  'access-control-allow-headers':
    'Authorization, Content-Type, Idempotency-Key, X-Service-Beta, Last-Event-ID',
  'access-control-max-age': '86400',
};

function exposedHeaders(): string {
  const rate = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After'];
  return ['X-Request-Id', 'X-Action-Id', 'Idempotent-Replayed', ...rate].join(', ');
}

export function registerRestSurface(scope: FastifyInstance, edge: V1Edge): void {
  registerJsonParser(scope);
  skipMultipartParsing(scope);
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.headers(COMMON_HEADERS);
    done();
  });
  registerErrorHandler(scope, edge);
  const document = openApiText();
  scope.get('/openapi.json', async (_request, reply) => reply.type('application/json').send(document));
  for (const path of ['/', '/*']) {
    scope.options(path, async (_request, reply) => reply.code(204).headers(PREFLIGHT_HEADERS).send());
  }
  for (const route of ROUTES) registerRoute(scope, edge, route);
  scope.setNotFoundHandler((request, reply) => rejectUnknownRoute(edge, request, reply));
}

/** A path that cannot be decoded counts as an unknown path. */
export async function sendMalformedPathError(
  edge: V1Edge,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  reply.headers(COMMON_HEADERS);
  try {
    await rejectUnknownRoute(edge, request, reply);
  } catch (error) {
    const { status, body } = v1ErrorResponse(toFailure(edge, error), request.id);
    reply.code(status).send(body);
  }
}

/** Answers an unknown path or method: 401 without a valid token, then 404. */
async function rejectUnknownRoute(
  edge: V1Edge,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<never> {
  await admit(edge, undefined, request, reply);
  return fail('not_found', {}, 'Endpoint not found. Check the method and the path in the API reference.');
}
