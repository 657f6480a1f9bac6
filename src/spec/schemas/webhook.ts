/** Webhook subscription (SPEC "Webhook subscription (`whk_`)"), and the fields that its customer can set. */
import { type Static, Type } from 'typebox';
import { EVENT_TYPES } from '../events.ts';
import { LIMITS } from '../limits.ts';
import { Id, oneOf, Time } from './parts.ts';

/** Event names that a subscription can contain; `*` means all events, even in a list with others. */
export const SUBSCRIBABLE_EVENTS = [...EVENT_TYPES, '*'] as const;

export const Webhook = Type.Object({
  id: Id('whk_'),
  object: Type.Literal('webhook'),
  url: Type.String({ examples: ['https://example.com/hooks'] }),
  events: Type.Array(oneOf(SUBSCRIBABLE_EVENTS)),
  active: Type.Boolean({ description: 'False pauses deliveries.' }),
  secret_hint: Type.String({ description: 'The last four characters of the signing secret.' }),
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

const webhookFields = {
  url: Type.String({
    minLength: 1,
    maxLength: LIMITS.webhookUrlMaxChars,
    description: 'https only, with a valid certificate, on the public internet. No user name, no fragment.',
  }),
  events: Type.Array(oneOf(SUBSCRIBABLE_EVENTS), {
    minItems: 1,
    maxItems: LIMITS.webhookEventsMax,
    description: 'Event names, or ["*"] for all. Duplicates count once. Replaces the whole list.',
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
