/** Sends a stream at the client's pace, and closes the connection of a client that stops reading. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SECOND_MS } from '../../kernel/time.ts';
import type { Feed } from './route.ts';

/** How long a client may leave sent data unread. */
const STALL_MAX_MS = 30 * SECOND_MS;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Without this, nginx buffers the stream instead of forwarding each message.
  'x-accel-buffering': 'no',
};

export function sendFeed(
  feed: Feed,
  request: FastifyRequest,
  reply: FastifyReply,
  stallMaxMs = STALL_MAX_MS,
): void {
  reply.code(200).headers(HEADERS);
  if (request.method === 'HEAD') {
    feed.end();
    reply.send(Readable.from([]));
    return;
  }
  const body: Readable = Readable.from(withStallTimeout(feed.chunks, stallMaxMs, () => body.destroy()));
  const end = () => feed.end();
  // A generator that waits for the next message does not see the close, and one never started has no
  // `finally`.
  reply.raw.once('close', end);
  body.once('close', end);
  reply.send(body);
}

/** Yields one text at a time. The next one is requested when the client's connection has room. */
async function* withStallTimeout(texts: AsyncIterable<string>, stallMaxMs: number, onStall: () => void) {
  for await (const text of texts) {
    const timer = setTimeout(onStall, stallMaxMs);
    try {
      yield text;
    } finally {
      clearTimeout(timer);
    }
  }
}
