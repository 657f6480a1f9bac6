/**
 * The path of every REST request: admission (admit.ts) → read → policy → idempotency → verb → write. Routes
 * are data (route.ts), and this file knows none of them.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { wasBegunNow } from '../../domain/actions/object.ts';
import type { ScopedActor } from '../../domain/context.ts';
import type { ApiResponse, IdempotentResult } from '../../domain/idempotency.ts';
import type { ReceivedUpload } from '../../domain/images/upload.ts';
import { InvalidRequest, invalidRequest } from '../../kernel/fail.ts';
import type { ActionSummary } from '../../spec/schemas/action.ts';
import { regionIn, requirePolicies } from '../admission/admission.ts';
import { idempotencyKeyHeader, markReplay, runOnce } from '../admission/once.ts';
import { auditRefusal, writeRefusalAudit } from '../admission/refusal-audit.ts';
import { resolveBaseUrl } from '../base-url.ts';
import { logFault, setRetryAfter, toFailure } from '../errors.ts';
import { admit, type RestAdmission, type V1Edge } from './admit.ts';
import { v1ErrorResponse } from './error-response.ts';
import { receiveUpload, uploadFingerprint } from './multipart.ts';
import { headerReader, type QueryReader, queryReader, type RawQuery, readPageRequest } from './query.ts';
import { type Call, type Feed, type Route, type StreamCall, type TokenActor, UNPAGED } from './route.ts';
import { runRoute } from './run-route.ts';
import { sendFeed } from './send-feed.ts';
import { type Check, createChecker } from './validation.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The REST route of this path. */
    readonly v1?: Route;
  }
}

/** A route with its compiled schemas. */
interface PreparedRoute {
  readonly route: Route;
  readonly readQuery: QueryReader;
  readonly readHeaders: ReturnType<typeof headerReader>;
  readonly checkBody: Check;
}

/** A request that passed the stages before its body. */
interface AdmittedRequest extends RestAdmission {
  readonly caller: TokenActor;
}

/** The content of a request. */
interface Content {
  /** For an upload, what identifies it. */
  readonly body: unknown;
  readonly upload?: ReceivedUpload;
}

const NO_CONTENT: Content = { body: undefined };
const EMPTY = Type.Object({}, { additionalProperties: false });

