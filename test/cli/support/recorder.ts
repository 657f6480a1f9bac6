/** A proxy in front of a service that remembers which operations of the contract went through it. */
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

/** Every operation of the document. */
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
  /** What came since the last time it was asked; `METHOD path` where the document has no such operation. */
  readonly takeRecorded: () => string[];
  readonly stop: () => Promise<void>;
}

/** `refuses`: calls of this operation are answered 502 by the proxy itself. */
export async function startRecorder(
  target: string,
  isRefused: (operation: string) => boolean = () => false,
): Promise<Recorder> {
  let recorded: string[] = [];
  const server = createServer((asked, answer) => {
    const operation = operationOf(asked);
    recorded.push(operation);
    if (isRefused(operation)) answer.writeHead(502).end();
    else forward(target, asked, answer);
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

function forward(target: string, asked: IncomingMessage, answer: ServerResponse): void {
  const { method, headers } = asked;
  const onward = request(new URL(asked.url ?? '/', target), { method, headers }, (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    // An event stream sends its head long before its first event.
    answer.flushHeaders();
    response.pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  answer.on('close', () => onward.destroy());
  asked.pipe(onward);
}
