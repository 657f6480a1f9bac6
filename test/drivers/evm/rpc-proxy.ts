/** Something between a driver and its node, which answers some calls in its own way: nodes of another make, or in trouble. */
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

/** What geth says of what it does not have. */
export function methodNotFound(method: string): RpcError {
  return { error: { code: -32601, message: `the method ${method} does not exist/is not available` } };
}

/** Undefined: the node is asked. */
type Answer = { readonly result: unknown } | RpcError | undefined;

export class RpcProxy {
  /** What was asked of it. */
  readonly calls: RpcCall[] = [];
  /** How many calls each request had. */
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

  /** Without a node all is answered here. */
  static async start(nodeUrl: string | null = null): Promise<RpcProxy> {
    const between = new RpcProxy(nodeUrl);
    between.#server.listen(0, '127.0.0.1');
    await once(between.#server, 'listening');
    return between;
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
    const asked = JSON.parse(Buffer.concat(parts).toString()) as RpcCall | RpcCall[];
    const calls = Array.isArray(asked) ? asked : [asked];
    this.calls.push(...calls);
    this.batches.push(calls.length);
    const answers = [];
    for (const call of calls) answers.push(await this.#answerCall(call));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]));
  }

  async #answerCall(call: RpcCall): Promise<object> {
    const own = await this.answer(call);
    if (own !== undefined) return { jsonrpc: '2.0', id: call.id, ...own };
    if (this.#nodeUrl === null) return { jsonrpc: '2.0', id: call.id, ...methodNotFound(call.method) };
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(call);
    return (await (await fetch(this.#nodeUrl, { method: 'POST', headers, body })).json()) as object;
  }
}
