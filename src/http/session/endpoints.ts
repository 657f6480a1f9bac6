/** The session surface, in the order of SPEC "Endpoints", surface A. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LIMITS } from '../../spec/limits.ts';
import type { PostEndpoint } from '../admission/forms.ts';
import { readForm } from '../form.ts';
import type { Edge } from '../settings.ts';
import { accountEndpoint } from './account.ts';
import { authEndpoint } from './auth.ts';
import { deployEndpoint } from './deploy.ts';
import { type GetEndpoint, registerGet, registerPost } from './pipeline.ts';
import { topup, topupStatusEndpoint } from './topup.ts';
import { csrfEndpoint, meEndpoint } from './visitor.ts';

export const GET_ENDPOINTS: readonly GetEndpoint[] = [csrfEndpoint, meEndpoint, topupStatusEndpoint];
export const POST_ENDPOINTS: readonly PostEndpoint[] = [authEndpoint, topup, deployEndpoint, accountEndpoint];

export function registerSessionSurface(scope: FastifyInstance, edge: Edge): void {
  scope.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
    readForm(payload, request.headers, { maxBytes: LIMITS.formBodyMaxBytes, allowNul: true }),
  );
  scope.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });
  for (const endpoint of GET_ENDPOINTS) registerGet(scope, edge, endpoint);
  for (const endpoint of POST_ENDPOINTS) registerPost(scope, edge, endpoint);
}
