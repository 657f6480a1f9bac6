/** Opens a session: the last step of sign-up, sign-in, and recovery. */
import { formatId, newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import type { Action } from '../../spec/actions.ts';
import { LIMITS } from '../../spec/limits.ts';
import { countMailsSince } from '../../store/customers/mail-links.ts';
import { deleteSession, insertSession, trimSessions } from '../../store/customers/sessions.ts';
import type { Actor, Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { recordAudit } from '../record.ts';
import { newSessionCookie } from './cookie.ts';
import { sessionCutoffs } from './identify.ts';

/** A visitor who is about to sign in: their part of the cookie, and the current actor. */
export interface Visit {
  readonly visitor: string;
  readonly actor: Actor;
  /** Whether this device has signed in to the account before (device.ts). */
  readonly isKnownDevice?: boolean;
  /** Saves the response for a second submission of the form (visitor-idempotency.ts). */
  readonly saveResponse?: SaveSignInResponse | undefined;
}

/** Saves the response. Called in the transaction that opens the session. */
export type SaveSignInResponse = (
  tx: Sql,
  opened: { readonly customerId: string; readonly cookie: string; readonly recoveryCode: string | null },
) => Promise<void>;

export interface OpenedSession {
  /** For the response only; never stored or shown to anyone else. */
  readonly cookie: string;
  readonly sessionId: string;
  /** ISO 3166 code of the caller's country. */
  readonly country: string;
}

/**
 * Opens a session in the transaction that authenticated the customer, ends the visitor's previous session,
 * and removes the oldest sessions above the limit. The caller holds the customer's lock or has just created
 * the customer.
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

/** Mails the customer about a new session, in its transaction. Capped per hour. */
export async function notifySignIn(
  tx: Sql,
  service: Service,
  session: OpenedSession & { readonly customerId: string },
  now: Date,
): Promise<void> {
  const { customerId, sessionId, country } = session;
  const limit = LIMITS.signInMailsPerHour;
  const since = new Date(now.getTime() - HOUR_MS);
  if ((await countMailsSince(tx, { customerId, kind: 'new_sign_in', since }, limit)) >= limit) return;
  const data = { signedInAt: now, country };
  const cause = `session:${sessionId}`;
  await enqueueMail(tx, { customerId, kind: 'new_sign_in', cause, data }, now, service.keys);
}
