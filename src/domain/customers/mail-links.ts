/**
 * Links in mails. A link is 256 random bits, of which only the digest is stored; it does its one thing once, for a while.
 * Whoever uses it holds the customer's lock meanwhile, so of two at once the second finds it used.
 */
import { randomBytes } from 'node:crypto';
import { fail } from '../../kernel/fail.ts';
import { digest } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { LINK_PATHS, linkPath } from '../../spec/paths.ts';
import { type CustomerRow, lockCustomer } from '../../store/customers.ts';
import {
  findMailLink,
  insertMailLink,
  type LinkPurpose,
  listRecentLinks,
  type MailLinkRow,
} from '../../store/mail-links.ts';
import type { Actor, Service } from '../context.ts';
import type { Email } from './email.ts';

const LINK_KINDS: Record<LinkPurpose, { readonly path: keyof typeof LINK_PATHS; readonly lifeMs: number }> = {
  confirm: { path: 'confirm', lifeMs: LIMITS.confirmLinkDays * DAY_MS },
  change: { path: 'confirm', lifeMs: LIMITS.confirmLinkDays * DAY_MS },
  reset: { path: 'reset', lifeMs: LIMITS.resetLinkHours * HOUR_MS },
  undo: { path: 'reset', lifeMs: LIMITS.undoLinkDays * DAY_MS },
};
/** For so long it is said of a link that it was used or is over; afterwards it is unknown. */
const RETENTION_MS = LIMITS.mailLinkRetentionDays * DAY_MS;

export interface CreatedLink {
  /** With the token: it goes into a mail and nowhere else. */
  readonly path: string;
  readonly expiresAt: Date;
  /** What a mail with it is about. */
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

/** 0 while another mail with a link may go to this address for this account, else the seconds until it may. */
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

/** Refuses with `rate_limited` where `mailWaitS` asks to wait. The caller holds the customer's lock. */
export async function requireLinkMailQuota(
  tx: Sql,
  customerId: string,
  email: Email,
  now: Date,
): Promise<void> {
  const retryAfterS = await linkMailRetryAfterS(tx, customerId, email, now);
  if (retryAfterS > 0) {
    const message = `At most ${LIMITS.linkMailsPerHour} such mails are sent in an hour; wait and try again.`;
    fail('rate_limited', { retry_after_s: retryAfterS }, message);
  }
}

export interface LockedLink {
  readonly link: MailLinkRow;
  /** Locked. */
  readonly customer: CustomerRow;
}

/** The link of a token and its customer, under the customer's lock. Refuses with `bad_link` where it leads to no such page. */
export async function lockLink(tx: Sql, page: keyof typeof LINK_PATHS, token: string): Promise<LockedLink> {
  const unlocked = await findMailLink(tx, digest(token));
  if (!unlocked || LINK_KINDS[unlocked.purpose].path !== page) failBadLink('unknown');
  const customer = await lockCustomer(tx, unlocked.customer_id);
  const link = await findMailLink(tx, unlocked.digest);
  if (!customer || customer.deleting_at !== null || !link) failBadLink('unknown');
  return { link, customer };
}

/** The link as it is, used or not; undefined where it does not lead to this page. */
export async function findLink(
  service: Pick<Service, 'db'>,
  page: keyof typeof LINK_PATHS,
  token: string,
): Promise<MailLinkRow | undefined> {
  const link = await findMailLink(service.db, digest(token));
  return link && LINK_KINDS[link.purpose].path === page ? link : undefined;
}

const LINK_MESSAGES = {
  unknown: 'This link is not valid: it is cut short, is no longer needed, or was for something else.',
  used: 'This link was used before: each works once.',
  expired: 'This link is too old.',
  guessed: 'Too many wrong one-time codes were given with this link.',
} as const;

/** Refuses with `bad_link`; the field `reason` says which of these it is. */
export function failBadLink(reason: keyof typeof LINK_MESSAGES): never {
  fail('bad_link', { field: 'token', reason }, `${LINK_MESSAGES[reason]} Ask for a new one.`);
}

/** Refuses a link with which codes were guessed at. */
export function requireCodeAttemptsLeft(link: MailLinkRow): void {
  if (link.wrong_codes >= LIMITS.totpFailuresPerLink) failBadLink('guessed');
}

/** Refuses a link that was used, is over, or was guessed with. */
export function requireUsableLink(link: MailLinkRow, now: Date): void {
  requireCodeAttemptsLeft(link);
  if (link.used_at !== null) failBadLink('used');
  if (link.expires_at <= now) failBadLink('expired');
}

/** Who uses a link, for the log of its customer: a session of somebody else is not told of. */
export function linkActor(actor: Actor, customerId: string): Actor {
  if (actor.customerId === customerId) return actor;
  return { ...actor, customerId: null, sessionId: null, tokenId: null };
}
