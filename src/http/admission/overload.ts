/**
 * Refuses requests that the process cannot answer in time, before anything else, so that a refusal costs a
 * fraction of a request. Requests of `app.inject` do not pass here.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Failure } from '../../kernel/fail.ts';
import { FaultLog } from '../../kernel/faults/fault-log.ts';
import type { Logger } from '../../kernel/logger.ts';
import { errorView, renderDocument } from '../../panel/parts/layout.ts';
import { OVERLOAD_MESSAGE } from '../../spec/error-messages.ts';
import { FAILURES } from '../../spec/errors.ts';
import { classOfRequest, isCounted } from '../../spec/overload.ts';
import { drainRequest } from '../drain-request.ts';
import { errorBody } from '../errors.ts';
import { ASSETS } from '../panel/assets.ts';
import { PAGE_HEADERS } from '../panel/visitor.ts';
import { v1ErrorResponse } from '../v1/error-response.ts';
import type { LoadGate, Ticket } from './load-gate.ts';

const RETRY_AFTER_S = 1;
const REFUSAL = new Failure('maintenance', { retry_after_s: RETRY_AFTER_S }, OVERLOAD_MESSAGE);
const STATUS = FAILURES.maintenance.session;

export interface GuardContext {
  readonly newRequestId: () => string;
  readonly log: Logger;
  readonly site: { readonly name: string; readonly sandbox: boolean };
}

const tickets = new WeakMap<IncomingMessage, Ticket>();

/** Stops or continues counting a request as being in progress. */
export function setWaiting(request: IncomingMessage, isWaiting: boolean): void {
  tickets.get(request)?.setWaiting(isWaiting);
}

/** Puts the gate before the server's own listeners. */
export function guardServer(server: Server, gate: LoadGate, context: GuardContext): void {
  const listeners = server.listeners('request') as ((raw: IncomingMessage, reply: ServerResponse) => void)[];
  const faults = new FaultLog();
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const kind = classOfRequest(request.method ?? 'GET', request.url ?? '');
    if (!gate.admits(kind)) {
      faults.report('overload', (refused) =>
        context.log.warn({ refused, inProgress: gate.inProgress }, 'overloaded: requests were refused'),
      );
      return refuse(request, response, context);
    }
    if (isCounted(request.url ?? '')) whenReceived(request, () => count(gate, kind, request, response));
    for (const listener of listeners) listener(request, response);
  });
}

/** A body may trickle in, so its request is in progress only when it is complete. */
function whenReceived(request: IncomingMessage, received: () => void): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (length === '0' && encoding === undefined) received();
  else request.once('end', received);
}

function count(
  gate: LoadGate,
  kind: ReturnType<typeof classOfRequest>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (response.closed || response.destroyed) return;
  const ticket = gate.begin(kind);
  tickets.set(request, ticket);
  response.once('close', () => ticket.complete());
}

function refuse(request: IncomingMessage, response: ServerResponse, context: GuardContext): void {
  const id = context.newRequestId();
  const { headers, body } = refusalFor(request, id, context);
  response.writeHead(STATUS, [
    ...['x-request-id', id, 'content-length', String(Buffer.byteLength(body))],
    ...headers,
  ]);
  response.end(request.method === 'HEAD' ? undefined : body);
  if (!request.complete) response.once('finish', () => drainRequest(request));
}

/** A response without its request id. Refusals are many, so they are written in advance. */
interface Refusal {
  readonly headers: readonly string[];
  readonly beforeId: string;
  readonly afterId: string;
}

const ID_PLACE = '%request id%';
const COMMON_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
const JSON_HEADERS = { ...COMMON_HEADERS, 'content-type': 'application/json; charset=utf-8' };
const REST_HEADERS = {
  ...JSON_HEADERS,
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'X-Request-Id',
};

function prepareRefusal(headers: Readonly<Record<string, string>>, body: string): Refusal {
  const [beforeId = '', afterId = ''] = body.split(ID_PLACE);
  return { headers: Object.entries(headers).flat(), beforeId, afterId };
}

const REST_REFUSAL = prepareRefusal(REST_HEADERS, JSON.stringify(v1ErrorResponse(REFUSAL, ID_PLACE).body));
const SESSION_REFUSAL = prepareRefusal(JSON_HEADERS, JSON.stringify(errorBody(REFUSAL)));

/** Returns the refusal in the form of the request's surface. */
function refusalFor(
  { url = '', headers }: IncomingMessage,
  id: string,
  { site }: GuardContext,
): { readonly headers: readonly string[]; readonly body: string } {
  const isPage = headers.accept?.includes('text/html') && !/^\/v1\b|\.php(?:$|\?)/.test(url);
  if (isPage) return { headers: Object.entries(PAGE_REFUSAL_HEADERS).flat(), body: refusalPage(site, id) };
  const prepared = url.startsWith('/v1') ? REST_REFUSAL : SESSION_REFUSAL;
  const { beforeId, afterId } = prepared;
  const body = prepared === REST_REFUSAL ? beforeId + id + afterId : beforeId;
  return { headers: prepared.headers, body };
}

const PAGE_REFUSAL_HEADERS = { ...COMMON_HEADERS, ...PAGE_HEADERS };

function refusalPage(site: GuardContext['site'], requestId: string): string {
  return renderDocument(errorView(OVERLOAD_MESSAGE, requestId), {
    site: site.name,
    sandbox: site.sandbox,
    ...{ account: null, closed: null, notice: null, autoRefresh: null, assets: ASSETS },
    forms: { csrf: '', submissionKey: '', refused: null, values: new Map(), problems: [], failure: null },
  });
}
