/** A proxy between the CLI and the service that refuses some requests, or runs code before one. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ProxiedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
}

/** Undefined: the request is forwarded to the service. */
type Interceptor = (request: ProxiedRequest) => Promise<Refusal | undefined>;
interface Refusal {
  readonly status: number;
  readonly code: string;
}

export interface Proxy {
  readonly url: string;
  /** Throws the error of the interceptor, if any. */
  readonly close: () => Promise<void>;
}

export async function startProxy(target: string, intercept: Interceptor): Promise<Proxy> {
  let failed: { readonly error: unknown } | undefined;
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', headers, url = '/' } = incoming;
    const refused = await intercept({ method, path: url.split('?')[0] ?? url }).catch((error: unknown) => {
      failed ??= { error };
      return { status: 500, code: 'internal' };
    });
    if (refused) {
      const error = { code: refused.code, message: 'Refused.', errors: [], request_id: 'req_test' };
      outgoing.writeHead(refused.status, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ error }));
      return;
    }
    const onward = request(new URL(url, target), { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (failed) throw failed.error;
    },
  };
}
