/** The events in the OpenAPI document: their envelope, the event stream, and webhook deliveries. */
import { LIMITS } from '../../../spec/limits.ts';
import type { StreamRules } from '../route.ts';
import { schemaRef } from './objects.ts';

type Json = Record<string, unknown>;

const EVENT = schemaRef('Event');

/** OpenAPI 3.1 cannot describe the schema of one message, so an extension does. */
export function streamContent({ example }: StreamRules): Json {
  const schema = { type: 'string', description: 'Messages. The `data` of each message is an Event.' };
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

const DESCRIPTION = `We send a POST to the URL of a webhook for each event that it subscribes to. To verify
it, compute the HMAC-SHA256 of \`<t>.<raw body>\` with the whole secret as the key, and compare it with
\`v1\` in constant time. Reject a \`t\` that differs from your clock by more than
${LIMITS.webhookToleranceS} seconds. An event can arrive more than once, and events can arrive in any order:
store the \`id\` of each. Respond with any 2xx status within ${LIMITS.webhookTimeoutMs / 1_000} seconds. We
retry after any other outcome, up to ${LIMITS.webhookAttemptsMax} attempts in total.`;

/** Requests that we send and customers receive. */
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
          'The signature: `t=<unix seconds>,v1=<lowercase hex>`.',
          `t=1769860800,v1=${'0'.repeat(64)}`,
        ),
        header(
          'X-Service-Delivery-Id',
          'The id of the delivery. Every attempt has the same one.',
          'del_aaaqk3m7qzb5x2l6v4t7n8wyja',
        ),
      ],
      requestBody: { required: true, content: { 'application/json': { schema: EVENT } } },
      responses: {
        '2XX': { description: 'Received.' },
        '410': { description: 'Stops deliveries: we pause the webhook.' },
      },
    },
  },
};
