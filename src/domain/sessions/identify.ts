/** Who a cookie belongs to. A session ends 24 hours after it was last seen and 30 days after it was opened. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { findSession, type SessionCutoffs, touchSession } from '../../store/sessions.ts';
import type { Service } from '../context.ts';
import { readCookie } from './cookie.ts';

export interface Session {
  readonly id: string;
  readonly customerId: string;
  /** A frozen customer reads but changes nothing. */
  readonly frozen: boolean;
  /** What the head of every page says of him, read along. */
  readonly email: string;
  readonly balanceCents: bigint;
  /** Of the operator's rules, as it is now. */
  readonly rulesVersion: bigint;
}

export interface Identity {
  /** null: the caller has no cookie of ours. */
  readonly visitor: string | null;
  /** null: not signed in. */
  readonly session: Session | null;
}

const SEEN_REFRESH_MS = MINUTE_MS;

/** Reads a cookie; one that is unknown, ended or expired is no session. */
export async function identify(service: Service, cookieText: string | undefined): Promise<Identity> {
  const cookie = readCookie(service.keys, cookieText);
  if (!cookie) return { visitor: null, session: null };
  if (!cookie.sessionDigest) return { visitor: cookie.visitor, session: null };
  const now = service.clock.now();
  const row = await findSession(service.reads, cookie.sessionDigest, sessionCutoffs(now));
  if (!row) return { visitor: cookie.visitor, session: null };
  const seenBefore = new Date(now.getTime() - SEEN_REFRESH_MS);
  if (row.seen_at <= seenBefore) await touchSession(service.db, row.id, now, seenBefore);
  return {
    visitor: cookie.visitor,
    session: {
      id: row.id,
      customerId: row.customer_id,
      frozen: row.frozen_at !== null,
      email: row.email,
      balanceCents: row.balance_cents,
      rulesVersion: row.rules_version,
    },
  };
}

export function sessionCutoffs(now: Date): SessionCutoffs {
  return {
    createdAfter: new Date(now.getTime() - LIMITS.sessionMaxDays * DAY_MS),
    seenAfter: new Date(now.getTime() - LIMITS.sessionIdleHours * HOUR_MS),
  };
}
