/**
 * A new password by a link from a mail. An `undo` link, which goes to an address that the account had, also makes that address
 * the account's again and makes what was mailed since worthless. Where the account has a second factor both ask for a code, or a
 * mailbox alone would be enough; but one that came with the change or shortly before may be a thief's, and an undo link drops it.
 */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, MINUTE_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { findCustomer, updateEmail, updatePassword } from '../../store/customers.ts';
import { invalidateLinks, type MailLinkRow, markLinkUsed } from '../../store/mail-links.ts';
import { deleteOtherSessions } from '../../store/sessions.ts';
import { deleteTotpSince } from '../../store/totp.ts';
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

/** Within this time a form that was sent twice is answered twice alike. */
const DUPLICATE_WINDOW_MS = MINUTE_MS;
const TOTP_TRUSTED_MS = LIMITS.totpTrustedDays * DAY_MS;

interface ResetForm {
  readonly token: string;
  readonly password: string;
  readonly passwordConfirm: string;
  /** Of the second factor. */
  readonly code: string;
}

/**
 * Sets the password, ends all sessions and signs in. The recovery code stays as it is: it was not used. Refuses:
 * `weak_password password_mismatch`, then `bad_link account_frozen`, then `code_required bad_code`, which leave the link as it
 * is until it has heard too many wrong codes, and `email_taken` where an address cannot be had back.
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

/** The hash of the password; `isSet` where this link set this very one a moment ago. Looks before it hashes, which is dear. */
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
    // The link came from the mailbox.
    await updateEmail(tx, id, { address: customer.email, key: customer.email_key, confirmedAt: now });
  }
  await updatePassword(tx, id, passwordHash);
  await deleteOtherSessions(tx, id, null);
  await markLinkUsed(tx, link.digest, now);
  await invalidateLinks(tx, id, ['change', 'reset']);
}
