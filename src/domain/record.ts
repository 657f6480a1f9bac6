/** What is remembered of a change, in the change's own transaction: its audit row and its event (the outbox). */
import { formatId, newId } from '../kernel/ids.ts';
import type { Sql } from '../kernel/sql.ts';
import type { Action } from '../spec/actions.ts';
import { UNKNOWN_COUNTRY } from '../spec/countries.ts';
import { EVENTS, type EventType } from '../spec/events.ts';
import { insertAudit } from '../store/audit.ts';
import { insertEvent } from '../store/events.ts';
import type { Actor } from './context.ts';

export interface AuditEntry {
  readonly actor: Actor;
  readonly action: Action;
  /** The shown id of what was acted on or made, e.g. `srv_…`. */
  readonly resource: string | null;
  readonly result?: 'ok' | 'error' | 'denied';
  /** What the operator said of it; customers do not read it. */
  readonly note?: string;
  /** Whose log it belongs to; the actor's own when left out. */
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
 * `object` is the full object as it is now, in the REST contract's form, without secrets; `beside` are further ones, by
 * their keys in `data`.
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

/** The service itself, acting without being asked. */
export function systemActor(now: Date): Actor {
  return {
    customerId: null,
    sessionId: null,
    tokenId: null,
    requestId: formatId('request', newId(now)),
    ipCountry: UNKNOWN_COUNTRY,
  };
}
