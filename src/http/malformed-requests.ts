/**
 * Answers input that never becomes a request: malformed HTTP, oversized headers, a client that is too slow.
 * The response is JSON with a request id, and the status is always 400.
 */
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Failure } from '../kernel/fail.ts';
import type { Logger } from '../kernel/logger.ts';
import { errorBody } from './errors.ts';
import { v1ErrorResponse } from './v1/error-response.ts';

export interface MalformedRequestContext {
  readonly newRequestId: () => string;
  readonly log: Logger;
}

const ERROR_MESSAGES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive.',
};

/** Answers 400 on the raw socket and closes it. */
export function rejectSocket(
  socket: Duplex,
  errorCode: string,
  { newRequestId, log }: MalformedRequestContext,
  rawPacket?: Buffer,
): void {
  const requestId = newRequestId();
  log.info({ status: 400, errorCode, requestId }, 'unreadable request');
  const message = ERROR_MESSAGES[errorCode] ?? 'The request is not valid HTTP.';
  const failure = new Failure('bad_request', {}, message);
  const requestLine = rawPacket?.toString('latin1', 0, 64) ?? '';
  const session = isSessionRequest(requestLine);
  const body = session ? errorBody(failure) : v1ErrorResponse(failure, requestId).body;
  const bodiless = requestLine.startsWith('HEAD ');
  respondOnSocket(socket, { status: 400, body, requestId, bodiless, anyOrigin: !session });
}

interface SocketResponse {
  readonly status: number;
  readonly body: object;
  readonly requestId: string;
  /** For HEAD requests: sends the length of the body without the body. */
  readonly bodiless?: boolean;
  /** Whether scripts of any origin may read it, as for REST responses. */
  readonly anyOrigin?: boolean;
}

/** Writes a JSON response to the raw socket and closes it. */
export function respondOnSocket(
  socket: Duplex,
  { status, body, requestId, bodiless = false, anyOrigin = false }: SocketResponse,
): void {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-Id: ${requestId}`,
    ...(anyOrigin ? ['Access-Control-Allow-Origin: *'] : []),
    'Connection: close',
  ];
  if (socket.writable)
    socket.end(`${head.join('\r\n')}\r\n\r\n${bodiless ? '' : text}`, () => socket.destroy());
  else socket.destroy();
}

/**
 * Whether the visible part of the request line names the session surface. All others get the REST envelope.
 */
function isSessionRequest(requestLine: string): boolean {
  return /^[A-Z]{1,10} \/[a-z-]{1,20}\.php/.test(requestLine);
}

/** Routes requests to our handlers that Node would answer itself, with another status or not at all. */
export function handleOddRequests(server: Server, parts: MalformedRequestContext): void {
  // Node answers 417 to an unknown Expect header. Nothing here depends on that header.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket) => rejectSocket(socket, 'CONNECT', parts));
}
