/** Sends a file of a ticket as a download. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  readTicketFile,
  requireTicket,
  type TicketFileContent,
} from '../../../domain/customers/tickets/read.ts';
import { Failure, fail } from '../../../kernel/fail.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { buildVisit } from '../../admission/forms.ts';
import type { Edge } from '../../settings.ts';
import { attachment } from '../file-transfer.ts';
import { sendNotFound } from '../pipeline.ts';
import { identifyRequest } from '../visitor.ts';

/** A download, never shown in the browser: a customer wrote it. */
function sendTicketFile(reply: FastifyReply, { name, type, content }: TicketFileContent): FastifyReply {
  return reply
    .headers({
      'content-type': type === 'text/plain' ? 'text/plain; charset=utf-8' : type,
      'content-disposition': attachment(name),
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    })
    .send(content);
}

interface FileRequest {
  readonly Params: { readonly id: string; readonly file: string };
}

/** Serves a file to the customer of its ticket. Everyone else gets a 404. */
export function registerTicketFiles(scope: FastifyInstance, edge: Edge): void {
  scope.get<FileRequest>(`${PANEL_PATHS.support}/:id/files/:file`, async (request, reply) => {
    const { actor } = buildVisit(edge, await identifyRequest(edge, request), request);
    const { id, file } = request.params;
    try {
      const owner = { ...actor, customerId: actor.customerId ?? fail('not_found') };
      const ticket = await requireTicket(edge.service.db, owner, id);
      return sendTicketFile(reply, await readTicketFile(edge.service, ticket.id, file));
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'not_found') throw error;
      return await sendNotFound(edge, request, reply);
    }
  });
}
