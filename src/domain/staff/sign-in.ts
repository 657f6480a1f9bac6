/**
 * How staff get in: an invitation sets a password and an authenticator app, and both are asked for at every
 * sign-in. Wrong passwords and codes count together per person.
 */
import { Failure, fail } from '../../kernel/fail.ts';
import { newId } from '../../kernel/ids.ts';
import { digest } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { SEALED } from '../../spec/sealed.ts';
import { STAFF_LIMITS } from '../../spec/staff.ts';
import {
  deleteStaffSession,
  findStaffSession,
  findStaffToken,
  insertStaffSession,
  type StaffIdentityRow,
  type StaffSessionCutoffs,
  touchStaffSession,
  touchStaffToken,
  trimStaffSessions,
} from '../../store/staff/access.ts';
import {
  acceptInvitation,
  consumeStaffStep,
  findInvited,
  findStaffByEmail,
  lockStaff,
  recordStaffFailure,
  type StaffRow,
} from '../../store/staff/staff.ts';
import type { Service } from '../context.ts';
import { parseEmail } from '../customers/email/email.ts';
import { requireNewPassword } from '../customers/password.ts';
import { badCodeFailure, commitThenThrow, findStep, secretUri } from '../customers/totp-check.ts';
import { newSessionCookie } from '../sessions/cookie.ts';
import type { StaffIdentity } from './context.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'keys' | 'passwords' | 'settings'>;

const REFRESH_MS = MINUTE_MS;

export interface PendingInvitation {
  readonly email: string;
  readonly name: string;
  /** Base32, for the authenticator app. */
  readonly secret: string;
  readonly uri: string;
}

/** Reads what an invitation shows. Fails with `not_found`. */
export async function readInvitation(service: Deps, code: string): Promise<PendingInvitation> {
  const row = await findInvited(service.db, digest(code), service.clock.now());
  if (!row) refuseInvitation();
  const secret = openSecret(service, row);
  const siteName = `${service.settings.siteName} staff`;
  return { email: row.email, name: row.name, secret, uri: secretUri(secret, { siteName, email: row.email }) };
}

function refuseInvitation(): never {
  fail('not_found', {}, 'This invitation was used or has expired. Ask an owner for another one.');
}

function openSecret({ keys }: Pick<Deps, 'keys'>, row: StaffRow): string {
  if (row.totp_sealed === null) throw new Error('a person has no second factor');
  return keys.open(SEALED.staffTotp, row.id, row.totp_sealed).toString();
}

/** Accepts an invitation and signs the visitor in. Fails with `not_found`, `weak_password`, `bad_code`. */
export async function joinStaff(
  service: Deps,
  visitor: string,
  form: { readonly code: string; readonly password: string; readonly confirm: string; readonly totp: string },
  atMs = Date.now(),
): Promise<{ readonly cookie: string }> {
  await readInvitation(service, form.code);
  requireNewPassword(form.password, form.confirm);
  const passwordHash = await service.passwords.hash(form.password);
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    const invited = await findInvited(tx, digest(form.code), now);
    const row = invited && (await lockStaff(tx, invited.id));
    if (!row || row.password_hash !== null || row.invite_until === null) refuseInvitation();
    const step = findStep(openSecret(service, row), form.totp, { atMs, after: 0 });
    if (step === undefined) throw badCodeFailure();
    await acceptInvitation(tx, { id: row.id, passwordHash, step, now });
    return await openSession(tx, visitor, row.id, now);
  });
}

/**
 * Signs in with email, password, and code. An incorrect password and an incorrect code fail alike, with
 * `bad_credentials`; too many of them with `rate_limited`.
 */
