/** The HTTP server: request ids, one log line per request, and the surfaces, each in a scope of its own. */
import type { IncomingMessage } from 'node:http';
import fastifyCookie from '@fastify/cookie';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Service } from '../domain/context.ts';
import { EventStreams } from '../domain/events/streams.ts';
import { MemoryBuckets } from '../domain/tokens/buckets.ts';
import { Failure, fail, InvalidRequest } from '../kernel/fail.ts';
import { formatId, newId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Geo } from '../ports/geo.ts';
import { LIMITS } from '../spec/limits.ts';
import { AccountBackoff } from './account-backoff.ts';
import { AttemptLimiter } from './attempt-limiter.ts';
import { registerConsolePages } from './console/pages.ts';
import { handleUpgrades, isConsoleUpgrade } from './console/upgrade.ts';
import { drainRequest } from './drain-request.ts';
import { errorBody, prepareErrorResponse } from './errors.ts';
import { handleOddRequests, rejectSocket } from './malformed-requests.ts';
import { registerPanel } from './panel/pages.ts';
import { sendNotFound } from './panel/pipeline.ts';
import { RulesCache } from './rules-cache.ts';
import { registerSessionSurface } from './session/endpoints.ts';
import type { Edge, HttpSettings } from './settings.ts';
import type { V1Edge } from './v1/admit.ts';
import { registerRestSurface, sendMalformedPathError } from './v1/surface.ts';

export interface HttpOptions {
  readonly service: Service;
  readonly settings: HttpSettings;
  readonly geo: Geo;
  /** Of a body from its first byte to its last, except an upload's; a minute when left out. */
  readonly bodyTimeoutMs?: number;
  /** Where each request has its line; the service's log when left out. */
  readonly requestLog?: Logger;
  /** Whether the database answers and its migrations are in. */
  readonly ready: () => Promise<boolean>;
  /** Awaited before each request, once it has its id. */
  readonly beforeRequest?: () => Promise<void>;
  /** Which are woken with the workers; our own, which only poll, when left out. */
  readonly streams?: EventStreams;
  /** Registers the sandbox's control endpoints; absent on a live database. */
  readonly sandbox?: (scope: FastifyInstance) => void;
}

const HEADERS_TIMEOUT_MS = 20_000;
/** Of a whole request: an upload of 4 GiB may be slow, and says itself when it stands still. */
const REQUEST_TIMEOUT_MS = 12 * 3_600_000;
/** Of every other body, from its first byte to its last. */
const BODY_TIMEOUT_MS = 60_000;
/** An id of any length is looked up like any other: this is above what Node takes of a request's head. */
const PATH_PARAM_MAX_CHARS = 64 * 1024;

/** The whole service over HTTP, ready to `listen`. */
export function buildHttpServer(options: HttpOptions): FastifyInstance {
  const { service, settings, beforeRequest } = options;
  const edge: Edge = {
    service,
    settings,
    geo: options.geo,
    signups: new AttemptLimiter(settings.signupsPerHour),
    failures: new AttemptLimiter(settings.signinFailuresPerHour),
    mailings: new AttemptLimiter(settings.signinFailuresPerHour),
    backoff: new AccountBackoff({ enabled: settings.signinFailuresPerHour > 0 }),
    rules: new RulesCache(service),
  };
  const streams = options.streams ?? new EventStreams(service);
  const v1 = createV1Edge(edge, streams);
  const newRequestId = () => formatId('request', newId(service.clock.now()));
  const malformedContext = { newRequestId, log: service.log };
  const app = fastify({
    genReqId: newRequestId,
    // While we stop, what still arrives on an open connection is served and the connection closed after it.
    return503OnClosing: false,
    bodyLimit: LIMITS.formBodyMaxBytes,
    trustProxy: settings.trustedProxies.length > 0 ? [...settings.trustedProxies] : false,
    routerOptions: { maxParamLength: PATH_PARAM_MAX_CHARS },
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requireHostHeader: false,
      // Whoever asks for an upgrade that we do not do is answered as if he had not.
      shouldUpgradeCallback: isConsoleUpgrade,
    },
    clientErrorHandler: (error, socket) =>
      rejectSocket(
        socket,
        error.code,
        malformedContext,
        (error as { rawPacket?: unknown }).rawPacket as Buffer | undefined,
      ),
    // What reaches this is a path that cannot be decoded; the framework's message would repeat it.
    frameworkErrors: (_error, request, reply: FastifyReply) => {
      reply.headers(commonHeaders(request));
      if (/^\/v1\//.test(request.url)) return void sendMalformedPathError(v1, request, reply);
      const failure = new Failure('bad_request', {}, 'The path cannot be read.');
      reply.send(prepareErrorResponse(edge, failure, request, reply));
    },
  });
  handleOddRequests(app.server, malformedContext);
  const endConsoles = handleUpgrades(app.server, { edge, newRequestId, beforeRequest });
  app.addHook('preClose', endConsoles);
  app.addHook('preClose', () => streams.close());
  addHooks(app, options.requestLog ?? service.log, options.bodyTimeoutMs ?? BODY_TIMEOUT_MS);
  if (beforeRequest) app.addHook('onRequest', beforeRequest);
  // Each surface says which bodies it reads; at a path that does not exist none is.
  app.removeAllContentTypeParsers();
  app.setErrorHandler((error, request, reply) =>
    reply.send(prepareErrorResponse(edge, error, request, reply)),
  );
  app.setNotFoundHandler((request, reply) => handleNotFound(edge, request, reply));
  app.register(fastifyCookie);
  registerSurfaces(app, edge, v1, options);
  return app;
}

