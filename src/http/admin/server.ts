/**
 * The operator's listener: the console, and the endpoints under /admin/v1. It is a server of its own, so that
 * nothing of it answers on the customers' port.
 */
import fastifyCookie from '@fastify/cookie';
import fastify, { type FastifyInstance } from 'fastify';
import { SharedAttempts } from '../../domain/sessions/attempts.ts';
import { formatId, newId } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import { LIMITS } from '../../spec/limits.ts';
import { addDeadlines, type Timeouts } from '../admission/deadlines.ts';
import { toFailure } from '../errors.ts';
import { registerAdminApi } from './api.ts';
import { createCarryOut } from './approved.ts';
import { type OwnMetrics, registerMetrics } from './metrics.ts';
import { registerConsole } from './pages.ts';
import type { AdminEdge } from './route.ts';

export interface AdminOptions extends Omit<AdminEdge, 'attempts' | 'carryOut'> {
  /** As for customers: proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** Receives one line per request. Defaults to the service's log. */
  readonly requestLog?: Logger;
  /** The customers' requests of this process, for /metrics. */
  readonly metrics: OwnMetrics;
  /** For each request. Defaults to those of `spec/limits.ts`. */
  readonly timeouts?: Timeouts;
  /** Whether the process stops: responses ask clients to close their connections. */
  readonly isStopping?: () => boolean;
}

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 60_000;

/** Builds the server, ready to `listen`. */
export function buildAdminServer(options: AdminOptions): FastifyInstance {
  const { requestLog, metrics, timeouts, trustedProxies, isStopping = () => false, ...given } = options;
  const attempts = new SharedAttempts(given.service);
  const edge: AdminEdge = { ...given, attempts, carryOut: createCarryOut(given.service, given.hosts) };
  const { service, settings } = edge;
  const log = requestLog ?? service.log;
  const app = fastify({
    genReqId: () => formatId('request', newId(service.clock.now())),
    return503OnClosing: false,
    bodyLimit: LIMITS.formBodyMaxBytes,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
  });
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({ ...HEADERS, 'x-request-id': request.id });
    if (settings.baseUrl?.startsWith('https:')) reply.header('strict-transport-security', 'max-age=31536000');
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isStopping()) reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? null;
    const durationMs = Math.round(reply.elapsedTime);
    log.info(
      { method: request.method, route, status: reply.statusCode, durationMs, requestId: request.id },
      'console request',
    );
    done();
  });
  addDeadlines(app, timeouts ?? { readMs: LIMITS.readTimeoutMs, writeMs: LIMITS.writeTimeoutMs });
  app.removeAllContentTypeParsers();
  app.setErrorHandler((error, _request, reply) => {
    reply.code(500).send({ error: toFailure(edge, error).code });
  });
  app.register(fastifyCookie);
  app.register(async (scope) => registerAdminApi(scope, edge), { prefix: '/admin/v1' });
  app.register(async (scope) => registerMetrics(scope, edge, metrics));
  app.register(async (scope) => registerConsole(scope, edge));
  return app;
}
