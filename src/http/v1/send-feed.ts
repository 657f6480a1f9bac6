/** An answer that stays open, on the wire: never faster than the caller takes it, and cut when he takes nothing. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SECOND_MS } from '../../kernel/time.ts';
import type { Feed } from './route.ts';

/** How long a caller may take nothing of what waits for him. */
const STALL_MAX_MS = 30 * SECOND_MS;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // A proxy that gathers an answer before it passes it on would pass on nothing.
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
  // What waits for the next message does not see that the connection is gone, and what was never begun has no end.
  reply.raw.once('close', end);
  body.once('close', end);
  reply.send(body);
}

/** One text is given at a time; the next one is asked for when the caller's connection has room. */
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
