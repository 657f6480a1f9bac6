/** Accepts genuine webhooks, each once, with limits on everything that a stranger can send. */
import { readFileSync } from 'node:fs';
import {
  createServer as createHttp,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type Event, verifyWebhook, WebhookVerificationError } from '@skerry/sdk';

export interface ReceiverOptions {
  readonly secret: string;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Must return quickly: the service waits ten seconds for the response. */
  readonly onEvent: (event: Event) => void;
}

/** Four times the largest event, a firewall group with a hundred annotated rules. */
const BODY_MAX_BYTES = 256 * 1024;
/** Remembered event IDs: far more than the service delivers at once. */
const SEEN_MAX = 1_000;
const CONNECTIONS_MAX = 50;
const REQUEST_TIMEOUT_MS = 10_000;

export function createReceiver(options: ReceiverOptions): Server {
  const seen = new Set<string>();
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    receive(options, seen, request).then(
      // Close the connection instead of reading a body that is too large.
      (status) => response.writeHead(status, status === 413 ? { connection: 'close' } : {}).end(),
      () => response.destroy(),
    );
  };
  const limits = { headersTimeout: REQUEST_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS };
  const { tls } = options;
  const server = tls
    ? createHttps({ ...limits, cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, handle)
    : createHttp(limits, handle);
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}

/** Returns the HTTP status of the response. */
async function receive(
  { secret, onEvent }: ReceiverOptions,
  seen: Set<string>,
  request: IncomingMessage,
): Promise<number> {
  if (request.method !== 'POST') return 405;
  if (Number(request.headers['content-length'] ?? 0) > BODY_MAX_BYTES) return 413;
  const body = await readBody(request);
  try {
    const event = await verifyWebhook(body, request.headers, secret);
    if (!seen.has(event.id)) {
      remember(seen, event.id);
      onEvent(event);
    }
    return 204;
  } catch (error) {
    // Give no reason, so that guessing reveals nothing.
    if (error instanceof WebhookVerificationError) return 400;
    throw error;
  }
}

/** Throws, which closes the connection, if the body is too large and had no Content-Length. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) throw new Error('body too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Evicts the oldest ID. If its event arrives again, we only check the servers once more. */
function remember(seen: Set<string>, id: string): void {
  seen.add(id);
  const [oldest] = seen;
  if (seen.size > SEEN_MAX && oldest !== undefined) seen.delete(oldest);
}
