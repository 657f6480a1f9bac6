/** Webhook delivery (DECISIONS "Delivery record"): one attempt to deliver one event. */
import { type Static, Type } from 'typebox';
import { EVENT_TYPES } from '../events.ts';
import { DELIVERY_STATUSES } from '../states.ts';
import { Id, nullable, oneOf, Time } from './parts.ts';

/** The synthetic event of a test is delivered like the others, and never subscribed to. */
export const DELIVERED_EVENT_TYPES = [...EVENT_TYPES, 'ping'] as const;

export const Delivery = Type.Object({
  id: Type.String({
    description: 'As X-Service-Delivery-Id: the same for every attempt of one delivery. Opaque.',
    examples: ['del_aaaqk3m7qzb5x2l6v4t7n8wyja'],
  }),
  object: Type.Literal('webhook_delivery'),
  event: Id('evt_'),
  event_type: oneOf(DELIVERED_EVENT_TYPES),
  attempt: Type.Integer({ description: 'From 1.' }),
  status: oneOf(DELIVERY_STATUSES),
  http_status: nullable(Type.Integer({ description: 'What the receiver answered.' })),
  error: nullable(Type.String({ description: 'Why there was no answer.' })),
  duration_ms: nullable(Type.Integer()),
  attempted_at: nullable(Time),
  next_attempt_at: nullable(
    Type.String({ format: 'date-time', description: 'When it is tried next; null when it is not.' }),
  ),
  created_at: Time,
});
export type Delivery = Static<typeof Delivery>;
