/** The named objects of the OpenAPI document. Generated clients get exactly one type for each. */
import type { TSchema } from 'typebox';
import { Account, Limit } from '../../../spec/schemas/account.ts';
import { Action } from '../../../spec/schemas/action.ts';
import { Alert } from '../../../spec/schemas/alert.ts';
import { ApiToken, NewApiToken } from '../../../spec/schemas/api-token.ts';
import { AuditEvent } from '../../../spec/schemas/audit-event.ts';
import { BackupPolicy } from '../../../spec/schemas/backup-policy.ts';
import { Balance, LedgerEntry } from '../../../spec/schemas/balance.ts';
import { Event } from '../../../spec/schemas/event.ts';
import { FirewallGroup, FirewallRule } from '../../../spec/schemas/firewall.ts';
import { Image } from '../../../spec/schemas/image.ts';
import { Plan, PlanCycle, Region } from '../../../spec/schemas/plan.ts';
import { Quote } from '../../../spec/schemas/quote.ts';
import { Server } from '../../../spec/schemas/server.ts';
import { Console, DeletedServer, Metrics, RescuedServer } from '../../../spec/schemas/server-actions.ts';
import { Snapshot } from '../../../spec/schemas/snapshot.ts';
import { ListedSshKey, SshKey } from '../../../spec/schemas/ssh-key.ts';
import { ListedTicket, Ticket } from '../../../spec/schemas/ticket.ts';
import { Topup } from '../../../spec/schemas/topup.ts';
import { Volume } from '../../../spec/schemas/volume.ts';
import { CreatedWebhook, Delivery, RotatedWebhook, Webhook } from '../../../spec/schemas/webhook.ts';

type Json = Record<string, unknown>;

/** These names are part of the contract: generated types use them. */
const OBJECTS: Readonly<Record<string, TSchema>> = {
  Server,
  RescuedServer,
  DeletedServer,
  Metrics,
  Console,
  Alert,
  ListedTicket,
  Ticket,
  Snapshot,
  BackupPolicy,
  Image,
  Plan,
  PlanCycle,
  Region,
  SshKey,
  ListedSshKey,
  Volume,
  FirewallGroup,
  FirewallRule,
  Balance,
  LedgerEntry,
  Topup,
  Quote,
  Account,
  Limit,
  ApiToken,
  CreatedApiToken: NewApiToken,
  Webhook,
  CreatedWebhook,
  RotatedWebhook,
  WebhookDelivery: Delivery,
  AuditEvent,
  Action,
  Event: {
    ...Event,
    description: 'The body of a webhook delivery, and the data of a message in the event stream.',
  },
};

/** Compares schemas by content: making a schema optional creates a new object in memory. */
const SCHEMA_NAMES = new Map(Object.entries(OBJECTS).map(([name, schema]) => [JSON.stringify(schema), name]));

export function schemaRef(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** Each object once, with references to the objects in it. */
export function objectSchemas(): Json {
  return Object.fromEntries(
    Object.entries(OBJECTS).map(([name, schema]) => [name, withNestedRefs({ ...schema })]),
  );
}

/** Replaces every occurrence of a named object in a part of the document with a reference. */
export function withRefs(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withRefs);
  if (typeof part !== 'object' || part === null) return part;
  const name = 'properties' in part ? SCHEMA_NAMES.get(JSON.stringify(part)) : undefined;
  return name === undefined ? withNestedRefs(part) : schemaRef(name);
}

function withNestedRefs(part: object): Json {
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, withRefs(value)]));
}
