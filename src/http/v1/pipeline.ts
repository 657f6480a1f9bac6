/**
 * The one way a request of the REST surface takes: let in (admit.ts), read, once per key, checked, done, answered. Routes
 * are rows (route.ts); nothing in here knows one of them.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { type Answer, type OnceAnswer, once, type Within } from '../../domain/idempotency.ts';
import type { ReceivedUpload } from '../../domain/images/upload.ts';
import { type Failure, InvalidRequest, invalid } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { PageRequest } from '../../spec/lists.ts';
import { isSecure } from '../caller.ts';
import { failureOf } from '../errors.ts';
import { type Refusal, recordRefusal, resourceIn, writeRefusal } from '../refusals.ts';
import { admit, requireLawful, type V1Edge } from './admit.ts';
import { v1Answer } from './answer-error.ts';
import { makeCursor } from './cursor.ts';
import { sendFeed } from './feed.ts';
import { receiveUpload, uploadBody } from './multipart.ts';
import { type Check, checker } from './problems.ts';
import { headerReader, queryReader, type RawQuery, readPageRequest } from './query.ts';
import type { Call, Feed, ListPage, Route, StreamCall, StreamRules, TokenActor } from './route.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route of the REST surface behind this path. */
    readonly v1?: Route;
  }
}

const NOTHING = Type.Object({}, { additionalProperties: false });
const NO_PAGE: PageRequest = { filter: {}, sort: '', descending: false, after: null, size: 0 };

export function registerRoute(scope: FastifyInstance, edge: V1Edge, route: Route): void {
  const serve = route.stream ? streamer(edge, route, route.stream) : server(edge, route);
  scope.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    config: { v1: route, ...(route.multipart ? { slowBody: true } : {}) },
    schema: { response: { [route.status]: (route.stream ? null : replySchema(route)) ?? {} } },
    handler: async (request, reply) => {
      await serve(request, reply);
      return reply;
    },
  });
}

/** The whole answer's shape; null: an empty one. */
export function replySchema(route: Route): TSchema | null {
  if (!route.list || route.reply === null) return route.reply;
  return Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(route.reply),
    has_more: Type.Boolean(),
    next_cursor: Type.Optional(Type.String({ description: 'Present when has_more is true.' })),
  });
}

type Serve = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

function server(edge: V1Edge, route: Route): Serve {
  const readQuery = queryReader(route.query);
  const checkBody = checker(route.body ?? NOTHING);
  async function serve(
    request: FastifyRequest,
    actor: TokenActor,
    upload: ReceivedUpload | undefined,
  ): Promise<OnceAnswer> {
    const body = upload ? uploadBody(upload) : bodyOf(route, request);
    requireLawful(route, request, regionIn(body));
    async function act(within: Within | undefined): Promise<object> {
      const call = readCall(edge, route, request, { actor, within, readQuery });
      if (route.method !== 'GET' && !upload) requireBody(checkBody, body);
      const result = await route.run({ ...call, body, ...(upload ? { upload } : {}) });
      return route.list
        ? envelope(edge, route, call, result as ListPage<unknown>)
        : ((result ?? {}) as object);
    }
    if (route.method !== 'POST') {
      const answer = { status: route.status, body: await act(undefined) };
      return { answer, replayed: false, requestId: request.id };
    }
    const refusal = (error: unknown) => keptRefusal(edge, error, request.id);
    const recordRefusal = async (tx: Sql, error: unknown) => {
      await writeRefusal(tx, edge.service, refusalOf(route, actor, request.params, failureOf(edge, error)));
      recorded.add(error as object);
    };
    return await once(
      edge.service,
      { ...onceRequest(route, request, actor, body), refusal, recordRefusal },
      act,
    );
  }
  return async (request, reply) => {
    const actor = actorOf(request);
    // Before hours are spent on receiving it.
    if (route.multipart) readQuery(request.query as RawQuery);
    const upload = route.multipart ? await receiveUpload(request, edge.service, actor) : undefined;
    const served = await serve(request, actor, upload).finally(() => upload?.discard());
    const { status, body } = served.answer;
    if (served.replayed) reply.headers({ 'idempotent-replayed': 'true', 'x-request-id': served.requestId });
    reply.code(status).send(status === route.status && route.reply === null ? undefined : body);
  };
}

