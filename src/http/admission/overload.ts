/**
 * Refuses requests that the process cannot answer in time, before anything else, so that a refusal costs a
 * fraction of a request. Requests of `app.inject` do not pass here.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { FaultLog } from '../../kernel/faults/fault-log.ts';
import type { Logger } from '../../kernel/logger.ts';
import { classOfRequest, isCounted, type RequestClass } from '../../spec/overload.ts';
import { drainRequest } from '../drain-request.ts';
import type { RequestMetrics } from '../metrics/requests.ts';
import type { LoadGate, Ticket } from './load-gate.ts';
import { REFUSAL_STATUS, RefusalIds, refusalFor, restRefusal, type Site } from './refusal.ts';
import { type ReadRefuser, RefusedConnection } from './refused-connection.ts';

export interface GuardContext {
  readonly newRequestId: () => string;
  readonly log: Logger;
  readonly site: Site;
  readonly requests: RequestMetrics;
}

/** A property of the request: entries of a WeakMap may stay in memory until a full garbage collection. */
const TICKET = Symbol('ticket');
type Counted = IncomingMessage & { [TICKET]?: Ticket };

/** Stops or continues counting a request as being in progress. */
export function setWaiting(request: Counted, isWaiting: boolean): void {
  request[TICKET]?.setWaiting(isWaiting);
}

/** Puts the gate before the server's own listeners. */
export function guardServer(server: Server, gate: LoadGate, context: GuardContext): void {
  const listeners = server.listeners('request') as ((raw: IncomingMessage, reply: ServerResponse) => void)[];
  const faults = new FaultLog();
  const report = () => {
    context.requests.refused += 1;
    faults.report('overload', (refused) =>
      context.log.warn({ refused, inProgress: gate.inProgress }, 'overloaded: requests were refused'),
    );
  };
  const ids = new RefusalIds(context.newRequestId);
  const reads: ReadRefuser = {
    isRefusing: () => !gate.admits('read'),
    refuse: (socket, url) => {
      const kind = classOfRequest('GET', url);
      if (kind !== 'read' && gate.admits(kind)) return false;
      report();
      socket.write(restRefusal(ids.next()), 'latin1');
      return true;
    },
  };
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url = '', socket } = request;
    RefusedConnection.of(socket)?.count(request, response);
    const kind = classOfRequest(method, url);
    if (!gate.admits(kind)) {
      report();
      if (kind === 'read') RefusedConnection.start(socket, reads, false);
      return refuse(request, response, context);
    }
    if (isCounted(url)) whenReceived(request, () => count(gate, kind, request, response));
    for (const listener of listeners) listener(request, response);
  });
  // The server's own listener ran first, so that the parser is in place.
  server.on('connection', (socket: Socket) => {
    if (reads.isRefusing()) RefusedConnection.start(socket, reads, true);
  });
  // The parser of such a connection is used for another one.
  for (const event of ['upgrade', 'connect']) {
    server.prependListener(event, ({ socket }: IncomingMessage) => RefusedConnection.of(socket)?.stop());
  }
}

/** A body may trickle in, so its request is in progress only when it is complete. */
function whenReceived(request: IncomingMessage, received: () => void): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (length === '0' && encoding === undefined) received();
  else request.once('end', received);
}

function count(gate: LoadGate, kind: RequestClass, request: Counted, response: ServerResponse): void {
  if (response.closed || response.destroyed) return;
  const ticket = gate.begin(kind);
  request[TICKET] = ticket;
  response.once('close', () => ticket.complete());
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { newRequestId, site }: GuardContext,
): void {
  const id = newRequestId();
  const { headers, body } = refusalFor(request.url ?? '', request.headers, id, site);
  response.writeHead(REFUSAL_STATUS, [
    ...['x-request-id', id, 'content-length', String(Buffer.byteLength(body))],
    ...headers,
  ]);
  response.end(request.method === 'HEAD' ? undefined : body);
  if (!request.complete) response.once('finish', () => drainRequest(request));
}
