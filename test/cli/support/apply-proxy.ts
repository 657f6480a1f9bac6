/** Stands between the command and the service: refuses some calls, or lets something else happen before one. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ProxiedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
}

/** Undefined: it goes on to the service. */
type Interceptor = (
  asked: ProxiedRequest,
) => Promise<{ readonly status: number; readonly code: string } | undefined>;

export interface Proxy {
  readonly url: string;
  /** Fails with what failed between. */
  readonly close: () => Promise<void>;
}

export async function startProxy(target: string, intercept: Interceptor): Promise<Proxy> {
  let failed: { readonly error: unknown } | undefined;
  const server = createServer(async (asked, answer) => {
    const { method = 'GET', headers, url = '/' } = asked;
    const refused = await intercept({ method, path: url.split('?')[0] ?? url }).catch((error: unknown) => {
      failed ??= { error };
      return { status: 500, code: 'internal' };
    });
    if (refused) {
      const error = { code: refused.code, message: 'Refused.', errors: [], request_id: 'req_test' };
      answer.writeHead(refused.status, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ error }));
      return;
    }
    const onward = request(new URL(url, target), { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
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
