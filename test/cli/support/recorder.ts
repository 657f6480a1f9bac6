/** A proxy in front of a service that records the API operations of its requests. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>;
}

interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: RegExp;
}

/** All operations of the OpenAPI document. */
export const OPERATIONS: readonly Operation[] = operationsOf(
  JSON.parse(readFileSync(new URL('../../../openapi/v1.json', import.meta.url), 'utf8')) as Document,
);

function operationsOf({ paths }: Document): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId: id }]) => {
      const pattern = new RegExp(`^/v1${path.replace(/\{\w+\}/g, '[^/]+')}$`);
      return id === undefined ? [] : [{ id, method: method.toUpperCase(), path: pattern }];
    }),
  );
}

export interface Recorder {
  readonly url: string;
  /** Returns and clears the recorded operations; `METHOD path` for a request that is not in the document. */
  readonly takeRecorded: () => string[];
  readonly stop: () => Promise<void>;
}

/** `isRefused`: the proxy itself responds with 502 to requests of this operation. */
export async function startRecorder(
  target: string,
  isRefused: (operation: string) => boolean = () => false,
): Promise<Recorder> {
  let recorded: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const operation = operationOf(incoming);
    recorded.push(operation);
    if (isRefused(operation)) outgoing.writeHead(502).end();
    else forward(target, incoming, outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeRecorded: () => {
      const all = recorded;
      recorded = [];
      return all;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function operationOf({ method = '', url = '' }: IncomingMessage): string {
  const { pathname } = new URL(url, 'http://service.test');
  const found = OPERATIONS.find((one) => one.method === method && one.path.test(pathname));
  return found?.id ?? `${method} ${pathname}`;
}

function forward(target: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, headers } = incoming;
  const onward = request(new URL(incoming.url ?? '/', target), { method, headers }, (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    // An event stream sends its headers long before its first event.
    outgoing.flushHeaders();
    response.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  incoming.pipe(onward);
}
