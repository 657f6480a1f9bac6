/** Records a change in its own transaction: the audit row and the event (the outbox). */
import { formatId, newId } from '../kernel/ids.ts';
import type { Sql } from '../kernel/sql.ts';
import type { Action } from '../spec/actions.ts';
import { UNKNOWN_COUNTRY } from '../spec/countries.ts';
import { EVENTS, type EventType } from '../spec/events.ts';
import { insertAudit } from '../store/audit.ts';
import { insertEvent } from '../store/events/events.ts';
import type { Actor } from './context.ts';

export interface AuditEntry {
  readonly actor: Actor;
  readonly action: Action;
  /** The public id of the resource, such as `srv_…`. */
  readonly resource: string | null;
  readonly result?: 'ok' | 'error' | 'denied';
  /** The operator's note. Customers do not see it. */
  readonly note?: string;
  /** The customer whose log this belongs to; defaults to the actor's. */
  readonly customerId?: string | null;
}

export async function recordAudit(tx: Sql, entry: AuditEntry, now: Date): Promise<void> {
  await insertAudit(tx, {
    id: newId(now),
    customerId: entry.customerId === undefined ? entry.actor.customerId : entry.customerId,
    action: entry.action,
    resource: entry.resource,
    actorToken: entry.actor.tokenId,
    actorSession: entry.actor.sessionId,
    requestId: entry.actor.requestId,
    ipCountry: entry.actor.ipCountry,
    result: entry.result ?? 'ok',
    note: entry.note ?? null,
    createdAt: now,
  });
}

/**
 * Records an event. `object` is the full object as of now in the REST shape, without secrets; `related`
 * adds others by their keys in `data`.
 */
export async function recordEvent(
  tx: Sql,
  event: {
    readonly customerId: string;
    readonly type: EventType;
    readonly object: object;
    readonly related?: Readonly<Record<string, object>>;
  },
  now: Date,
): Promise<void> {
  const data = { [EVENTS[event.type].key]: event.object, ...event.related };
  await insertEvent(tx, {
    id: newId(now),
    customerId: event.customerId,
    type: event.type,
    data,
    createdAt: now,
  });
}

/** Returns the actor of changes that the service makes on its own. */
export function systemActor(now: Date): Actor {
  return {
    customerId: null,
    sessionId: null,
    tokenId: null,
    requestId: formatId('request', newId(now)),
    ipCountry: UNKNOWN_COUNTRY,
  };
}
