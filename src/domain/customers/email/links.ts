/**
 * Single-use links in mail. A link is 256 random bits, of which only the digest is stored, and expires. It
 * is used under the customer's lock, so the second of two concurrent uses finds it used.
 */
import { randomBytes } from 'node:crypto';
import { fail } from '../../../kernel/fail.ts';
import { digest } from '../../../kernel/secrets.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { LINK_PATHS, linkPath } from '../../../spec/paths.ts';
import { type CustomerRow, lockCustomer } from '../../../store/customers/customers.ts';
import {
  findMailLink,
  insertMailLink,
  type LinkPurpose,
  listRecentLinks,
  type MailLinkRow,
} from '../../../store/customers/mail-links.ts';
import type { Actor, Service } from '../../context.ts';
import type { Email } from './email.ts';

const LINK_KINDS: Record<LinkPurpose, { readonly path: keyof typeof LINK_PATHS; readonly lifeMs: number }> = {
  confirm: { path: 'confirm', lifeMs: LIMITS.confirmLinkDays * DAY_MS },
  change: { path: 'confirm', lifeMs: LIMITS.confirmLinkDays * DAY_MS },
  reset: { path: 'reset', lifeMs: LIMITS.resetLinkHours * HOUR_MS },
  undo: { path: 'reset', lifeMs: LIMITS.undoLinkDays * DAY_MS },
};
/** How long a used or expired link is reported as such. After that it is unknown. */
const RETENTION_MS = LIMITS.mailLinkRetentionDays * DAY_MS;

export interface CreatedLink {
  /** Contains the token: use it in the mail and nowhere else. */
  readonly path: string;
  readonly expiresAt: Date;
  /** The cause to queue the mail with. */
  readonly cause: string;
}

export async function createLink(
  tx: Sql,
  link: { readonly customerId: string; readonly purpose: LinkPurpose; readonly email: Email },
  now: Date,
): Promise<CreatedLink> {
  const token = randomBytes(32).toString('base64url');
  const { path, lifeMs } = LINK_KINDS[link.purpose];
  const expiresAt = new Date(now.getTime() + lifeMs);
  const row = {
    digest: digest(token),
    customer_id: link.customerId,
    purpose: link.purpose,
    email: link.email.address,
    email_key: link.email.key,
    created_at: now,
    expires_at: expiresAt,
  };
  await insertMailLink(tx, row, new Date(now.getTime() - RETENTION_MS));
  const cause = `${link.purpose}:${row.digest.toString('hex')}`;
  return { path: linkPath(LINK_PATHS[path], token), expiresAt, cause };
}

/** Returns the seconds until another link may be mailed to this address for this account; 0: now. */
export async function linkMailRetryAfterS(
  tx: Sql,
  customerId: string,
  email: Email,
  now: Date,
): Promise<number> {
  const since = new Date(now.getTime() - HOUR_MS);
  const recent = await listRecentLinks(tx, { customerId, emailKey: email.key }, since);
  const limit = LIMITS.linkMailsPerHour;
  const waits = [recent.of_account, recent.to_address].map((times) => {
    const oldest = times.at(-limit);
    return oldest ? Math.ceil((oldest.getTime() - since.getTime()) / SECOND_MS) : 0;
  });
  return Math.max(...waits);
}

/** Fails with `rate_limited` while `linkMailRetryAfterS` is above 0. The caller holds the customer's lock. */
export async function requireLinkMailQuota(
  tx: Sql,
  customerId: string,
  email: Email,
  now: Date,
): Promise<void> {
  const retryAfterS = await linkMailRetryAfterS(tx, customerId, email, now);
  if (retryAfterS > 0) {
    const message = `Only ${LIMITS.linkMailsPerHour} of these emails are sent per hour. Try again later.`;
    fail('rate_limited', { retry_after_s: retryAfterS }, message);
  }
}

export interface LockedLink {
  readonly link: MailLinkRow;
  /** Locked. */
  readonly customer: CustomerRow;
}

/**
 * Returns the token's link and its locked customer. Fails with `bad_link` if the link is for another page.
 */
export async function lockLink(tx: Sql, page: keyof typeof LINK_PATHS, token: string): Promise<LockedLink> {
  const unlocked = await findMailLink(tx, digest(token));
  if (!unlocked || LINK_KINDS[unlocked.purpose].path !== page) failBadLink('unknown');
  const customer = await lockCustomer(tx, unlocked.customer_id);
  const link = await findMailLink(tx, unlocked.digest);
  if (!customer || customer.deleting_at !== null || !link) failBadLink('unknown');
  return { link, customer };
}

/** Returns the link, used or not; undefined if it is for another page. */
export async function findLink(
  service: Pick<Service, 'db'>,
  page: keyof typeof LINK_PATHS,
  token: string,
): Promise<MailLinkRow | undefined> {
  const link = await findMailLink(service.db, digest(token));
  return link && LINK_KINDS[link.purpose].path === page ? link : undefined;
}

const LINK_MESSAGES = {
  unknown: 'This link is invalid: it is incomplete, was replaced, or is for another page.',
  used: 'This link has already been used.',
  expired: 'This link has expired.',
  guessed: 'This link was blocked after too many incorrect one-time codes.',
} as const;

/** Fails with `bad_link`; the field `reason` says why. */
export function failBadLink(reason: keyof typeof LINK_MESSAGES): never {
  fail('bad_link', { field: 'token', reason }, `${LINK_MESSAGES[reason]} Request a new one.`);
}

/** Fails if too many one-time codes were tried with the link. */
export function requireCodeAttemptsLeft(link: MailLinkRow): void {
  if (link.wrong_codes >= LIMITS.totpFailuresPerLink) failBadLink('guessed');
}

/** Fails if the link was used, has expired, or was blocked. */
export function requireUsableLink(link: MailLinkRow, now: Date): void {
  requireCodeAttemptsLeft(link);
  if (link.used_at !== null) failBadLink('used');
  if (link.expires_at <= now) failBadLink('expired');
}

/**
 * Returns the actor for the audit log of the link's customer. Another customer's session is not recorded
 * there.
 */
export function linkActor(actor: Actor, customerId: string): Actor {
  if (actor.customerId === customerId) return actor;
  return { ...actor, customerId: null, sessionId: null, tokenId: null };
}
