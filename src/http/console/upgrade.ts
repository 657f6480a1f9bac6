/**
 * The WebSocket of a console: `GET /console/socket/<ticket>`. All checks run before the upgrade, so a
 * rejection is an ordinary JSON response. After it, bytes are forwarded (pipe.ts).
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Service } from '../../domain/context.ts';
import {
  type ConsoleGrant,
  checkConsoleAccess,
  connectConsole,
  redeemConsoleTicket,
} from '../../domain/servers/console.ts';
import { Failure, fail } from '../../kernel/fail.ts';
import { CONSOLE_PATHS } from '../../spec/paths.ts';
import { isCrossSite } from '../admission/csrf.ts';
import { toFailure } from '../errors.ts';
import { respondOnSocket } from '../malformed-requests.ts';
import type { Edge } from '../settings.ts';
import { v1ErrorResponse } from '../v1/error-response.ts';
import { OpenConsoles } from './open-consoles.ts';
import { type PipeEndReason, type PipeLimits, pipe } from './pipe.ts';

/** The largest message of a viewer. noVNC sends at most ten kilobytes at once. */
const MESSAGE_MAX_BYTES = 64 * 1024;
/** The subprotocol that noVNC and similar viewers may request. */
const SUBPROTOCOL = 'binary';
/** The route in the log, without the ticket. */
const ROUTE = `${CONSOLE_PATHS.sockets}:ticket`;

export interface UpgradeOptions {
  readonly edge: Edge;
  readonly newRequestId: () => string;
  /** Awaited before each upgrade, as before each request. */
  readonly beforeRequest?: (() => Promise<void>) | undefined;
  /** Defaults to `PIPE_LIMITS`. */
  readonly limits?: PipeLimits;
}

/** Whether a request is for a console's WebSocket. All others are answered without an upgrade. */
export function isConsoleUpgrade({ method, url, headers }: IncomingMessage): boolean {
  const isWebSocket = headers.upgrade?.toLowerCase() === 'websocket';
  return method === 'GET' && isWebSocket && url?.startsWith(CONSOLE_PATHS.sockets) === true;
}

/** Handles the server's upgrades. Returns a function that ends all consoles when the server stops. */
export function handleUpgrades(server: Server, options: UpgradeOptions): () => Promise<void> {
  const { log } = options.edge.service;
  const consoles = new OpenConsoles();
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MESSAGE_MAX_BYTES,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  const ids = new WeakMap<IncomingMessage, string>();
  sockets.on('headers', (lines, request) => lines.push(`X-Request-Id: ${ids.get(request)}`));
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const requestId = options.newRequestId();
    ids.set(request, requestId);
    const logStatus = (status: number) =>
      log.info({ method: request.method, route: ROUTE, status, requestId }, 'request');
    const upgrade = (onUpgraded: (viewer: WebSocket) => void) => {
      logStatus(101);
      sockets.handleUpgrade(request, socket, head, onUpgraded);
    };
    openConsoleSocket(options, consoles, { request, socket, requestId, upgrade }).catch((error: unknown) => {
      const failure = toFailure(options.edge, error);
      const level = failure.code === 'internal' ? 'error' : 'warn';
      if (failure !== error) log[level]({ err: error, requestId }, 'opening a console failed');
      const { status, body } = v1ErrorResponse(failure, requestId);
      logStatus(status);
      respondOnSocket(socket, { status, body, requestId });
    });
  });
  return () => consoles.close();
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly requestId: string;
  /** Completes the WebSocket handshake. */
  readonly upgrade: (then: (viewer: WebSocket) => void) => void;
}

async function openConsoleSocket(
  { edge, beforeRequest, limits }: UpgradeOptions,
  consoles: OpenConsoles,
  { request, socket, requestId, upgrade }: Upgrade,
): Promise<void> {
  // A client that leaves during the checks gets no response.
  socket.on('error', () => socket.destroy());
  const endHandshake = consoles.beginHandshake(socket);
  try {
    checkHandshake(request, edge.settings.baseUrl);
    await beforeRequest?.();
    const ticket = request.url?.slice(CONSOLE_PATHS.sockets.length).split('?')[0] ?? '';
    const admission = await redeemConsoleTicket(edge.service, ticket);
    const release = consoles.reserve(admission);
    let running = false;
    try {
      const screen = await connectConsole(edge.service, admission.serverId);
      upgrade((viewer) => {
        running = true;
        runConsole(edge, consoles, { viewer, screen, admission, requestId, release, limits });
      });
      if (!running) screen.destroy();
    } finally {
      if (!running) release();
    }
  } finally {
    endHandshake();
  }
}

function runConsole(
  { service }: Edge,
  consoles: OpenConsoles,
  parts: {
    readonly viewer: WebSocket;
    readonly screen: Duplex;
    readonly admission: ConsoleGrant;
    readonly requestId: string;
    readonly release: () => void;
    readonly limits: PipeLimits | undefined;
  },
): void {
  const { viewer, screen, admission, requestId, release, limits } = parts;
  const startedAtMs = performance.now();
  const { readOnly } = admission;
  const review = () => reviewOrNull(service, admission, requestId);
  const connection = consoles.track(pipe(viewer, screen, { readOnly, review, limits }));
  connection.ended.then((reason) => {
    release();
    const durationMs = Math.round(performance.now() - startedAtMs);
    service.log.info({ requestId, durationMs, why: reason }, 'console closed');
  });
}

/**
 * Returns the reason to end, or null. During a database outage the console stays open until the next check.
 */
async function reviewOrNull(
  service: Service,
  admission: ConsoleGrant,
  requestId: string,
): Promise<PipeEndReason | null> {
  try {
    return await checkConsoleAccess(service, admission);
  } catch (error) {
    service.log.warn({ err: error, requestId }, 'checking access to an open console failed');
    return null;
  }
}

const WEBSOCKET_KEY = /^[+/0-9A-Za-z]{22}==$/;

/** Rejects an invalid handshake before the ticket is used up. */
function checkHandshake(request: IncomingMessage, baseUrl: string | null): void {
  // Before Node 24.9, every upgrade arrives here.
  if (!isConsoleUpgrade(request)) fail('bad_request', {}, 'This path does not support an upgrade.');
  const { headers } = request;
  const key = headers['sec-websocket-key'];
  if (headers['sec-websocket-version'] !== '13' || typeof key !== 'string' || !WEBSOCKET_KEY.test(key)) {
    fail('bad_request', {}, 'This is not a WebSocket handshake of version 13.');
  }
  if (headers.origin === 'null' || isCrossSite(headers, baseUrl)) {
    throw new Failure('invalid_csrf', {}, 'Open the console from its own page.');
  }
}
