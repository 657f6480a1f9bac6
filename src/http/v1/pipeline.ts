/**
 * The path of every REST request: admit (admit.ts), read, check for a stored response, validate, run,
 * respond. Routes are data (route.ts), and this file knows none of them.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import {
  type ApiResponse,
  type IdempotentResult,
  runIdempotent,
  type SaveResponse,
} from '../../domain/idempotency.ts';
import type { ReceivedUpload } from '../../domain/images/upload.ts';
import { type Failure, InvalidRequest, invalidRequest } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { PageRequest } from '../../spec/lists.ts';
import {
  type FailureAudit,
  recordFailureAudit,
  resourceFromParams,
  writeFailureAudit,
} from '../audit-failure.ts';
import { resolveBaseUrl } from '../base-url.ts';
import { toFailure } from '../errors.ts';
import { admit, requirePolicyAllows, type V1Edge } from './admit.ts';
import { makeCursor } from './cursor.ts';
import { v1ErrorResponse } from './error-response.ts';
import { receiveUpload, uploadFingerprint } from './multipart.ts';
import { headerReader, queryReader, type RawQuery, readPageRequest } from './query.ts';
import type { Call, Feed, ListPage, Route, StreamCall, StreamRules, TokenActor } from './route.ts';
import { sendFeed } from './send-feed.ts';
import { type Check, createChecker } from './validation.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The REST route of this path. */
    readonly v1?: Route;
  }
}

const EMPTY_BODY = Type.Object({}, { additionalProperties: false });
const UNPAGED: PageRequest = { filter: {}, sort: '', descending: false, after: null, size: 0 };

export function registerRoute(scope: FastifyInstance, edge: V1Edge, route: Route): void {
  const serve = route.stream ? streamHandler(edge, route, route.stream) : routeHandler(edge, route);
  scope.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    config: { v1: route, ...(route.multipart ? { slowBody: true } : {}) },
    schema: { response: { [route.status]: (route.stream ? null : responseSchema(route)) ?? {} } },
    handler: async (request, reply) => {
      await serve(request, reply);
      return reply;
    },
  });
}

/** The schema of the whole response, or null for an empty one. */
export function responseSchema(route: Route): TSchema | null {
  if (!route.list || route.reply === null) return route.reply;
  return Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(route.reply),
    has_more: Type.Boolean(),
    next_cursor: Type.Optional(Type.String({ description: 'Present when has_more is true.' })),
  });
}

type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

function routeHandler(edge: V1Edge, route: Route): RouteHandler {
  const readQuery = queryReader(route.query);
  const checkBody = createChecker(route.body ?? EMPTY_BODY);
  async function serve(
    request: FastifyRequest,
    actor: TokenActor,
    upload: ReceivedUpload | undefined,
  ): Promise<IdempotentResult> {
    const body = upload ? uploadFingerprint(upload) : bodyOf(route, request);
    requirePolicyAllows(route, request, regionIn(body));
    async function act(saveResponse: SaveResponse | undefined): Promise<object> {
      const call = buildCall(edge, route, request, { actor, saveResponse, readQuery });
      if (route.method !== 'GET' && !upload) requireBody(checkBody, body);
      const result = await route.run({ ...call, body, ...(upload ? { upload } : {}) });
      return route.list
        ? listEnvelope(edge, route, call, result as ListPage<unknown>)
        : ((result ?? {}) as object);
    }
    if (route.method !== 'POST') {
      const response = { status: route.status, body: await act(undefined) };
      return { response, replayed: false, requestId: request.id };
    }
    const storedError = (error: unknown) => storableError(edge, error, request.id);
    const recordRefusal = async (tx: Sql, error: unknown) => {
      await writeFailureAudit(
        tx,
        edge.service,
        failureAudit(route, actor, request.params, toFailure(edge, error)),
      );
      auditedErrors.add(error as object);
    };
    return await runIdempotent(
      edge.service,
      { ...idempotentRequest(route, request, actor, body), refusal: storedError, recordRefusal },
      act,
    );
  }
  return async (request, reply) => {
    const actor = requireBearer(request);
    // Validate the query before an upload that may take hours.
    if (route.multipart) readQuery(request.query as RawQuery);
    const upload = route.multipart ? await receiveUpload(request, edge.service, actor) : undefined;
    const outcome = await serve(request, actor, upload).finally(() => upload?.discard());
    const { status, body } = outcome.response;
    if (outcome.replayed) reply.headers({ 'idempotent-replayed': 'true', 'x-request-id': outcome.requestId });
    reply.code(status).send(status === route.status && route.reply === null ? undefined : body);
  };
}

function streamHandler(edge: V1Edge, route: Route, { headers }: StreamRules): RouteHandler {
  const readQuery = queryReader(route.query);
  const readHeaders = headerReader(headers);
  return async (request, reply) => {
    const actor = requireBearer(request);
    const call = buildCall(edge, route, request, { actor, saveResponse: undefined, readQuery });
    const headers = readHeaders(request.headers);
    const streamCall: StreamCall = { ...call, actor, headers, streams: edge.streams };
    sendFeed((await route.run(streamCall)) as Feed, request, reply);
  };
}

