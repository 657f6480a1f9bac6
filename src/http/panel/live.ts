/**
 * The panel's event stream: tells the open pages of a signed-in customer what changed, and nothing about it.
 * A browser opens one for all of its tabs (`panel/live.js`).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { EventStream, Move, StreamReader } from '../../domain/events/stream.ts';
import type { EventStreams } from '../../domain/events/streams.ts';
import type { Session } from '../../domain/sessions/identify.ts';
import { InvalidRequest } from '../../kernel/fail.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { LIVE_PATH } from '../../spec/paths.ts';
import type { Event } from '../../spec/schemas/event.ts';
import { field, parseQuery } from '../form.ts';
import type { V1Edge } from '../v1/admit.ts';
import { sendFeed } from '../v1/send-feed.ts';
import { identifyRequest } from './visitor.ts';

/** How long a browser waits before it reconnects to a stream that ended. */
const RETRY_MS = 3_000;
const SEQ = /^\d{1,15}$/;

export function registerLive(scope: FastifyInstance, edge: V1Edge): void {
  scope.get(LIVE_PATH, { config: { untimed: true } }, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const { session } = await identifyRequest(edge, request);
    // Browsers reconnect after everything but this and errors.
    if (session === null) return await reply.code(204).send();
    const { stream, isComplete } = await openStream(edge.streams, readerOf(session), positionOf(request));
    sendStream(stream, isComplete, request, reply);
    return reply;
  });
}

function sendStream(
  stream: EventStream,
  isComplete: boolean,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  sendFeed({ chunks: formatStream(stream, isComplete), end: () => stream.end('left') }, request, reply);
}

/** A session sees everything. */
function readerOf({ id, customerId }: Session): StreamReader {
  return {
    ...{ customerId, tokenId: null, sessionId: id, limitsVersion: 0 },
    ...{ scope: 'billing', types: new Set(['*']) },
  };
}

/** A browser that reconnects sends the header. The page sends the number that it was rendered with. */
function positionOf({ headers, url }: FastifyRequest): number | null {
  const sent = headers['last-event-id'] ?? field(parseQuery(url), 'after');
  return typeof sent === 'string' && SEQ.test(sent) ? Number(sent) : null;
}

/** From a position that is no longer stored, or not yet, the stream starts now and is incomplete. */
async function openStream(streams: EventStreams, reader: StreamReader, seq: number | null) {
  const cursor = seq === null ? null : ({ field: 'Last-Event-ID', seq } as const);
  try {
    return { stream: await streams.open(reader, cursor), isComplete: cursor !== null };
  } catch (error) {
    if (!(error instanceof InvalidRequest)) throw error;
    return { stream: await streams.open(reader, null), isComplete: false };
  }
}

async function* formatStream(stream: EventStream, isComplete: boolean): AsyncGenerator<string> {
  try {
    // Pages that may have missed something read themselves again.
    const missed = isComplete ? '' : 'event: missed\ndata: {}\n';
    yield `retry: ${RETRY_MS}\nid: ${stream.position}\n${missed}\n`;
    for (;;) {
      const events = await stream.next(LIMITS.eventHeartbeatS * SECOND_MS);
      if (events === null) break;
      const messages = [...events.map(formatEvent), ...stream.takeMoves().map(formatMove)];
      yield messages.join('') || ':\n\n';
    }
    // Without the session, the next request would get a 204. Otherwise the browser reconnects.
    if (stream.endReason === 'revoked') yield 'event: end\ndata: {}\n\n';
  } finally {
    stream.end('left');
  }
}

function formatEvent({ seq, type, data }: Event): string {
  return `id: ${seq}\n${formatMove({ type, ids: [...idsIn(data)] })}`;
}

function formatMove(change: Omit<Move, 'type'> & { readonly type: string }): string {
  return `event: change\ndata: ${JSON.stringify(change)}\n\n`;
}

/** Properties of an event's object that name other resources. */
const REFERENCES = ['server', 'attached_to', 'applied_to', 'resources'] as const;

function* idsIn(data: object): Generator<string> {
  for (const object of Object.values(data) as unknown[]) {
    yield* idsOf(object);
    if (typeof object !== 'object' || object === null) continue;
    for (const name of REFERENCES) yield* [Reflect.get(object, name) as unknown].flat().flatMap(idsOf);
  }
}

/** The id of an object, or an id itself. */
function idsOf(value: unknown): string[] {
  const id: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'id') : value;
  return typeof id === 'string' && /^[a-z]+_[a-z2-7]{26}$/.test(id) ? [id] : [];
}
