/**
 * How long the body of a request may take to arrive. Node has one such limit for all requests of a server, and an upload
 * of 4 GiB takes hours over a slow line; so Node's is off, and this one knows which routes end an idle sender themselves.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type BelowRouter, refuseSocket } from './below-router.ts';

export interface BodyDeadline extends BelowRouter {
  readonly bodyMs: number;
  /** Whether the route reads its body as a stream, under a limit of its own. */
  readonly streams: (request: FastifyRequest) => boolean;
}

export function limitBodies(app: FastifyInstance, deadline: BodyDeadline): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers, raw } = request;
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    if (hasBody && !deadline.streams(request)) {
      const timer = setTimeout(() => {
        if (!raw.complete) refuseSocket(raw.socket, 'ERR_HTTP_REQUEST_TIMEOUT', deadline);
      }, deadline.bodyMs).unref();
      raw.once('close', () => clearTimeout(timer));
    }
    done();
  });
}
