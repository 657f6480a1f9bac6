// Receives webhooks: WEBHOOK_SECRET=whsec_… node receive-sdk.ts
// Needs Node 22.18 or later and @skerry/sdk. Set TLS_CERT and TLS_KEY to serve HTTPS.
import { readFileSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type Event, verifyWebhook, WebhookVerificationError } from '@skerry/sdk';

const BODY_MAX_BYTES = 1024 * 1024;

/** IDs of processed events. In production, use a table with a unique key, in the transaction of your work. */
const handled = new Set<string>();

function handle(event: Event): void {
  if (handled.has(event.id)) return;
  handled.add(event.id);
  process.stdout.write(`${event.id} ${event.type}\n`);
}

async function receive(secret: string, request: IncomingMessage): Promise<number> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) return 413;
    chunks.push(chunk);
  }
  try {
    handle(await verifyWebhook(Buffer.concat(chunks), request.headers, secret));
    return 204;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return 400;
    throw error;
  }
}

const { WEBHOOK_SECRET: secret, TLS_CERT: cert, TLS_KEY: key, PORT: port = '9000' } = process.env;
if (!secret) throw new Error('set WEBHOOK_SECRET');
const handler = (request: IncomingMessage, response: ServerResponse) => {
  receive(secret, request).then(
    (status) => response.writeHead(status).end(),
    () => response.destroy(),
  );
};
const server =
  cert && key
    ? createHttps({ cert: readFileSync(cert), key: readFileSync(key) }, handler)
    : createHttp(handler);
server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`listening on ${port}\n`));
