/** Sends a request directly to the app. Reads only the first chunk of an event stream, then closes it. */
import { once } from 'node:events';
import type { FastifyInstance, InjectOptions } from 'fastify';

export interface InjectedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export async function inject(app: FastifyInstance, options: InjectOptions): Promise<InjectedResponse> {
  const response = await app.inject({ ...options, payloadAsStream: true });
  const headerEntries = Object.entries(response.headers).flatMap(([name, value]) =>
    [value].flat().map((single): [string, string] => [name, String(single)]),
  );
  const headers = new Headers(headerEntries);
  const chunks: Buffer[] = [];
  const isOpen = isEventStream(headers) && options.method !== 'HEAD';
  for await (const chunk of response.stream()) {
    chunks.push(chunk as Buffer);
    if (isOpen) break;
  }
  if (isOpen) {
    response.raw.res.destroy();
    if (!response.raw.res.closed) await once(response.raw.res, 'close');
  }
  return { status: response.statusCode, headers, text: Buffer.concat(chunks).toString('utf8') };
}

/** Whether the response is an event stream, which stays open. */
export function isEventStream(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}
