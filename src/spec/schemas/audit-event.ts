/** Audit event (SPEC "Audit event (`audit_`)"): an authenticated request that tried to change something. */
import { type Static, Type } from 'typebox';
import { Id, nullable, oneOf, Time } from './parts.ts';

export const AUDIT_RESULTS = ['ok', 'error', 'denied'] as const;

export const AuditEvent = Type.Object({
  id: Id('audit_'),
  object: Type.Literal('audit_event'),
  action: Type.String({ description: 'Dotted operation name.', examples: ['server.create'] }),
  resource: nullable(Type.String({ description: 'Id of the affected or created resource.' })),
  actor_token: nullable(Type.String({ description: 'Id of the token, if called through the API.' })),
  actor_session: nullable(Type.String({ description: 'Id of the session, if done in the dashboard.' })),
  request_id: Type.String({ description: 'The X-Request-Id of the original response.' }),
  ip_country: Type.String({
    description: 'ISO 3166 country code; `XX`: unknown. We do not store the address.',
    examples: ['IS', 'XX'],
  }),
  result: oneOf(AUDIT_RESULTS),
  created_at: Time,
});
export type AuditEvent = Static<typeof AuditEvent>;
