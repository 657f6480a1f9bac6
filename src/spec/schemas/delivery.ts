/** Webhook delivery (DECISIONS "Delivery record"): one attempt to deliver one event. */
import { type Static, Type } from 'typebox';
import { EVENT_TYPES } from '../events.ts';
import { DELIVERY_STATUSES } from '../states.ts';
import { Id, nullable, oneOf, Time } from './parts.ts';

/** Includes `ping`, the event of a test: it is delivered like the others, but no one can subscribe to it. */
export const DELIVERED_EVENT_TYPES = [...EVENT_TYPES, 'ping'] as const;

export const Delivery = Type.Object({
  id: Type.String({
    description: 'Same as X-Service-Delivery-Id: one id for all attempts of a delivery. Opaque.',
    examples: ['del_aaaqk3m7qzb5x2l6v4t7n8wyja'],
  }),
  object: Type.Literal('webhook_delivery'),
  event: Id('evt_'),
  event_type: oneOf(DELIVERED_EVENT_TYPES),
  attempt: Type.Integer({ description: 'Starts at 1.' }),
  status: oneOf(DELIVERY_STATUSES),
  http_status: nullable(Type.Integer({ description: 'Status of the response.' })),
  error: nullable(Type.String({ description: 'Why there was no response.' })),
  duration_ms: nullable(Type.Integer()),
  attempted_at: nullable(Time),
  next_attempt_at: nullable(
    Type.String({ format: 'date-time', description: 'When the next attempt is due; null if none is.' }),
  ),
  created_at: Time,
});
export type Delivery = Static<typeof Delivery>;
