/** Opening a session: the last step of signing up, signing in and recovering. */
import { formatId, newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Action } from '../../spec/actions.ts';
import { LIMITS } from '../../spec/limits.ts';
import { deleteSession, insertSession, trimSessions } from '../../store/sessions.ts';
import type { Actor } from '../context.ts';
import { recordAudit } from '../record.ts';
import { newSessionCookie } from './cookie.ts';
import { sessionCutoffs } from './identify.ts';

/** Somebody at the door: the visitor's part of the cookie, and who was signed in with it until now. */
export interface Visit {
  readonly visitor: string;
  readonly actor: Actor;
  /** Remembers what he is answered, for a second click on his form (once-for-visitor.ts). */
  readonly saveResponse?: SaveSignInResponse | undefined;
}

/** Called in the transaction that lets him in. */
export type SaveSignInResponse = (
  tx: Sql,
  opened: { readonly customerId: string; readonly cookie: string; readonly recoveryCode: string | null },
) => Promise<void>;

export interface OpenedSession {
  /** To answer with; shown to nobody else and stored nowhere. */
  readonly cookie: string;
  readonly sessionId: string;
  /** ISO 3166 code of where it was opened from. */
  readonly country: string;
}

/**
 * Opens a session for the customer in the transaction that let him in, ends the one that the visit came with, and
 * lets the oldest go when there are too many. The caller holds the customer's lock, or has just made him.
 */
export async function openSession(
  tx: Sql,
  visit: Visit,
  customer: { readonly id: string; readonly action: Action; readonly recoveryCode?: string },
  now: Date,
): Promise<OpenedSession> {
  if (visit.actor.sessionId !== null) await deleteSession(tx, visit.actor.sessionId);
  const cookie = newSessionCookie(visit.visitor);
  const id = newId(now);
  await insertSession(tx, { digest: cookie.digest, id, customerId: customer.id, now });
  await trimSessions(tx, customer.id, LIMITS.sessionsMax, sessionCutoffs(now));
  const actor = { ...visit.actor, customerId: customer.id, sessionId: id };
  await recordAudit(tx, { actor, action: customer.action, resource: formatId('session', id) }, now);
  const { id: customerId, recoveryCode = null } = customer;
  await visit.saveResponse?.(tx, { customerId, cookie: cookie.text, recoveryCode });
  return { cookie: cookie.text, sessionId: id, country: visit.actor.ipCountry };
}
