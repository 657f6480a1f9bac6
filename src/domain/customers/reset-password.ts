/**
 * Sets a new password with a link from a mail. An `undo` link goes to a previous address of the account; it
 * also restores that address and invalidates all later links. Both kinds require a one-time code if the
 * account has a second factor, or a mailbox alone would be enough. However, a second factor that is about
 * as new as the address change may be the attacker's, so an undo link drops it.
 */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, MINUTE_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { findCustomer, updateEmail, updatePassword } from '../../store/customers/customers.ts';
import { invalidateLinks, type MailLinkRow, markLinkUsed } from '../../store/customers/mail-links.ts';
import { deleteOtherSessions } from '../../store/customers/sessions.ts';
import { deleteTotpSince } from '../../store/customers/totp.ts';
import type { Service } from '../context.ts';
import { notifySignIn } from '../sessions/notify-sign-in.ts';
import { type OpenedSession, openSession, type Visit } from '../sessions/open.ts';
import { revertEmailChange, withEmailTakenCheck } from './email-address.ts';
import {
  failBadLink,
  findLink,
  type LockedLink,
  linkActor,
  lockLink,
  requireCodeAttemptsLeft,
  requireUsableLink,
} from './mail-links.ts';
import { requireNewPassword } from './password.ts';
import { commitThenThrow, consumeCodeForLink } from './totp-check.ts';

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
 * Sets the password, ends all sessions, and signs in. The recovery code stays valid. Fails with
 * `weak_password` or `password_mismatch`, then `bad_link` or `account_frozen`, then `code_required` or
 * `bad_code`, which keep the link usable until too many codes were incorrect, and `email_taken` if the
 * previous address cannot be restored.
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
