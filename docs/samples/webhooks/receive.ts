// Receives webhooks: WEBHOOK_SECRET=whsec_… node receive.ts
// Needs Node 22.18 or later, no packages. Set TLS_CERT and TLS_KEY to serve HTTPS.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { pathToFileURL } from 'node:url';

const TOLERANCE_S = 300;
const BODY_MAX_BYTES = 1024 * 1024;

/** Returns true if the unmodified `body` was signed with `secret` within five minutes of `nowMs`. */
export function verify(secret: string, header: string, body: Buffer, nowMs = Date.now()): boolean {
  const parts = new Map(header.split(',').map((part) => part.split('=', 2) as [string, string]));
  const t = parts.get('t') ?? '';
  const v1 = parts.get('v1') ?? '';
  if (!/^\d{1,12}$/.test(t) || !/^[0-9a-f]{64}$/.test(v1)) return false;
  if (Math.abs(Math.floor(nowMs / 1000) - Number(t)) > TOLERANCE_S) return false;
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(v1, 'hex'));
}

/** IDs of processed events. In production, use a table with a unique key, in the transaction of your work. */
const handled = new Set<string>();

async function receive(secret: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const respond = (status: number) => void response.writeHead(status).end();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) return respond(413);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (!verify(secret, String(request.headers['x-service-signature'] ?? ''), body)) return respond(400);
  const event = JSON.parse(body.toString('utf8')) as { id: string; type: string; data: object };
  if (!handled.has(event.id)) {
    handled.add(event.id);
    process.stdout.write(`${event.id} ${event.type}\n`);
  }
  respond(204);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { WEBHOOK_SECRET: secret, TLS_CERT: cert, TLS_KEY: key, PORT: port = '9000' } = process.env;
  if (!secret) throw new Error('set WEBHOOK_SECRET');
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    receive(secret, request, response).catch(() => response.destroy());
  };
  const server =
    cert && key
      ? createHttps({ cert: readFileSync(cert), key: readFileSync(key) }, handler)
      : createHttp(handler);
  server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`listening on ${port}\n`));
}
