/** A JSON-RPC server with a password, in this process. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';

export interface RpcRequest {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** An error response to a call. */
export class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function basicAuth(password: string): string {
  return `Basic ${Buffer.from(`user:${password}`).toString('base64')}`;
}

export class RpcServer {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** A string `amount:1.50000000` becomes that number in the JSON, with all its digits. */
  static async start(password: string, answer: (call: RpcRequest) => unknown): Promise<RpcServer> {
    // A huge answer keeps this process busy for longer than an idle connection would be kept.
    const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
      const body = await bodyOf(request);
      if (request.headers.authorization !== basicAuth(password)) return response.writeHead(401).end();
      const calls = JSON.parse(body) as RpcRequest | RpcRequest[];
      const answered = Array.isArray(calls)
        ? calls.map((each) => answerOf(each, answer))
        : answerOf(calls, answer);
      response.end(JSON.stringify(answered).replaceAll(/"amount:([^"]+)"/g, '$1'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return new RpcServer(server, `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

function answerOf(call: RpcRequest, answer: (call: RpcRequest) => unknown): object {
  const { id } = call;
  try {
    return { jsonrpc: '2.0', result: answer(call), id };
  } catch (error) {
    const code = error instanceof RpcError ? error.code : -1;
    return { jsonrpc: '2.0', error: { code, message: String((error as Error).message) }, id };
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
