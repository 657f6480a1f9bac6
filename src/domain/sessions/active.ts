/** The customer's active sessions: lists and ends them. */

import { notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { formatSessionTime } from '../../kernel/time.ts';
import {
  deleteOtherSessions,
  deleteOwnSession,
  deleteSession,
  listSessions as listRows,
} from '../../store/customers/sessions.ts';
import type { Actor, CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { sessionCutoffs } from './identify.ts';

/** A session as its customer sees it. Times have the format of the session API. */
export interface SessionView {
  readonly id: string;
  readonly created_at: string;
  /** Refreshed at most once a minute. */
  readonly last_seen_at: string;
  /** Whether it is the session of this request. */
  readonly current: boolean;
}

/** Returns the customer's active sessions, newest first. */
export async function listSessions(service: Service, actor: CustomerActor): Promise<SessionView[]> {
  const rows = await listRows(service.db, actor.customerId, sessionCutoffs(service.clock.now()));
  return rows.map((row) => ({
    id: formatId('session', row.id),
    created_at: formatSessionTime(row.created_at),
    last_seen_at: formatSessionTime(row.seen_at),
    current: row.id === actor.sessionId,
  }));
}

/** Ends all of the customer's sessions except the actor's. */
export async function endOtherSessions(service: Service, actor: CustomerActor): Promise<void> {
  await service.db.transaction(async (tx) => {
    await deleteOtherSessions(tx, actor.customerId, actor.sessionId);
    await recordAudit(tx, { actor, action: 'customer.end_session', resource: null }, service.clock.now());
  });
}

/** Ends one of the customer's sessions; returns true for the actor's own. Fails with `not_found`. */
export async function endSession(service: Service, actor: CustomerActor, shownId: string): Promise<boolean> {
  const id = parseId('session', shownId) ?? notFound('session');
  await service.db.transaction(async (tx) => {
    if (!(await deleteOwnSession(tx, actor.customerId, id))) notFound('session');
    const entry = { actor, action: 'customer.end_session', resource: shownId } as const;
    await recordAudit(tx, entry, service.clock.now());
  });
  return id === actor.sessionId;
}

/** Ends the actor's session, if there is one. */
export async function signOut(service: Service, actor: Actor): Promise<void> {
  const { sessionId } = actor;
  if (sessionId === null) return;
  await service.db.transaction(async (tx) => {
    if (!(await deleteSession(tx, sessionId))) return;
    const resource = formatId('session', sessionId);
    await recordAudit(tx, { actor, action: 'customer.sign_out', resource }, service.clock.now());
  });
}
