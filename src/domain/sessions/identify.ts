/**
 * Identifies the owner of a cookie. A session expires 24 hours after its last use and 30 days after its
 * start.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { findSession, type SessionCutoffs, touchSession } from '../../store/customers/sessions.ts';
import type { Service } from '../context.ts';
import { readCookie } from './cookie.ts';

export interface Session {
  readonly id: string;
  readonly customerId: string;
  /** Whether the customer is read-only. */
  readonly frozen: boolean;
  /** Shown at the top of every page, so it is read in the same statement. */
  readonly email: string;
  readonly balanceCents: bigint;
  /** Whether the panel's keyboard shortcuts of one character are on. */
  readonly shortcuts: boolean;
  /** The current version of the operator's rules. */
  readonly rulesVersion: bigint;
  /** The number of the latest event, from which a page's live updates continue. */
  readonly lastEventSeq: bigint;
}

export interface Identity {
  /** Null without a valid cookie. */
  readonly visitor: string | null;
  /** Null if not signed in. */
  readonly session: Session | null;
}

const SEEN_REFRESH_MS = MINUTE_MS;

/** Reads a cookie. Unknown, ended, and expired sessions count as signed out. */
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
      shortcuts: row.shortcuts_off_at === null,
      rulesVersion: row.rules_version,
      lastEventSeq: row.last_seq,
    },
  };
}

export function sessionCutoffs(now: Date): SessionCutoffs {
  return {
    createdAfter: new Date(now.getTime() - LIMITS.sessionMaxDays * DAY_MS),
    seenAfter: new Date(now.getTime() - LIMITS.sessionIdleHours * HOUR_MS),
  };
}
