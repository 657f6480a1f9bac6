/** A webhook receiver on this machine: HTTPS, one behavior per path, and a record of received requests. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Authority, createAuthority } from './certificates.ts';

const COUNT_TIMEOUT_MS = 60_000;

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
}

/** Responds to a request whose body has arrived. */
export type ReceiverBehavior = (response: ServerResponse, received: ReceivedRequest) => void;

export const respondWith =
  (status: number, headers: Record<string, string> = {}): ReceiverBehavior =>
  (response) =>
    response.writeHead(status, headers).end();
export const hang: ReceiverBehavior = () => undefined;
export const reset: ReceiverBehavior = (response) => response.socket?.destroy();
/** Sends one byte at a time, in the head or, after a status line, in the body. */
export const drip =
  (part: 'head' | 'body', everyMs = 20): ReceiverBehavior =>
  (response) => {
    const { socket } = response;
    socket?.write(
      part === 'head'
        ? 'HTTP/1.1 200 OK\r\nX-Drip: '
        : 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const timer = setInterval(() => socket?.write(part === 'head' ? 'x' : '1\r\nx\r\n'), everyMs);
    socket?.once('close', () => clearInterval(timer));
  };

export class WebhookReceiver {
  readonly authority: Authority;
  readonly received: ReceivedRequest[] = [];
  /** Turn off when a test sends more requests than are worth storing. */
  recordsRequests = true;
  readonly #behaviors = new Map<string, ReceiverBehavior>();
  readonly #waiters = new Set<() => void>();
  /** Requests in flight, and their maximum so far, by path. */
  readonly #inFlight = new Map<string, number>();
  readonly maxInFlight = new Map<string, number>();
  #port = 0;
  #stop: () => Promise<void> = async () => undefined;

  private constructor(authority: Authority) {
    this.authority = authority;
  }

  static async start(
    authority = createAuthority(),
    names = ['localhost', '127.0.0.1', '::1'],
    options: { readonly expired?: boolean } = {},
  ): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(authority);
    const { cert, key } = authority.issue(names, options);
    const server = createServer({ cert, key }, (request, response) => receiver.#handle(request, response));
    // A client that hangs up or rejects the certificate is not a test failure.
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    receiver.#port = (server.address() as AddressInfo).port;
    receiver.#stop = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    return receiver;
  }

  /** Returns the URL of a path, which responds 200 until it is given another behavior. */
  url(path: string, behavior?: ReceiverBehavior): string {
    if (behavior || !this.#behaviors.has(path)) this.#behaviors.set(path, behavior ?? respondWith(200));
    return `https://127.0.0.1:${this.#port}${path}`;
  }

  requestsTo(path: string): ReceivedRequest[] {
    return this.received.filter((request) => request.path === path);
  }

  /** Resolves when the path has received this many requests; fails on timeout. */
  async waitForCount(path: string, count: number): Promise<void> {
    let isLate = false;
    const deadline = setTimeout(() => {
      isLate = true;
      for (const notify of this.#waiters) notify();
    }, COUNT_TIMEOUT_MS);
    while (this.requestsTo(path).length < count && !isLate) {
      await new Promise<void>((resolve) => this.#waiters.add(resolve));
    }
    clearTimeout(deadline);
    assert.ok(!isLate, `${path} received ${this.requestsTo(path).length} of ${count} requests`);
  }

  async stop(): Promise<void> {
    await this.#stop();
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    const inFlight = (this.#inFlight.get(path) ?? 0) + 1;
    this.#inFlight.set(path, inFlight);
    this.maxInFlight.set(path, Math.max(inFlight, this.maxInFlight.get(path) ?? 0));
    response.once('close', () => this.#inFlight.set(path, (this.#inFlight.get(path) ?? 0) - 1));
    response.on('error', () => undefined);
    const parts: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const received = { path, headers: request.headers, body, atMs: performance.now() };
      if (this.recordsRequests) this.received.push(received);
      for (const notify of this.#waiters) notify();
      this.#waiters.clear();
      (this.#behaviors.get(path) ?? respondWith(404))(response, received);
    });
  }
}
