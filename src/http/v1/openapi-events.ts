/** What the document says of events: their envelope, the stream of them, and what a webhook's receiver is sent. */
import { LIMITS } from '../../spec/limits.ts';
import { schemaRef } from './openapi-objects.ts';
import type { StreamRules } from './route.ts';

type Json = Record<string, unknown>;

const EVENT = schemaRef('Event');

/** The document's version of OpenAPI has no word for the shape of one message. */
export function streamContent({ example }: StreamRules): Json {
  const schema = { type: 'string', description: 'Messages; the `data` of each is an Event.' };
  return { 'text/event-stream': { schema, example, 'x-item-schema': EVENT } };
}

const header = (name: string, description: string, example: string): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
});

const DESCRIPTION = `POST to the URL of a webhook, for each event that it subscribes to. Compute the HMAC-SHA256 of \`<t>.<raw body>\`, with
the whole secret as the key, compare it with \`v1\` in constant time, and refuse a \`t\` that is more than
${LIMITS.webhookToleranceS} seconds from your clock. An event may come more than once, and events may come in any order: keep its \`id\`.
Every 2xx within ${LIMITS.webhookTimeoutMs / 1_000} seconds is taken as received; anything else is tried again, ${LIMITS.webhookAttemptsMax} times in all.`;

/** What we send and customers receive. */
export const WEBHOOKS: Json = {
  event: {
    post: {
      operationId: 'deliveries.receive',
      tags: ['webhooks'],
      summary: 'Receive an event',
      description: DESCRIPTION,
      security: [],
      parameters: [
        header(
          'X-Service-Signature',
          '`t=<unix seconds>,v1=<lowercase hex>`',
          `t=1769860800,v1=${'0'.repeat(64)}`,
        ),
        header(
          'X-Service-Delivery-Id',
          'The same for every attempt of one delivery.',
          'del_aaaqk3m7qzb5x2l6v4t7n8wyja',
        ),
      ],
      requestBody: { required: true, content: { 'application/json': { schema: EVENT } } },
      responses: {
        '2XX': { description: 'Received.' },
        '410': { description: 'Never again: the webhook is paused.' },
      },
    },
  },
};
