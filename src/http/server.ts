import type { IncomingMessage } from 'node:http';
import fastifyCookie from '@fastify/cookie';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Service } from '../domain/context.ts';
import { EventStreams } from '../domain/events/streams.ts';
import { MemoryAttempts, SharedAttempts } from '../domain/sessions/attempts.ts';
import { MemoryBuckets } from '../domain/tokens/buckets.ts';
import { Failure, fail, InvalidRequest } from '../kernel/fail.ts';
import { formatId, newId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Geo } from '../ports/geo.ts';
import { LIMITS } from '../spec/limits.ts';
import { AccountLanes } from './admission/account-lanes.ts';
import { addDeadlines, type Timeouts } from './admission/deadlines.ts';
import { LoadGate, measureLag } from './admission/load-gate.ts';
import { guardServer } from './admission/overload.ts';
import { isServedSecurely } from './client-address.ts';
import { registerConsolePages } from './console/pages.ts';
import { handleUpgrades, isConsoleUpgrade } from './console/upgrade.ts';
import { drainRequest } from './drain-request.ts';
import { errorBody, prepareErrorResponse } from './errors.ts';
import { handleOddRequests, rejectSocket } from './malformed-requests.ts';
import { RequestMetrics } from './metrics/requests.ts';
import { assetsOf, brandOf } from './panel/assets.ts';
import { registerLive } from './panel/live.ts';
import { registerPanel } from './panel/pages.ts';
import { sendNotFound } from './panel/pipeline.ts';
import type { SandboxControl } from './sandbox/control.ts';
import { registerSandboxRoutes, type SandboxAccess } from './sandbox/routes.ts';
import { registerSessionSurface } from './session/endpoints.ts';
import { type Edge, type HttpSettings, RulesCache } from './settings.ts';
import type { V1Edge } from './v1/admit.ts';
import { registerRestSurface, sendMalformedPathError } from './v1/surface.ts';

/** The HTTP server: request ids, one log line per request, and one scope for each surface. */

export interface HttpOptions {
  readonly service: Service;
  readonly settings: HttpSettings;
  readonly geo: Geo;
  /** For a body from its first byte to its last, uploads excepted. Defaults to one minute. */
  readonly bodyTimeoutMs?: number;
  /** For each request. Defaults to those of `spec/limits.ts`. */
  readonly timeouts?: Timeouts;
  /** Receives one line per request. Defaults to the service's log. */
  readonly requestLog?: Logger;
  /** Counts them for the operator. */
  readonly requests?: RequestMetrics;
  /** Whether the database responds and accepts writes. */
  readonly ready: () => Promise<boolean>;
  /** Awaited before each request, after it has an id. */
  readonly beforeRequest?: () => Promise<void>;
  /** Whether the process stops: responses ask clients to close their connections. */
  readonly isStopping?: () => boolean;
  /** Event streams that wake with the workers. The default instance only polls. */
  readonly streams?: EventStreams;
  /** Absent on a live database. */
  readonly sandbox?: SandboxAccess & { readonly control: SandboxControl };
}

const HEADERS_TIMEOUT_MS = 20_000;
/** For a whole request. An upload of 4 GiB may be slow, and detects stalls on its own. */
const REQUEST_TIMEOUT_MS = 12 * 3_600_000;
/** For any other body, from its first byte to its last. */
const BODY_TIMEOUT_MS = 60_000;
/** Above Node's limit for request headers, so that an id of any length is looked up normally. */
const PATH_PARAM_MAX_CHARS = 64 * 1024;

/** Builds the whole service over HTTP, ready to `listen`. */
export function buildHttpServer(options: HttpOptions): FastifyInstance {
  const { service, settings, beforeRequest, requests = new RequestMetrics() } = options;
  const edge: Edge = {
    service,
    settings,
    geo: options.geo,
    attempts: settings.rates.shared ? new SharedAttempts(service) : new MemoryAttempts(),
    lanes: new AccountLanes(),
    rules: new RulesCache(service),
    sandbox: options.sandbox?.control ?? null,
  };
  const streams = options.streams ?? new EventStreams(service);
  const v1 = createV1Edge(edge, streams);
  const newRequestId = () => formatId('request', newId(service.clock.now()));
  const malformedContext = { newRequestId, log: service.log };
  const app = fastify({
    genReqId: newRequestId,
    // While stopping, still serve requests on open connections, then close them.
    return503OnClosing: false,
    bodyLimit: LIMITS.formBodyMaxBytes,
    trustProxy: settings.trustedProxies.length > 0 ? [...settings.trustedProxies] : false,
    routerOptions: { maxParamLength: PATH_PARAM_MAX_CHARS },
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requireHostHeader: false,
      // Other upgrade requests are answered as if they had not asked for one.
      shouldUpgradeCallback: isConsoleUpgrade,
    },
    clientErrorHandler: (error, socket) =>
      rejectSocket(
        socket,
        error.code,
        malformedContext,
        (error as { rawPacket?: unknown }).rawPacket as Buffer | undefined,
      ),
    // Only paths that cannot be decoded reach this. The framework's own message would repeat the path.
    frameworkErrors: (_error, request, reply: FastifyReply) => {
      reply.headers(commonHeaders(settings, request));
      if (/^\/v1\//.test(request.url)) return void sendMalformedPathError(v1, request, reply);
      const failure = new Failure('bad_request', {}, 'The path could not be decoded.');
      reply.send(prepareErrorResponse(edge, failure, request, reply));
    },
  });
  handleOddRequests(app.server, malformedContext);
  const endConsoles = handleUpgrades(app.server, { edge, newRequestId, beforeRequest });
  guardAgainstOverload(app, { service, settings, newRequestId, requests });
  app.addHook('preClose', endConsoles);
  app.addHook('preClose', () => streams.close());
  addHooks(app, settings, { ...options, requests });
  addDeadlines(app, options.timeouts ?? { readMs: LIMITS.readTimeoutMs, writeMs: LIMITS.writeTimeoutMs });
  if (beforeRequest) {
    app.addHook('onRequest', async ({ routeOptions: { config } }) => {
      if (!config.stateless) await beforeRequest();
    });
  }
  // Each surface declares the bodies that it parses. An unknown path parses none.
  app.removeAllContentTypeParsers();
  app.setErrorHandler((error, request, reply) =>
    reply.send(prepareErrorResponse(edge, error, request, reply)),
  );
  app.setNotFoundHandler((request, reply) => handleNotFound(edge, request, reply));
  app.register(fastifyCookie);
  registerSurfaces(app, edge, v1, options);
  return app;
}

