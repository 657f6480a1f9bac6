/** The event stream: a customer's events, live and from the stored history. */
import { type Static, Type } from 'typebox';
import type { EventStream, StreamEndReason, StreamReader } from '../../../domain/events/stream.ts';
import type { StreamCursor } from '../../../domain/events/streams.ts';
import { requireHeard } from '../../../domain/tokens/limits/active.ts';
import { invalidRequest } from '../../../kernel/fail.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { Event } from '../../../spec/schemas/event.ts';
import { SUBSCRIBABLE_EVENTS } from '../../../spec/schemas/webhook.ts';
import { type Feed, type Route, streamRoute, type TokenActor } from '../route.ts';

/** How long a client waits before it reconnects. */
const RETRY_MS = 3_000;

const SeqParam = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));
const StreamQuery = Type.Object(
  {
    after: SeqParam('Start after the event with this number. 0 starts with the first event.'),
    types: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: LIMITS.eventTypesMaxChars,
        description: 'Event types, separated by commas, or `*` for all. Only these are sent.',
        examples: ['action.success,action.error'],
      }),
    ),
  },
  { additionalProperties: false },
);
const StreamHeaders = Type.Object(
  {
    'Last-Event-ID': SeqParam(
      'Same as `after`, and takes precedence over it. Browsers and libraries send it when they reconnect.',
    ),
  },
  { additionalProperties: false },
);

const DESCRIPTION = `Streams the events of your account as server-sent events. In each message, \`id\` is
the number of the event, \`event\` is its type, and \`data\` is the event on one line, with the number as
\`seq\`. Each account numbers its events without gaps. A token below the scope \`billing\` does not receive
events about money (\`billing.*\`, \`topup.*\`) and sees gaps in their place.

Without \`after\` and \`Last-Event-ID\`, the stream starts now. With either, it first sends every event
after that number. We keep events for ${LIMITS.eventRetentionDays} days. An older number returns 400 with
the oldest available number in \`min\`. A number that does not exist yet returns 400 with the latest number
in \`max\`.

With \`types\`, other events are left out in the same way. Without it, \`action.*\` are left out. A token
limited to resources, labels, or regions gets 403 if it receives none of the types.

A message without \`data\` only advances your position. We send a heartbeat every ${LIMITS.eventHeartbeatS}
seconds. An account can have ${LIMITS.eventStreamsPerCustomer} open streams; another one returns 409. The
stream ends when its token expires or is revoked.`;

const EXAMPLE_EVENT = {
  id: 'evt_aaaqk3m7qzb5x2l6v4t7n8wyja',
  object: 'event',
  type: 'server.stopped',
  created_at: '2026-01-31T12:00:00Z',
  data: { server: { id: 'srv_aaaqk3m7qzb5x2l6v4t7n8wyja', object: 'server', status: 'stopped' } },
  seq: 42,
};

const EXAMPLE = `retry: ${RETRY_MS}
id: 41

id: 42
event: server.stopped
data: ${JSON.stringify(EXAMPLE_EVENT)}

:

`;

export const EVENT_ROUTES: readonly Route[] = [
  streamRoute({
    id: 'events.stream',
    path: '/events',
    scope: 'read',
    summary: 'Stream events',
    description: DESCRIPTION,
    beta: true,
    errorStatuses: [409],
    query: StreamQuery,
    stream: { headers: StreamHeaders, example: EXAMPLE },
    reply: Event,
    run: async ({ streams, actor, query, headers }) =>
      toFeed(await streams.open(readerOf(actor, query.types), startPosition(query, headers))),
  }),
];

function readerOf(actor: TokenActor, types: string | undefined): StreamReader {
  if (types === undefined) return actor;
  const names = new Set(types.split(','));
  const allowed: readonly string[] = SUBSCRIBABLE_EVENTS;
  for (const name of names)
    if (!allowed.includes(name)) invalidRequest([{ field: 'types', issue: 'invalid_value', allowed }]);
  requireHeard(actor.limits, names);
  return { ...actor, types: names };
}

/** A client reconnects to the same URL; the header says how far it got. */
function startPosition(
  query: Static<typeof StreamQuery>,
  headers: Static<typeof StreamHeaders>,
): StreamCursor | null {
  const lastEventId = headers['Last-Event-ID'];
  if (lastEventId !== undefined) return { field: 'Last-Event-ID', seq: lastEventId };
  return query.after === undefined ? null : { field: 'after', seq: query.after };
}

function toFeed(stream: EventStream): Feed {
  return { chunks: formatStream(stream), end: () => stream.end('left') };
}

const CLOSING_COMMENTS: Readonly<Record<StreamEndReason, string>> = {
  left: 'closed by the client',
  revoked: 'the token was revoked or has expired',
  limited: 'the limits of the token changed; reconnect',
  behind: 'the next event is no longer stored',
  stopping: 'the service is stopping; reconnect',
};

async function* formatStream(stream: EventStream): AsyncGenerator<string> {
  try {
    // A client that is cut off before the first event can resume from this position.
    let lastSentSeq = stream.position;
    yield `retry: ${RETRY_MS}\nid: ${lastSentSeq}\n\n`;
    for (;;) {
      const events = await stream.next(LIMITS.eventHeartbeatS * SECOND_MS);
      if (events === null) break;
      const messages = events.map(formatMessage).join('');
      const lastShownSeq = events.at(-1)?.seq;
      if (lastShownSeq !== undefined) lastSentSeq = BigInt(lastShownSeq);
      // Advance past events hidden from this reader, so that it does not ask for them after they are deleted.
      const skipped = lastSentSeq === stream.position ? '' : `id: ${stream.position}\n\n`;
      lastSentSeq = stream.position;
      yield `${messages}${skipped}` || ':\n\n';
    }
    yield `: ${CLOSING_COMMENTS[stream.endReason ?? 'left']}\n\n`;
  } finally {
    stream.end('left');
  }
}

function formatMessage(event: Event): string {
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
