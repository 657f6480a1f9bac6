/**
 * A proxy between a driver and its node that overrides some responses: other node implementations, or
 * failures.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export interface RpcCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface RpcError {
  readonly error: { readonly code: number; readonly message: string };
}

/** geth's error for a missing method. */
export function methodNotFound(method: string): RpcError {
  return { error: { code: -32601, message: `the method ${method} does not exist/is not available` } };
}

/** Undefined: forward the call to the node. */
type Answer = { readonly result: unknown } | RpcError | undefined;

export class RpcProxy {
  /** Calls that it received. */
  readonly calls: RpcCall[] = [];
  /** Number of calls in each request. */
  readonly batches: number[] = [];
  answer: (call: RpcCall) => Promise<Answer> | Answer = () => undefined;
  readonly #nodeUrl: string | null;
  readonly #server: Server;

  private constructor(nodeUrl: string | null) {
    this.#nodeUrl = nodeUrl;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  /** Without a node, all calls are answered here. */
  static async start(nodeUrl: string | null = null): Promise<RpcProxy> {
    const proxy = new RpcProxy(nodeUrl);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString()) as RpcCall | RpcCall[];
    const calls = Array.isArray(body) ? body : [body];
    this.calls.push(...calls);
    this.batches.push(calls.length);
    const answers = [];
    for (const call of calls) answers.push(await this.#answerCall(call));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
  }

  async #answerCall(call: RpcCall): Promise<object> {
    const override = await this.answer(call);
    if (override !== undefined) return { jsonrpc: '2.0', id: call.id, ...override };
    if (this.#nodeUrl === null) return { jsonrpc: '2.0', id: call.id, ...methodNotFound(call.method) };
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(call);
    return (await (await fetch(this.#nodeUrl, { method: 'POST', headers, body })).json()) as object;
  }
}