function requireBearer({ bearer }: FastifyRequest): TokenActor {
  if (!bearer) throw new Error('a request was admitted without a bearer');
  return bearer;
}

function idempotentRequest(route: Route, request: FastifyRequest, actor: TokenActor, body: unknown) {
  const key = request.headers['idempotency-key'];
  return {
    actor,
    key: typeof key === 'string' ? key : undefined,
    credential: request.headers.authorization?.replace(/^bearer +/i, '') ?? '',
    request: {
      method: request.method,
      path: request.url.split('?')[0] ?? '',
      query: request.query as object,
      body,
    },
    status: route.status,
  };
}

/** Returns the error response to store (DECISIONS "Idempotency"), or undefined if it is transient. */
function storableError(edge: V1Edge, error: unknown, requestId: string): ApiResponse | undefined {
  const failure = toFailure(edge, error);
  const answer = v1ErrorResponse(failure, requestId);
  const isTransient = [401, 403, 429, 451].includes(answer.status) || answer.status >= 500;
  return isTransient || failure.code === 'idempotency_conflict' ? undefined : answer;
}

/** An empty body counts as `{}` where DECISIONS say so. */
function bodyOf(route: Route, request: FastifyRequest): unknown {
  if (request.body !== undefined) return request.body;
  return route.method === 'POST' || route.method === 'DELETE' ? {} : undefined;
}

function regionIn(body: unknown): string | null {
  const region = (body as { region?: unknown } | null | undefined)?.region;
  return typeof region === 'string' ? region : null;
}

function requireBody(check: Check, body: unknown): void {
  if (body === undefined)
    throw new InvalidRequest([{ field: '', issue: 'required' }], 'The request needs a JSON body.');
  const items = check(body);
  if (items.length > 0) invalidRequest(items);
}

function buildCall(
  edge: V1Edge,
  route: Route,
  request: FastifyRequest,
  parts: Pick<Call, 'saveResponse'> & { actor: TokenActor; readQuery: (raw: RawQuery) => unknown },
): Call {
  const { actor, saveResponse, readQuery } = parts;
  const raw = request.query as RawQuery;
  const { keys } = edge.service;
  const place = { list: route.id, customerId: actor.customerId, path: JSON.stringify(request.params) };
  return {
    service: edge.service,
    actor,
    params: request.params as Record<string, string>,
    query: route.list ? {} : readQuery(raw),
    body: undefined,
    page: route.list ? readPageRequest(raw, route.list, { keys, place }) : UNPAGED,
    saveResponse,
    baseUrl: resolveBaseUrl({ edge, request }),
  };
}

function listEnvelope(edge: V1Edge, route: Route, call: Call, page: ListPage<unknown>): object {
  const { filter, sort, descending } = call.page;
  const next =
    page.next &&
    makeCursor(edge.service.keys, page.next, {
      list: route.id,
      customerId: call.actor.customerId,
      path: JSON.stringify(call.params),
      filter,
      sort: descending ? `-${sort}` : sort,
    });
  return {
    object: 'list',
    data: page.items,
    has_more: next !== null,
    ...(next === null ? {} : { next_cursor: next }),
  };
}

/** Admits each request before its body is read, and answers every error with the envelope. */
export function registerAdmission(scope: FastifyInstance, edge: V1Edge): void {
  scope.decorateRequest('bearer', null);
  scope.decorateRequest('rules', null);
  scope.addHook('onRequest', async (request, reply) => {
    const route = request.routeOptions.config.v1;
    if (route) await admit(edge, route, request, reply);
  });
  scope.setErrorHandler(async (error, request, reply) => {
    const failure = toFailure(edge, error);
    logFailure(edge, error, failure, request.id);
    const route = request.routeOptions.config.v1;
    if (request.bearer && route?.audit && !auditedErrors.has(error as object)) {
      await recordFailureAudit(edge.service, failureAudit(route, request.bearer, request.params, failure));
    }
    const { status, body } = v1ErrorResponse(failure, request.id);
    if (failure.code === 'rate_limited' && typeof failure.extras.retry_after_s === 'number') {
      reply.header('retry-after', failure.extras.retry_after_s);
    }
    return await reply.code(status).send(body);
  });
}

function logFailure(edge: V1Edge, error: unknown, failure: Failure, requestId: string): void {
  const line = { err: error, requestId };
  if (failure.code === 'internal') edge.service.log.error(line, 'request failed');
  if (failure.code === 'maintenance' && failure !== error)
    edge.service.log.warn(line, 'database unavailable');
}

/** Errors whose audit row was written in the transaction of the stored response. */
const auditedErrors = new WeakSet<object>();

function failureAudit(route: Route, actor: TokenActor, params: unknown, error: unknown): FailureAudit {
  return { actor, action: route.audit ?? null, error, resource: resourceFromParams(params) };
}
