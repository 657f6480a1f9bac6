/** Files of tickets: receives one from a form of the panel, and sends one as a download. */
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  readTicketFile,
  requireTicket,
  type TicketFileContent,
} from '../../../domain/customers/tickets/read.ts';
import { Failure, fail, InvalidRequest } from '../../../kernel/fail.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { buildVisit } from '../../admission/forms.ts';
import type { Edge } from '../../settings.ts';
import { sendNotFound } from '../pipeline.ts';
import { identifyRequest } from '../visitor.ts';

const TIMEOUT_MS = 60_000;

/** Reads the rest of a form that begins at its file, into memory. The file's own name is ignored. */
export function receiveTicketFile({ raw, headers }: FastifyRequest): Promise<Buffer> {
  const parser = new Busboy({
    headers: headers as BusboyHeaders,
    isPartAFile: (name) => name === 'file',
    limits: { files: 1, fields: 1, parts: 2, fileSize: LIMITS.ticketFileMaxBytes + 1, headerPairs: 16 },
  });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const refuse = () => end(() => reject(new InvalidRequest([], 'The file could not be read. Try again.')));
    const accept = () => end(() => resolve(Buffer.concat(chunks)));
    const onClose = () => void (raw.complete || refuse());
    const timer = setTimeout(refuse, TIMEOUT_MS);
    function end(settle: () => void): void {
      clearTimeout(timer);
      raw.off('close', onClose).unpipe(parser);
      raw.resume();
      settle();
    }
    parser
      .on('file', (_name, part) => {
        part.on('data', (chunk: Buffer) => void chunks.push(chunk));
        part.on('error', refuse);
        // Beyond the limit, nothing more is read.
        part.on('limit', accept);
      })
      .on('error', refuse)
      .on('finish', accept);
    raw.on('error', refuse).on('close', onClose);
    if (raw.destroyed) refuse();
    else raw.pipe(parser);
  });
}

/** The header that saves a file under a name in any script. */
export function attachment(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]/g, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`;
}

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
