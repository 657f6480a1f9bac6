/** `/servers/4711`: where the session surface and mails lead. The server's own page has its id of the REST surface. */
import type { FastifyInstance } from 'fastify';
import { serverIdByNo } from '../../domain/servers/find.ts';
import { PANEL_PATHS, serverPartPath } from '../../spec/paths.ts';
import { failureOf } from '../errors.ts';
import type { Edge } from '../settings.ts';
import { sendNotFound } from './pipeline.ts';
import { meet } from './visitor.ts';

export function registerServerNumbers(scope: FastifyInstance, edge: Edge): void {
  const path = `${PANEL_PATHS.servers}/:no(^[1-9]\\d{0,15}$)`;
  scope.get<{ Params: { no: string } }>(path, async (request, reply) => {
    const { session } = await meet(edge, request);
    const lead = (to: string) =>
      reply.code(303).header('location', to).header('cache-control', 'no-store').send();
    if (session === null)
      return lead(`${PANEL_PATHS.signIn}?${new URLSearchParams({ next: request.url.split('?')[0] ?? '' })}`);
    try {
      return lead(serverPartPath(await serverIdByNo(edge.service, session, BigInt(request.params.no))));
    } catch (error) {
      if (failureOf(edge, error).code !== 'not_found') throw error;
      return await sendNotFound(edge, request, reply);
    }
  });
}
