/** A request straight into the app. Of an answer that stays open it reads how it begins, and leaves. */
import { once } from 'node:events';
import type { FastifyInstance, InjectOptions } from 'fastify';

export interface Injected {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export async function inject(app: FastifyInstance, options: InjectOptions): Promise<Injected> {
  const response = await app.inject({ ...options, payloadAsStream: true });
  const given = Object.entries(response.headers).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one)]),
  );
  const headers = new Headers(given);
  const chunks: Buffer[] = [];
  const open = isStream(headers) && options.method !== 'HEAD';
  for await (const chunk of response.stream()) {
    chunks.push(chunk as Buffer);
    if (open) break;
  }
  if (open) {
    response.raw.res.destroy();
    if (!response.raw.res.closed) await once(response.raw.res, 'close');
  }
  return { status: response.statusCode, headers, text: Buffer.concat(chunks).toString('utf8') };
}

/** Whether an answer stays open. */
export function isStream(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}
