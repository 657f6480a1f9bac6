/** A server that responds as a test says, instead of the service. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Certificate } from '../../../support/certificates.ts';

export interface StubRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Responds to a request. `null`: closes the connection without a response. */
export type Respond = (request: StubRequest) => StubResponse | null;
export interface StubResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | string;
}

export interface StubService {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  respond: Respond;
  /** Returns and forgets the requests so far. */
  takeRequests(): StubRequest[];
  stop(): Promise<void>;
}

export async function startStubService(certificate?: Certificate): Promise<StubService> {
  let requests: StubRequest[] = [];
  const stub: StubService = {
    get host() {
      return `127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    respond: () => null,
    takeRequests: () => {
      const taken = requests;
      requests = [];
      return taken;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const handle = async (incoming: AsyncIterable<Buffer> & RequestHead, response: ServerResponse) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const { method = '', url = '', headers } = incoming;
    const request = { method, url, headers, body };
    requests.push(request);
    send(response, stub.respond(request));
  };
  const server = certificate ? createTlsServer(certificate, handle) : createServer(handle);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return stub;
}

interface RequestHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

function send(response: ServerResponse, answer: StubResponse | null): void {
  if (answer === null) {
    response.destroy();
    return;
  }
  const { status, headers = {}, body = '' } = answer;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** An error of the API. */
export function refusal(status: number, code: string, errors: readonly object[] = []): StubResponse {
  return { status, body: { error: { code, message: `Refused: ${code}.`, errors, request_id: 'req_1' } } };
}
