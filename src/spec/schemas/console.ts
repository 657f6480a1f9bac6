/** Console of a server on the REST surface (DECISIONS "Console"). */
import { type Static, Type } from 'typebox';
import { Time } from './parts.ts';

export const Console = Type.Object({
  object: Type.Literal('console'),
  url: Type.String({
    format: 'uri',
    description:
      'A page with the screen of the server. It needs no sign-in, so do not share it. Its query parameter ' +
      '`path` is the WebSocket (RFB) for other viewers. The first WebSocket connection uses the URL up.',
    examples: ['https://skerry.example/console?path=console%2Fsocket%2F3mfq7kzd'],
  }),
  expires_at: Time,
  read_only: Type.Boolean({ description: 'Whether keyboard and pointer input is ignored.' }),
});
export type Console = Static<typeof Console>;
