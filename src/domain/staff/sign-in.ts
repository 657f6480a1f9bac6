/**
 * How staff get in: an invitation sets a password and an authenticator app, and both are asked for at every
 * sign-in.
 */
import { fail } from '../../kernel/fail.ts';
import { newId } from '../../kernel/ids.ts';
import { digest } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import { HOUR_MS, MINUTE_MS } from '../../kernel/time.ts';
import { SEALED } from '../../spec/sealed.ts';
import { STAFF_LIMITS } from '../../spec/staff/roles.ts';
import {
  deleteOtherStaffSessions,
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
  type StaffRow,
  setStaffPassword,
} from '../../store/staff/staff.ts';
import type { Service } from '../context.ts';
import { parseEmail } from '../customers/email/email.ts';
import { requireNewPassword } from '../customers/password.ts';
import { badCodeFailure, findStep, secretUri } from '../customers/totp-check.ts';
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
 * `bad_credentials`. The caller limits attempts.
 */
export async function signInStaff(
  service: Deps,
  visitor: string,
  form: { readonly email: string; readonly password: string; readonly totp: string },
  atMs = Date.now(),
): Promise<{ readonly cookie: string }> {
  const found = await findStaffByEmail(service.db, parseEmail(form.email)?.key ?? '');
  const matches = await service.passwords.verify(form.password, found?.password_hash ?? null);
  if (!found?.password_hash || !matches) refuseSignIn();
  return await service.db.transaction(async (tx) => {
    const row = await lockStaff(tx, found.id);
    if (!row || row.disabled_at || row.password_hash !== found.password_hash) refuseSignIn();
    if (!(await consumeCode(tx, service, row, { code: form.totp, atMs }))) refuseSignIn();
    return await openSession(tx, visitor, row.id, service.clock.now());
  });
}

/** Signs in the owner of a passkey that was proved. Fails with `bad_credentials` if their access ended. */
export async function signInStaffById(
  service: Deps,
  visitor: string,
  staffId: string,
): Promise<{ readonly cookie: string }> {
  return await service.db.transaction(async (tx) => {
    const row = await lockStaff(tx, staffId);
    if (!row || row.disabled_at || row.password_hash === null) refuseSignIn();
    return await openSession(tx, visitor, row.id, service.clock.now());
  });
}

/**
 * Changes one's own password, and ends the other sessions. Fails with `bad_credentials`, `bad_code`, or
 * `weak_password`.
 */
export async function changeStaffPassword(
  service: Deps,
  { staffId, sessionId }: Pick<StaffIdentity, 'staffId' | 'sessionId'>,
  form: {
    readonly current: string;
    readonly password: string;
    readonly confirm: string;
    readonly code: string;
  },
): Promise<void> {
  requireNewPassword(form.password, form.confirm);
  const known = await service.db.transaction(async (tx) => await lockStaff(tx, staffId));
  if (!(await service.passwords.verify(form.current, known?.password_hash ?? null))) {
    fail('bad_credentials', { field: 'current_password' }, 'The current password is incorrect.');
  }
  const passwordHash = await service.passwords.hash(form.password);
  await requireStaffCode(service, staffId, form.code);
  await service.db.transaction(async (tx) => {
    const row = await lockStaff(tx, staffId);
    if (!row || row.password_hash !== known?.password_hash) fail('auth_required');
    await setStaffPassword(tx, staffId, passwordHash);
    await deleteOtherStaffSessions(tx, staffId, sessionId);
  });
}

function refuseSignIn(): never {
  fail('bad_credentials', {}, 'The email, password, or one-time code is incorrect.');
}

/** Consumes a code of a person, before they create something that lasts. Fails with `bad_code`. */
export async function requireStaffCode(
  service: Pick<Service, 'db' | 'keys'>,
  staffId: string,
  code: string,
  atMs = Date.now(),
): Promise<void> {
  await service.db.transaction(async (tx) => {
    const row = (await lockStaff(tx, staffId)) ?? fail('auth_required');
    if (!(await consumeCode(tx, service, row, { code, atMs }))) throw badCodeFailure();
  });
}

/** Returns false for a code that is wrong or was used. */
async function consumeCode(
  tx: Sql,
  service: Pick<Service, 'keys'>,
  row: StaffRow,
  { code, atMs }: { readonly code: string; readonly atMs: number },
): Promise<boolean> {
  const step = findStep(openSecret(service, row), code, { atMs, after: row.totp_last_step });
  return step !== undefined && (await consumeStaffStep(tx, row.id, step));
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

/**
 * Returns who has the cookie with this digest; null: no one, or the session ended. `isUse` false: a page that
 * is left open does not keep the session.
 */
export async function identifyStaff(
  service: Deps,
  cookieDigest: Buffer,
  { isUse = true }: { readonly isUse?: boolean } = {},
): Promise<StaffIdentity | null> {
  const now = service.clock.now();
  const row = await findStaffSession(service.db, cookieDigest, cutoffs(now));
  if (!row?.session_id) return null;
  if (isUse && isStale(row, now)) await touchStaffSession(service.db, row.session_id, now);
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
