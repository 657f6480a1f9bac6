/** The event stream: what happens to a customer's things, as it happens and as it happened. */
import { type Static, Type } from 'typebox';
import type { EventStream, StreamEndReason } from '../../domain/events/stream.ts';
import type { StreamCursor } from '../../domain/events/streams.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { Event } from '../../spec/schemas/event.ts';
import { type Feed, type Route, streamRoute } from './route.ts';

/** How long a client waits before it comes again. */
const RETRY_MS = 3_000;

const SeqParam = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));
const StreamQuery = Type.Object(
  { after: SeqParam('Begin after the event of this number; 0: with the first one.') },
  { additionalProperties: false },
);
const StreamHeaders = Type.Object(
  {
    'Last-Event-ID': SeqParam(
      'As `after`, and goes before it: browsers and libraries send it when they come again.',
    ),
  },
  { additionalProperties: false },
);

const DESCRIPTION = `Server-sent events: each message has the number of the event as its \`id\`, its type as \`event\`, and the event
itself, with that number as \`seq\`, in one line of \`data\`. Numbers are your account's own and have no gaps; a token below
the scope \`billing\` is not shown events about money (\`billing.*\`, \`topup.*\`) and sees gaps where they are.

Without \`after\` and \`Last-Event-ID\` it begins now. With one of them it first gives every event after that number. Events
are kept for ${LIMITS.eventRetentionDays} days: a number that is older is 400 with the oldest that can be given, \`min\`, and one that does not
exist yet is 400 with the last one, \`max\`.

A message without \`data\` only says up to where you have seen everything. There is a sign of life every ${LIMITS.eventHeartbeatS} seconds. At most
${LIMITS.eventStreamsPerCustomer} streams of an account are open at once; another is 409. It ends when its token does.`;

const EXAMPLE = `retry: ${RETRY_MS}
id: 41

id: 42
event: server.stopped
data: {"id":"evt_aaaqk3m7qzb5x2l6v4t7n8wyja","object":"event","type":"server.stopped","created_at":"2026-01-31T12:00:00Z","data":{"server":{"id":"srv_aaaqk3m7qzb5x2l6v4t7n8wyja","object":"server","status":"stopped"}},"seq":42}

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
      toFeed(await streams.open(actor, startPosition(query, headers))),
  }),
];

/** Who comes again comes to the same URL, and says in the header how far he got. */
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
  left: 'goodbye',
  revoked: 'the token was revoked or has expired',
  behind: 'what comes next is no longer kept',
  stopping: 'the service stops; come again',
};

async function* formatStream(stream: EventStream): AsyncGenerator<string> {
  try {
    // Whoever is cut off before the first event knows by this where to go on.
    let lastSentSeq = stream.position;
    yield `retry: ${RETRY_MS}\nid: ${lastSentSeq}\n\n`;
    for (;;) {
      const events = await stream.next(LIMITS.eventHeartbeatS * SECOND_MS);
      if (events === null) break;
      const messages = events.map(formatMessage).join('');
      const lastShownSeq = events.at(-1)?.seq;
      if (lastShownSeq !== undefined) lastSentSeq = BigInt(lastShownSeq);
      // Past events that this reader is not shown, so that he does not ask for them when they are no longer kept.
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