function guardAgainstOverload(
  app: FastifyInstance,
  {
    service,
    settings,
    newRequestId,
    requests,
  }: Pick<HttpOptions, 'service' | 'settings'> & {
    readonly newRequestId: () => string;
    readonly requests: RequestMetrics;
  },
): void {
  const { log } = service;
  const { siteName, mode } = service.settings;
  const { overload, site: own } = settings;
  const { lagMs, stop } = measureLag();
  app.addHook('onClose', async () => stop());
  const site = { brand: brandOf(siteName, own), sandbox: mode === 'sandbox', assets: assetsOf(own) };
  guardServer(app.server, new LoadGate(overload, { lagMs }), { newRequestId, log, site, requests });
}

/** Registers each surface in its own scope. */
function registerSurfaces(
  app: FastifyInstance,
  edge: Edge,
  v1: V1Edge,
  { ready, sandbox }: Pick<HttpOptions, 'ready' | 'sandbox'>,
): void {
  app.register(async (scope) => registerSessionSurface(scope, edge));
  app.register(async (scope) => registerRestSurface(scope, v1), { prefix: '/v1' });
  app.register(async (scope) => registerPanel(scope, edge));
  app.register(async (scope) => registerLive(scope, v1));
  app.register(async (scope) => registerConsolePages(scope, edge));
  app.register(async (scope) => registerHealth(scope, ready));
  if (sandbox) app.register(async (scope) => registerSandboxRoutes(scope, sandbox.control, sandbox));
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its body may take hours; the handler detects stalls. */
    readonly slowBody?: true;
    /** It answers without the database, so nothing is awaited before it. */
    readonly stateless?: true;
  }
}

function createV1Edge(edge: Edge, streams: EventStreams): V1Edge {
  const { rates } = edge.settings;
  return {
    ...edge,
    buckets: { rules: rates, memory: rates.shared ? null : new MemoryBuckets() },
    tokenFailures: new MemoryAttempts(),
    streams,
  };
}

function addHooks(
  app: FastifyInstance,
  settings: HttpSettings,
  options: HttpOptions & { readonly requests: RequestMetrics },
): void {
  const { service, requests, requestLog: log = service.log, bodyTimeoutMs = BODY_TIMEOUT_MS } = options;
  const { isStopping = () => false } = options;
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders(settings, request));
    if (!request.routeOptions.config.slowBody) enforceBodyTimeout(request.raw, bodyTimeoutMs);
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      fail('bad_request', {}, 'Send a Host header.');
    }
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isStopping()) reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    drainRequest(request.raw);
    // The pattern, never the URL: a query may contain secrets.
    const { url: route = null, config } = request.routeOptions;
    const { method, id: requestId } = request;
    const { statusCode: status, elapsedTime } = reply;
    requests.count(method, route, status, elapsedTime, !config.untimed && !config.slowBody);
    const durationMs = Math.round(elapsedTime);
    log.info({ method, route, status, durationMs, requestId }, 'request');
    done();
  });
}

/** A year. Without subdomains: they may be another host's, or served without TLS. */
const STRICT_TRANSPORT = { 'strict-transport-security': 'max-age=31536000' };

function commonHeaders(settings: HttpSettings, request: FastifyRequest): Record<string, string> {
  const headers = { 'x-request-id': request.id, 'x-content-type-options': 'nosniff' };
  return isServedSecurely(settings, request) ? { ...headers, ...STRICT_TRANSPORT } : headers;
}

/** Answers 400 to a body that trickles in, because it holds a connection and its buffers. */
function enforceBodyTimeout(request: IncomingMessage, bodyTimeoutMs: number): void {
  if (request.complete || request.method === 'GET') return;
  const timer = setTimeout(() => {
    const timeoutError = new InvalidRequest([], 'The body took too long to arrive.');
    // The reader answers. Without a listener, the error would end the process.
    if (request.listenerCount('error') > 0) request.emit('error', timeoutError);
    else request.destroy();
  }, bodyTimeoutMs);
  timer.unref();
  const clearTimer = () => clearTimeout(timer);
  request.once('end', clearTimer).once('close', clearTimer);
}

function registerHealth(scope: FastifyInstance, ready: () => Promise<boolean>): void {
  scope.get('/healthz', { config: { stateless: true } }, async () => ({ ok: true }));
  scope.get('/readyz', { config: { stateless: true, untimed: true } }, async () => {
    if (!(await ready())) fail('maintenance', { retry_after_s: 1 });
    return { ok: true };
  });
}

/** Sends a page to a browser that asks for one, and JSON to every other client. */
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