export async function signInStaff(
  service: Deps,
  visitor: string,
  form: { readonly email: string; readonly password: string; readonly totp: string },
  atMs = Date.now(),
): Promise<{ readonly cookie: string }> {
  const found = await findStaffByEmail(service.db, parseEmail(form.email)?.key ?? '');
  const matches = await service.passwords.verify(form.password, found?.password_hash ?? null);
  if (!found?.password_hash || found.disabled_at) refuseSignIn();
  return await commitThenThrow(service.db, async (tx) => {
    const row = await lockStaff(tx, found.id);
    if (!row || row.disabled_at || row.password_hash !== found.password_hash) return signInFailure();
    const hourAgo = new Date(atMs - HOUR_MS);
    const waitS = lockoutS(row, hourAgo);
    if (waitS > 0) return new Failure('rate_limited', { retry_after_s: waitS });
    const after = row.totp_last_step;
    const step = matches ? findStep(openSecret(service, row), form.totp, { atMs, after }) : undefined;
    if (step === undefined || !(await consumeStaffStep(tx, row.id, step))) {
      await recordStaffFailure(tx, row.id, new Date(atMs), hourAgo);
      return signInFailure();
    }
    return await openSession(tx, visitor, row.id, service.clock.now());
  });
}

function signInFailure(): Failure {
  return new Failure('bad_credentials', {}, 'The email, password, or one-time code is incorrect.');
}

function refuseSignIn(): never {
  throw signInFailure();
}

/** Returns the seconds until the next attempt; 0: now. */
function lockoutS({ failures, failures_since: since }: StaffRow, hourAgo: Date): number {
  if (since === null || since <= hourAgo || failures < STAFF_LIMITS.failuresPerHour) return 0;
  return Math.ceil((since.getTime() - hourAgo.getTime()) / SECOND_MS);
}

async function openSession(
  tx: Sql,
  visitor: string,
  staffId: string,
  now: Date,
): Promise<{ readonly cookie: string }> {
  const cookie = newSessionCookie(visitor);
  await insertStaffSession(tx, { digest: cookie.digest, id: newId(now), staffId, now });
  await trimStaffSessions(tx, staffId, STAFF_LIMITS.sessionsMax, cutoffs(now));
  return { cookie: cookie.text };
}

function cutoffs(now: Date): StaffSessionCutoffs {
  return {
    createdAfter: new Date(now.getTime() - STAFF_LIMITS.sessionMaxHours * HOUR_MS),
    seenAfter: new Date(now.getTime() - STAFF_LIMITS.sessionIdleMinutes * MINUTE_MS),
  };
}

/** Returns who has the cookie with this digest; null: no one, or the session ended. */
export async function identifyStaff(service: Deps, cookieDigest: Buffer): Promise<StaffIdentity | null> {
  const now = service.clock.now();
  const row = await findStaffSession(service.db, cookieDigest, cutoffs(now));
  if (!row?.session_id) return null;
  if (isStale(row, now)) await touchStaffSession(service.db, row.session_id, now);
  return toIdentity(row);
}

/** Returns who has this API token; null: it is unknown, revoked, or expired. */
export async function identifyStaffToken(service: Deps, token: string): Promise<StaffIdentity | null> {
  const now = service.clock.now();
  const row = await findStaffToken(service.db, digest(token), now);
  if (!row?.token_id) return null;
  if (isStale(row, now)) await touchStaffToken(service.db, row.token_id, now);
  return toIdentity(row);
}

function isStale({ seen_at: seenAt }: StaffIdentityRow, now: Date): boolean {
  return seenAt === null || seenAt.getTime() <= now.getTime() - REFRESH_MS;
}

function toIdentity(row: StaffIdentityRow): StaffIdentity {
  return {
    staffId: row.staff_id,
    email: row.email,
    name: row.name,
    role: lowerRole(row),
    sessionId: row.session_id,
    tokenId: row.token_id,
  };
}

/** A token of someone whose role changed since has only the rights that both roles have. */
function lowerRole({ role, token_role: ofToken }: StaffIdentityRow): StaffIdentity['role'] {
  return ofToken === null || ofToken === role || role === 'owner' ? (ofToken ?? role) : 'read_only';
}

export async function signOutStaff({ db }: Pick<Deps, 'db'>, { sessionId }: StaffIdentity): Promise<void> {
  if (sessionId !== null) await deleteStaffSession(db, sessionId);
}
