/** A receiver of webhooks on this machine: https, with one behaviour for each path, and a memory of what came. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Authority, makeAuthority } from './certificates.ts';

const COUNT_MAX_MS = 60_000;

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
}

/** Answers a request whose body has come. */
export type Behaviour = (response: ServerResponse, received: Received) => void;

export const answer =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end();
export const hang: Behaviour = () => undefined;
export const reset: Behaviour = (response) => response.socket?.destroy();
/** A byte now and then: of the head, or of the body after a status line. */
export const drip =
  (part: 'head' | 'body', everyMs = 20): Behaviour =>
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

export class Receiver {
  readonly authority: Authority;
  readonly received: Received[] = [];
  /** Off where more comes than is worth remembering. */
  remembers = true;
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #waiting = new Set<() => void>();
  /** Requests under way, and the most there ever were, by path. */
  readonly #underWay = new Map<string, number>();
  readonly most = new Map<string, number>();
  #port = 0;
  #stop: () => Promise<void> = async () => undefined;

  private constructor(authority: Authority) {
    this.authority = authority;
  }

  static async start(
    authority = makeAuthority(),
    names = ['localhost', '127.0.0.1', '::1'],
    options: { readonly expired?: boolean } = {},
  ): Promise<Receiver> {
    const receiver = new Receiver(authority);
    const { cert, key } = authority.issue(names, options);
    const server = createServer({ cert, key }, (request, response) => receiver.#take(request, response));
    // Who hangs up in the middle, or does not like the certificate, is no failure of a test.
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    receiver.#port = (server.address() as AddressInfo).port;
    receiver.#stop = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    return receiver;
  }

  /** The URL of a path, which is answered 200 until it is given another behaviour. */
  url(path: string, behaviour?: Behaviour): string {
    if (behaviour || !this.#behaviours.has(path)) this.#behaviours.set(path, behaviour ?? answer(200));
    return `https://127.0.0.1:${this.#port}${path}`;
  }

  to(path: string): Received[] {
    return this.received.filter((one) => one.path === path);
  }

  /** Resolves when so much has come to the path; fails where it does not come. */
  async count(path: string, count: number): Promise<void> {
    let isLate = false;
    const deadline = setTimeout(() => {
      isLate = true;
      for (const rise of this.#waiting) rise();
    }, COUNT_MAX_MS);
    while (this.to(path).length < count && !isLate) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
    clearTimeout(deadline);
    assert.ok(!isLate, `${path} got ${this.to(path).length} requests of ${count}`);
  }

  async stop(): Promise<void> {
    await this.#stop();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    const underWay = (this.#underWay.get(path) ?? 0) + 1;
    this.#underWay.set(path, underWay);
    this.most.set(path, Math.max(underWay, this.most.get(path) ?? 0));
    response.once('close', () => this.#underWay.set(path, (this.#underWay.get(path) ?? 0) - 1));
    response.on('error', () => undefined);
    const parts: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const received = { path, headers: request.headers, body, atMs: performance.now() };
      if (this.remembers) this.received.push(received);
      for (const rise of this.#waiting) rise();
      this.#waiting.clear();
      (this.#behaviours.get(path) ?? answer(404))(response, received);
    });
  }
}
