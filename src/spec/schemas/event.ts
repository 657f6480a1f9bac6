/** Event envelope (SPEC "Event envelope"): the body of a delivery, and with `seq` a message of the stream. */
import { type Static, Type } from 'typebox';
import { Action } from './action.ts';
import { Alert } from './alert.ts';
import { ApiToken } from './api-token.ts';
import { Balance, LedgerEntry } from './balance.ts';
import { FirewallGroup } from './firewall.ts';
import { Id, oneOf, Time } from './parts.ts';
import { Server } from './server.ts';
import { Snapshot } from './snapshot.ts';
import { Topup } from './topup.ts';
import { Volume } from './volume.ts';
import { DELIVERED_EVENT_TYPES, Webhook } from './webhook.ts';

export const Event = Type.Object({
  id: Id('evt_'),
  object: Type.Literal('event'),
  type: oneOf(DELIVERED_EVENT_TYPES),
  created_at: Time,
  data: Type.Object(
    {
      server: Type.Optional(Server),
      snapshot: Type.Optional(Snapshot),
      volume: Type.Optional(Volume),
      topup: Type.Optional(Topup),
      api_token: Type.Optional(ApiToken),
      firewall_group: Type.Optional(FirewallGroup),
      ledger_entry: Type.Optional(LedgerEntry),
      balance: Type.Optional(Balance),
      webhook: Type.Optional(Webhook),
      action: Type.Optional(Action),
      alert: Type.Optional(Alert),
    },
    { description: 'The full object at the time of the event, under its type.' },
  ),
  seq: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'In the event stream: the sequence number of the event in your account, without gaps.',
    }),
  ),
});
export type Event = Static<typeof Event>;