export function registerRoute(scope: FastifyInstance, edge: V1Edge, route: Route): void {
  const prepared: PreparedRoute = {
    route,
    readQuery: queryReader(route.query),
    readHeaders: headerReader(route.stream?.headers ?? EMPTY),
    checkBody: createChecker(route.body ?? EMPTY),
  };
  const answer = route.stream ? answerWithStream : answerWithBody;
  scope.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    config: {
      v1: route,
      ...(route.multipart ? { slowBody: true } : {}),
      ...(route.stream ? { untimed: true } : {}),
    },
    schema: { response: { [route.status]: (route.stream ? null : responseSchema(route)) ?? {} } },
    onRequest: (request, reply) => admit(edge, route, request, reply),
    handler: (request) => answer(requireAdmitted(request), prepared),
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

function requireAdmitted({ admission }: FastifyRequest): AdmittedRequest {
  if (!admission?.caller) throw new Error('a request was not admitted');
  return admission as AdmittedRequest;
}

/** Returns the body, which the framework sends: it would wait for the end of a reply that is returned. */
async function answerWithBody(
  admitted: AdmittedRequest,
  prepared: PreparedRoute,
): Promise<object | undefined> {
  const { route } = prepared;
  const content = route.multipart ? await readUpload(admitted, prepared) : readBody(admitted, route);
  try {
    return writeResponse(admitted.reply, route, await serve(admitted, prepared, content));
  } finally {
    if (content.upload) await content.upload.discard();
  }
}

/** Writes a stream: once admitted, it stays open until either side closes it. */
async function answerWithStream(admitted: AdmittedRequest, prepared: PreparedRoute): Promise<FastifyReply> {
  const { request, reply, caller, edge } = admitted;
  const call = buildCall(admitted, prepared, caller, NO_CONTENT);
  const headers = prepared.readHeaders(request.headers);
  const streamCall: StreamCall = { ...call, actor: caller, headers, streams: edge.streams };
  sendFeed((await prepared.route.run(streamCall)) as Feed, request, reply);
  return reply;
}

/** `read`: Fastify has parsed a JSON body (json-body.ts). */
function readBody({ request }: AdmittedRequest, route: Route): Content {
  // An empty body counts as `{}` where DECISIONS say so.
  const isEmptyAllowed = route.method === 'POST' || route.method === 'DELETE';
  return { body: request.body === undefined && isEmptyAllowed ? {} : request.body };
}

/** `read`: an upload arrives only here. */
async function readUpload(
  { request, edge, caller }: AdmittedRequest,
  { readQuery }: PreparedRoute,
): Promise<Content> {
  // Validate the query before an upload that may take hours.
  readQuery(request.query as RawQuery);
  const upload = await receiveUpload(request, edge.service, caller);
  return { body: uploadFingerprint(upload), upload };
}

/** `policy`, `idempotency`, and `verb`. Only POST has keys; repeating any other method is harmless. */
async function serve(
  admitted: AdmittedRequest,
  prepared: PreparedRoute,
  content: Content,
): Promise<IdempotentResult> {
  const { request, caller, token } = admitted;
  const { route } = prepared;
  const checking = requirePolicies(admitted, () => regionIn(content.body));
  if (checking) await checking;
  return await runOnce(
    admitted,
    {
      actor: caller,
      key: route.method === 'POST' ? idempotencyKeyHeader(request) : undefined,
      credential: token,
      query: request.query as object,
      body: content.body,
      status: route.status,
      refusal: (error) => storableError(admitted, error),
      recordRefusal: (tx, error) => writeRefusalAudit(tx, admitted, error),
    },
    (actor) => runVerb(admitted, prepared, actor, content),
  );
}

/** Validates what was read, and runs the route's verb. */
async function runVerb(
  admitted: AdmittedRequest,
  prepared: PreparedRoute,
  actor: TokenActor,
  content: Content,
): Promise<object> {
  const { route, checkBody } = prepared;
  const call = buildCall(admitted, prepared, actor, content);
  if (route.method !== 'GET' && !content.upload) requireBody(checkBody, content.body);
  return await runRoute(admitted.edge, route, call);
}

function requireBody(check: Check, body: unknown): void {
  if (body === undefined)
    throw new InvalidRequest([{ field: '', issue: 'required' }], 'The request needs a JSON body.');
  const items = check(body);
  if (items.length > 0) invalidRequest(items);
}

function buildCall(
  { edge, request }: AdmittedRequest,
  { route, readQuery }: PreparedRoute,
  actor: ScopedActor,
  content: Content,
): Call {
  const raw = request.query as RawQuery;
  const params = request.params as Record<string, string>;
  const { service } = edge;
  const place = () => ({ list: route.id, customerId: actor.customerId, path: JSON.stringify(params) });
  return {
    service,
    actor,
    params,
    query: route.list ? {} : readQuery(raw),
    page: route.list ? readPageRequest(raw, route.list, { keys: service.keys, place: place() }) : UNPAGED,
    ...content,
    // Few verbs need it. Not a getter: see TokenCaller in admit.ts.
    baseUrl: () => resolveBaseUrl({ edge, request }),
  };
}

/** `write`: sets the status, and returns the body. */
function writeResponse(reply: FastifyReply, route: Route, result: IdempotentResult): object | undefined {
  const { status, body } = result.response;
  markReplay(reply, result);
  if (body !== undefined) nameAction(reply, route, body);
  reply.code(status);
  if (result.replayed && body !== undefined) {
    reply.type('application/json; charset=utf-8');
    reply.serializer(() => serializeStored(reply, body));
  }
  return status === route.status && route.reply === null ? undefined : body;
}

/** An update that begins nothing may show what an earlier request began. */
function nameAction(reply: FastifyReply, { method, starts }: Route, body: object): void {
  const { action } = body as { readonly action?: ActionSummary | null };
  if (!action || action.command !== starts) return;
  if (method !== 'PATCH' || wasBegunNow(action)) reply.header('X-Action-Id', action.id);
}

/** An earlier version may have stored the response, without fields that the schema has by now. */
function serializeStored(reply: FastifyReply, body: object): string {
  try {
    return reply.serializeInput({ ...body }, String(reply.statusCode)) as string;
  } catch {
    return JSON.stringify(body);
  }
}

/** Returns the error response to store (DECISIONS "Idempotency"), or undefined if it is transient. */
function storableError({ edge, request }: RestAdmission, error: unknown): ApiResponse | undefined {
  const failure = toFailure(edge, error);
  const answer = v1ErrorResponse(failure, request.id);
  const isTransient = [401, 403, 429, 451].includes(answer.status) || answer.status >= 500;
  return isTransient || failure.code === 'idempotency_conflict' ? undefined : answer;
}

/** Answers every error with the envelope, and audits refused changes. */
export function registerErrorHandler(scope: FastifyInstance, edge: V1Edge): void {
  scope.decorateRequest('admission', null);
  scope.setErrorHandler(async (error, request, reply) => {
    const failure = toFailure(edge, error);
    logFault(edge, error, failure, request.id);
    if (request.admission) await auditRefusal(request.admission, error);
    const { status, body } = v1ErrorResponse(failure, request.id);
    setRetryAfter(reply, failure);
    return await reply.code(status).send(body);
  });
}
