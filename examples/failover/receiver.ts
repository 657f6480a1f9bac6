/** Takes webhooks in: genuine ones, each once, with bounds on all that a stranger may send. */
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
  /** Must not take long: the service waits ten seconds for the answer. */
  readonly onEvent: (event: Event) => void;
}

/** The largest event, a firewall group of a hundred rules with notes, has a quarter of that. */
const BODY_MAX_BYTES = 256 * 1024;
/** Ids that are remembered; far more than the service has under way at once. */
const SEEN_MAX = 1_000;
const CONNECTIONS_MAX = 50;
const REQUEST_TIMEOUT_MS = 10_000;

export function createReceiver(options: ReceiverOptions): Server {
  const seen = new Set<string>();
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    receive(options, seen, request).then(
      // A body that is too large is not read.
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

/** Gives the status of the answer. */
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
    // Without a reason: whoever guesses learns nothing.
    if (error instanceof WebhookVerificationError) return 400;
    throw error;
  }
}

/** Throws, which cuts the connection, when it is larger than it may be and did not say so. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The oldest makes room. An event that comes again after that only makes us look again. */
function remember(seen: Set<string>, id: string): void {
  seen.add(id);
  const [oldest] = seen;
  if (seen.size > SEEN_MAX && oldest !== undefined) seen.delete(oldest);
}