/** Each in a scope of its own. */
function registerSurfaces(
  app: FastifyInstance,
  edge: Edge,
  v1: V1Edge,
  { ready, sandbox }: Pick<HttpOptions, 'ready' | 'sandbox'>,
): void {
  app.register(async (scope) => registerSessionSurface(scope, edge));
  app.register(async (scope) => registerRestSurface(scope, v1), { prefix: '/v1' });
  app.register(async (scope) => registerPanel(scope, edge));
  app.register(async (scope) => registerConsolePages(scope, edge));
  app.register(async (scope) => registerHealth(scope, ready));
  if (sandbox) app.register(async (scope) => sandbox(scope));
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its body may take hours; it says itself when none comes. */
    readonly slowBody?: true;
  }
}

function createV1Edge(edge: Edge, streams: EventStreams): V1Edge {
  const { rates, tokenFailuresPerHour } = edge.settings;
  return {
    ...edge,
    buckets: { rules: rates, memory: rates.shared ? null : new MemoryBuckets() },
    tokenFailures: new AttemptLimiter(tokenFailuresPerHour),
    streams,
  };
}

function addHooks(app: FastifyInstance, log: Logger, bodyTimeoutMs: number): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(commonHeaders(request));
    if (!request.routeOptions.config.slowBody) enforceBodyTimeout(request.raw, bodyTimeoutMs);
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      fail('bad_request', {}, 'The Host header is missing.');
    }
  });
  app.addHook('onResponse', async (request, reply) => {
    drainRequest(request.raw);
    log.info(
      {
        method: request.method,
        // The pattern, never the URL: a query may hold what no log should.
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime),
        requestId: request.id,
      },
      'request',
    );
  });
}

function commonHeaders({ id }: FastifyRequest): Record<string, string> {
  return { 'x-request-id': id, 'x-content-type-options': 'nosniff' };
}

/** A body that dribbles in holds a connection and its buffers: it is answered 400 and cut. */
function enforceBodyTimeout(request: IncomingMessage, bodyTimeoutMs: number): void {
  if (request.complete || request.method === 'GET') return;
  const timer = setTimeout(() => {
    const timeoutError = new InvalidRequest([], 'The body took too long to arrive.');
    // Whoever reads it answers. Where nobody does yet, an error would be heard by nobody, and end the process.
    if (request.listenerCount('error') > 0) request.emit('error', timeoutError);
    else request.destroy();
  }, bodyTimeoutMs);
  timer.unref();
  const clearTimer = () => clearTimeout(timer);
  request.once('end', clearTimer).once('close', clearTimer);
}

function registerHealth(scope: FastifyInstance, ready: () => Promise<boolean>): void {
  scope.get('/healthz', async () => ({ ok: true }));
  scope.get('/readyz', async () => {
    if (!(await ready())) fail('maintenance', { retry_after_s: 1 });
    return { ok: true };
  });
}

/** A page for a browser that asks for a page, JSON for everybody else. */
async function handleNotFound(
  edge: Edge,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const path = request.url.split('?')[0] ?? '';
  const isPage = request.method === 'GET' && !/\.php$|^\/(?:v1|sandbox)(?:\/|$)/.test(path);
  if (isPage && request.headers.accept?.includes('text/html')) {
    return await sendNotFound(edge, request, reply);
  }
  return reply.code(404).send(errorBody(new Failure('not_found')));
}