function streamer(edge: V1Edge, route: Route, { headers }: StreamRules): Serve {
  const readQuery = queryReader(route.query);
  const readHeaders = headerReader(headers);
  return async (request, reply) => {
    const actor = actorOf(request);
    const call = readCall(edge, route, request, { actor, within: undefined, readQuery });
    const headers = readHeaders(request.headers);
    const streamCall: StreamCall = { ...call, actor, headers, streams: edge.streams };
    sendFeed((await route.run(streamCall)) as Feed, request, reply);
  };
}

function actorOf({ bearer }: FastifyRequest): TokenActor {
  if (!bearer) throw new Error('a request was let in without a bearer');
  return bearer;
}

function onceRequest(route: Route, request: FastifyRequest, actor: TokenActor, body: unknown) {
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

/** DECISIONS "Idempotency": what is kept of a refusal. One that says nothing of the request itself is not. */
function keptRefusal(edge: V1Edge, error: unknown, requestId: string): Answer | undefined {
  const failure = failureOf(edge, error);
  const answer = v1Answer(failure, requestId);
  const passing = [401, 403, 429, 451].includes(answer.status) || answer.status >= 500;
  return passing || failure.code === 'idempotency_conflict' ? undefined : answer;
}

/** An empty body is `{}` where DECISIONS say so. */
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
    throw new InvalidRequest([{ field: '', issue: 'required' }], 'The body is missing.');
  const items = check(body);
  if (items.length > 0) invalid(items);
}

function readCall(
  edge: V1Edge,
  route: Route,
  request: FastifyRequest,
  parts: Pick<Call, 'within'> & { actor: TokenActor; readQuery: (raw: RawQuery) => unknown },
): Call {
  const { actor, within, readQuery } = parts;
  const raw = request.query as RawQuery;
  const { keys } = edge.service;
  const place = { list: route.id, customerId: actor.customerId, path: JSON.stringify(request.params) };
  return {
    service: edge.service,
    actor,
    params: request.params as Record<string, string>,
    query: route.list ? {} : readQuery(raw),
    body: undefined,
    page: route.list ? readPageRequest(raw, route.list, { keys, place }) : NO_PAGE,
    within,
    baseUrl:
      edge.settings.baseUrl ?? `http${isSecure(request) ? 's' : ''}://${request.headers.host ?? 'localhost'}`,
  };
}

function envelope(edge: V1Edge, route: Route, call: Call, page: ListPage<unknown>): object {
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

/** Lets each request in before its body is read, and answers whatever is thrown in the envelope. */
export function guard(scope: FastifyInstance, edge: V1Edge): void {
  scope.decorateRequest('bearer', null);
  scope.decorateRequest('rules', null);
  scope.addHook('onRequest', async (request, reply) => {
    const route = request.routeOptions.config.v1;
    if (route) await admit(edge, route, request, reply);
  });
  scope.setErrorHandler(async (error, request, reply) => {
    const failure = failureOf(edge, error);
    logFault(edge, error, failure, request.id);
    const route = request.routeOptions.config.v1;
    if (request.bearer && route?.audit && !recorded.has(error as object)) {
      await recordRefusal(edge.service, refusalOf(route, request.bearer, request.params, failure));
    }
    const { status, body } = v1Answer(failure, request.id);
    if (failure.code === 'rate_limited' && typeof failure.extras.retry_after_s === 'number') {
      reply.header('retry-after', failure.extras.retry_after_s);
    }
    return await reply.code(status).send(body);
  });
}

function logFault(edge: V1Edge, error: unknown, failure: Failure, requestId: string): void {
  const line = { err: error, requestId };
  if (failure.code === 'internal') edge.service.log.error(line, 'fault');
  if (failure.code === 'maintenance' && failure !== error)
    edge.service.log.warn(line, 'database unavailable');
}

/** Refusals whose audit row was written with the kept answer. */
const recorded = new WeakSet<object>();

function refusalOf(route: Route, actor: TokenActor, params: unknown, error: unknown): Refusal {
  return { actor, action: route.audit ?? null, error, resource: resourceIn(params) };
}
