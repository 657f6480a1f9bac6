/**
 * Webhook subscription (SPEC "Webhook subscription (`whk_`)"), and delivery: one attempt to deliver one
 * event (DECISIONS "Delivery record").
 */
import { type Static, Type } from 'typebox';
import { EVENT_TYPES } from '../events.ts';
import { LIMITS } from '../limits.ts';
import { SCOPES } from '../scopes.ts';
import { DELIVERY_STATUSES, PAUSED_REASONS } from '../states.ts';
import { Id, nullable, oneOf, Time } from './parts.ts';

/** Event names that a subscription can contain; `*` means all events, even in a list with others. */
export const SUBSCRIBABLE_EVENTS = [...EVENT_TYPES, '*'] as const;

export const Webhook = Type.Object({
  id: Id('whk_'),
  object: Type.Literal('webhook'),
  url: Type.String({ examples: ['https://example.com/hooks'] }),
  events: Type.Array(oneOf(SUBSCRIBABLE_EVENTS)),
  active: Type.Boolean({ description: 'False pauses deliveries.' }),
  paused_reason: nullable(
    oneOf(PAUSED_REASONS, {
      description:
        'Why we paused it: its endpoint returned 410, access to the account was revoked (recovery, reset), ' +
        'or our team did. Null while it is active, or if you paused it.',
    }),
  ),
  scope: oneOf(SCOPES, {
    description: 'The scope of its creator: only a webhook with scope `billing` receives money events.',
  }),
  secret_hint: Type.String({ description: 'The last four characters of the signing secret.' }),
  next_secret_hint: nullable(
    Type.String({
      description: 'The last four characters of the secret that replaces it. Null: it is not being rotated.',
    }),
  ),
  created_at: Time,
});
export type Webhook = Static<typeof Webhook>;

export const CreatedWebhook = Type.Object({
  ...Webhook.properties,
  secret: Type.String({
    description: 'The signing secret, only in this response. The HMAC key is this entire text.',
    examples: ['whsec_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'],
  }),
});
export type CreatedWebhook = Static<typeof CreatedWebhook>;

export const RotatedWebhook = Type.Object({
  ...Webhook.properties,
  next_secret: Type.String({
    description: 'The next signing secret, only in this response. It signs X-Service-Signature-Next.',
    examples: ['whsec_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'],
  }),
});
export type RotatedWebhook = Static<typeof RotatedWebhook>;

export const EndRotation = Type.Object(
  {
    keep: Type.Optional({
      ...oneOf(['next', 'current'], {
        description: '`current` cancels the rotation and discards the next secret.',
      }),
      default: 'next',
    }),
  },
  { additionalProperties: false },
);
export type EndRotation = Static<typeof EndRotation>;

const webhookFields = {
  url: Type.String({
    minLength: 1,
    maxLength: LIMITS.webhookUrlMaxChars,
    description: 'https only, with a valid certificate, on the public internet. No user name, no fragment.',
  }),
  events: Type.Array(oneOf(SUBSCRIBABLE_EVENTS), {
    minItems: 1,
    maxItems: LIMITS.webhookEventsMax,
    description:
      'Event names, or ["*"] for all that the scope may read. Duplicates count once. Replaces the whole ' +
      'list. Naming a money event (`billing.*`, `topup.*`) requires scope `billing`.',
  }),
  active: Type.Boolean(),
};

export const CreateWebhook = Type.Object(
  {
    url: webhookFields.url,
    events: webhookFields.events,
    active: Type.Optional(Type.Boolean({ default: true })),
  },
  { additionalProperties: false },
);
export type CreateWebhook = Static<typeof CreateWebhook>;

export const UpdateWebhook = Type.Object(
  {
    url: Type.Optional(webhookFields.url),
    events: Type.Optional(webhookFields.events),
    active: Type.Optional(webhookFields.active),
  },
  { additionalProperties: false },
);
export type UpdateWebhook = Static<typeof UpdateWebhook>;

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
