/**
 * Resets a password by a link in a mail.
 * Every requested address is queued alike and looked up later by a worker, so neither the response nor its
 * timing reveals whether the account exists.
 * An `undo` link goes to a previous address of the account; it also restores that address and invalidates
 * all later links. Both kinds require a one-time code if the account has a second factor, or a mailbox
 * alone would be enough. However, a second factor that is about as new as the address change may be the
 * attacker's, so an undo link drops it.
 */
import { fail } from '../../kernel/fail.ts';
import { newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, MINUTE_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { SEALED } from '../../spec/sealed.ts';
import {
  type CustomerRow,
  findCustomer,
  findCustomerByEmail,
  lockCustomer,
  updateEmail,
  updatePassword,
} from '../../store/customers/customers.ts';
import {
  deleteResetRequest,
  findResetRequest,
  insertResetRequest,
  invalidateLinks,
  type MailLinkRow,
  markLinkUsed,
  type ResetRequestRow,
} from '../../store/customers/mail-links.ts';
import { deleteOtherSessions } from '../../store/customers/sessions.ts';
import { deleteTotpSince } from '../../store/customers/totp.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { Actor, Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { recordAudit, systemActor } from '../record.ts';
import { notifySignIn, type OpenedSession, openSession, type Visit } from '../sessions/open.ts';
import { revokeAccess } from './access.ts';
import { revertEmailChange, withEmailTakenCheck } from './email/address.ts';
import { requireEmail } from './email/email.ts';
import {
  createLink,
  failBadLink,
  findLink,
  type LockedLink,
  linkActor,
  linkMailRetryAfterS,
  lockLink,
  requireCodeAttemptsLeft,
  requireUsableLink,
} from './email/links.ts';
import { requireNewPassword } from './password.ts';
import { commitThenThrow, consumeCodeForLink } from './totp-check.ts';

/** The bound on pending requests. Above it, every request fails alike. */
const PENDING_MAX = 1_000;

/**
 * Fails with `bad_email`, with `unavailable` without a mailer, or with `maintenance` if too many requests
 * are pending.
 */
export async function requestReset(service: Service, actor: Actor, typedEmail: string): Promise<void> {
  const email = requireEmail(typedEmail);
  if (service.mailer === null) {
    fail('unavailable', { field: 'email' }, 'This service sends no email. Use your recovery code instead.');
  }
  const now = service.clock.now();
  const id = newId(now);
  await service.db.transaction(async (tx) => {
    const sealed = service.keys.seal(SEALED.resetRequest, id, email.key);
    const row = { id, email_sealed: sealed, ip_country: actor.ipCountry, requested_at: now };
    if (!(await insertResetRequest(tx, row, PENDING_MAX))) fail('maintenance', { retry_after_s: 30 });
    await enqueueTask(tx, { kind: 'reset_request', subject: id, now });
  });
  service.wake();
}

/** Task `reset_request`: mails a link if the account exists and is below its mail limit. */
export async function processResetRequest(service: Service, id: string): Promise<'done'> {
  const request = await findResetRequest(service.db, id);
  if (!request) return 'done';
  const emailKey = service.keys.open(SEALED.resetRequest, id, request.email_sealed).toString();
  await service.db.transaction(async (tx) => {
    if (!(await deleteResetRequest(tx, id))) return;
    const found = await findCustomerByEmail(tx, emailKey);
    const customer = found && (await lockCustomer(tx, found.id));
    if (customer?.email_key === emailKey) await enqueueResetMail(tx, service, customer, request);
  });
  service.wake();
  return 'done';
}

async function enqueueResetMail(
  tx: Sql,
  service: Service,
  customer: CustomerRow,
  request: ResetRequestRow,
): Promise<void> {
  const now = service.clock.now();
  const { id: customerId } = customer;
  const email = { address: customer.email, key: customer.email_key };
  if (customer.deleting_at !== null || (await linkMailRetryAfterS(tx, customerId, email, now)) > 0) return;
  const { path, expiresAt, cause } = await createLink(tx, { customerId, purpose: 'reset', email }, now);
  const { requested_at: requestedAt, ip_country: country } = request;
  const data = { path, expiresAt, requestedAt, country };
  await enqueueMail(tx, { customerId, kind: 'reset_password', cause, data }, now, service.keys);
  const actor = { ...systemActor(now), ipCountry: country };
  await recordAudit(tx, { actor, action: 'customer.request_reset', resource: null, customerId }, now);
}

/** A form that is sent twice within this time gets the same response. */
const DUPLICATE_WINDOW_MS = MINUTE_MS;
const TOTP_TRUSTED_MS = LIMITS.totpTrustedDays * DAY_MS;

interface ResetForm {
  readonly token: string;
  readonly password: string;
  readonly passwordConfirm: string;
  /** The one-time code; empty if none was entered. */
  readonly code: string;
}

/**
 * Sets the password, ends all sessions, revokes all other access, and signs in. The recovery code stays
 * valid. Fails with `weak_password` or `password_mismatch`, then `bad_link` or `account_frozen`, then
 * `code_required` or `bad_code`, which keep the link usable until too many codes were incorrect, and
 * `email_taken` if the previous address cannot be restored.
 */
export async function resetPassword(
  service: Service,
  visit: Visit,
  form: ResetForm,
  atMs = Date.now(),
): Promise<OpenedSession> {
  requireNewPassword(form.password, form.passwordConfirm);
  const { passwordHash, isSet } = await hashNewPassword(service, form);
  const opened = await withEmailTakenCheck(() =>
    commitThenThrow(service.db, async (tx) => {
      const locked = await lockLink(tx, 'reset', form.token);
      const now = service.clock.now();
      const { id, password_hash: current, frozen_at: frozenAt } = locked.customer;
      requireCodeAttemptsLeft(locked.link);
      if (!isSet || current !== passwordHash) requireUsableLink(locked.link, now);
      if (frozenAt) fail('account_frozen');
      if (!isSet && locked.link.purpose === 'undo') await dropRecentTotp(tx, locked.link);
      const refused = await consumeCodeForLink(tx, service, locked.link, {
        code: form.code,
        atMs,
        isRepeat: isSet,
      });
      if (refused) return refused;
      if (!isSet) await applyReset(tx, service, locked, passwordHash, now);
      const action = locked.link.purpose === 'undo' ? 'customer.undo_email' : 'customer.reset_password';
      const by = { ...visit, actor: linkActor(visit.actor, id) };
      const session = await openSession(tx, by, { id, action }, now);
      const actor = { ...by.actor, customerId: id, sessionId: session.sessionId };
      if (!isSet) await revokeAccess(tx, service, actor, 'reset_link', now);
      await notifySignIn(tx, service, { customerId: id, ...session }, now);
      return session;
    }),
  );
  service.wake();
  return opened;
}

/**
 * Hashes the password. `isSet`: this link set this very password a moment ago. Validates the link first,
 * because hashing is expensive.
 */
async function hashNewPassword(
  service: Service,
  { token, password }: ResetForm,
): Promise<{ readonly passwordHash: string; readonly isSet: boolean }> {
  const link = (await findLink(service, 'reset', token)) ?? failBadLink('unknown');
  const now = service.clock.now();
  if (link.used_at !== null && now.getTime() - link.used_at.getTime() <= DUPLICATE_WINDOW_MS) {
    const passwordHash = (await findCustomer(service.db, link.customer_id))?.password_hash ?? null;
    if ((await service.passwords.verify(password, passwordHash)) && passwordHash !== null)
      return { passwordHash, isSet: true };
  }
  requireUsableLink(link, now);
  return { passwordHash: await service.passwords.hash(password), isSet: false };
}

async function dropRecentTotp(tx: Sql, link: MailLinkRow): Promise<void> {
  await deleteTotpSince(tx, link.customer_id, new Date(link.created_at.getTime() - TOTP_TRUSTED_MS));
}

async function applyReset(
  tx: Sql,
  service: Service,
  locked: LockedLink,
  passwordHash: string,
  now: Date,
): Promise<void> {
  const { link, customer } = locked;
  const { id } = customer;
  if (link.purpose === 'undo') {
    await revertEmailChange(tx, service, locked, now);
  } else if (customer.email_confirmed_at === null) {
    // The link proves access to the mailbox.
    await updateEmail(tx, id, { address: customer.email, key: customer.email_key, confirmedAt: now });
  }
  await updatePassword(tx, id, passwordHash);
  await deleteOtherSessions(tx, id, null);
  await markLinkUsed(tx, link.digest, now);
  await invalidateLinks(tx, id, ['change', 'reset']);
}
