/** A console as the REST contract answers it (DECISIONS "Console"). */
import { type Static, Type } from 'typebox';
import { Time } from './parts.ts';

export const Console = Type.Object({
  object: Type.Literal('console'),
  url: Type.String({
    format: 'uri',
    description:
      'A page with the screen of the server; it needs no sign-in, so hand it to nobody else. Its query `path` names ' +
      'the WebSocket (RFB) for other viewers. The first WebSocket uses it up.',
    examples: ['https://skerry.example/console?path=console%2Fsocket%2F3mfq7kzd'],
  }),
  expires_at: Time,
  read_only: Type.Boolean({ description: 'The screen can be looked at, but takes no keys and no pointer.' }),
});
export type Console = Static<typeof Console>;
