/** A service before API 1.7, as far as the CLI waits for it: it has no actions. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EarlierService {
  readonly url: string;
  /** Paths that it does not know and that were asked for. */
  readonly unknown: readonly string[];
  readonly close: () => Promise<void>;
}

export async function startEarlierService(target: string): Promise<EarlierService> {
  const unknown: string[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', url = '/' } = incoming;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const path = url.split('?')[0] ?? url;
    if (/\/actions|\/events\/stream|\/quotes/.test(path)) {
      unknown.push(path);
      const error = { code: 'not_found', message: 'Not found.', errors: [], request_id: 'req_test' };
      outgoing.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
      return;
    }
    const headers = Object.entries(incoming.headers).filter(
      ([name]) => name === 'content-type' || name === 'authorization' || name === 'idempotency-key',
    ) as [string, string][];
    const body = method === 'GET' || chunks.length === 0 ? null : Buffer.concat(chunks);
    const response = await fetch(new URL(url, target), { method, headers, body });
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    outgoing.writeHead(response.status, { 'content-type': type });
    outgoing.end(type.includes('json') ? withoutActions(text) : text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    unknown,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The audit log has an `action` too, which is a text. */
function withoutActions(text: string): string {
  const drop = (key: string, value: unknown) =>
    key === 'action' && typeof value !== 'string' ? undefined : value;
  return text === '' ? text : JSON.stringify(JSON.parse(text, drop));
}
