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
  type MailLinkRow,
  recentLinks,
} from '../../store/mail-links.ts';
import type { Actor, Service } from '../context.ts';
import type { Email } from './email.ts';

const KINDS: Record<LinkPurpose, { readonly path: keyof typeof LINK_PATHS; readonly lifeMs: number }> = {
  confirm: { path: 'confirm', lifeMs: LIMITS.confirmLinkDays * DAY_MS },
  change: { path: 'confirm', lifeMs: LIMITS.confirmLinkDays * DAY_MS },
  reset: { path: 'reset', lifeMs: LIMITS.resetLinkHours * HOUR_MS },
  undo: { path: 'reset', lifeMs: LIMITS.undoLinkDays * DAY_MS },
};
/** For so long it is said of a link that it was used or is over; afterwards it is unknown. */
const REMEMBERED_MS = LIMITS.mailLinkRememberedDays * DAY_MS;

export interface MadeLink {
  /** With the token: it goes into a mail and nowhere else. */
  readonly path: string;
  readonly expiresAt: Date;
  /** What a mail with it is about. */
  readonly cause: string;
}

export async function makeLink(
  tx: Sql,
  link: { readonly customerId: string; readonly purpose: LinkPurpose; readonly email: Email },
  now: Date,
): Promise<MadeLink> {
  const token = randomBytes(32).toString('base64url');
  const { path, lifeMs } = KINDS[link.purpose];
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
  await insertMailLink(tx, row, new Date(now.getTime() - REMEMBERED_MS));
  const cause = `${link.purpose}:${row.digest.toString('hex')}`;
  return { path: linkPath(LINK_PATHS[path], token), expiresAt, cause };
}

/** 0 while another mail with a link may go to this address for this account, else the seconds until it may. */
export async function mailWaitS(tx: Sql, customerId: string, email: Email, now: Date): Promise<number> {
  const since = new Date(now.getTime() - HOUR_MS);
  const made = await recentLinks(tx, { customerId, emailKey: email.key }, since);
  const most = LIMITS.linkMailsPerHour;
  const waits = [made.of_account, made.to_address].map((times) => {
    const oldest = times.at(-most);
    return oldest ? Math.ceil((oldest.getTime() - since.getTime()) / SECOND_MS) : 0;
  });
  return Math.max(...waits);
}

/** Refuses with `rate_limited` where `mailWaitS` asks to wait. The caller holds the customer's lock. */
export async function requireMailRoom(tx: Sql, customerId: string, email: Email, now: Date): Promise<void> {
  const retryAfterS = await mailWaitS(tx, customerId, email, now);
  if (retryAfterS > 0) {
    const message = `At most ${LIMITS.linkMailsPerHour} such mails are sent in an hour; wait and try again.`;
    fail('rate_limited', { retry_after_s: retryAfterS }, message);
  }
}

export interface HeldLink {
  readonly link: MailLinkRow;
  /** Locked. */
  readonly customer: CustomerRow;
}

/** The link of a token and its customer, under the customer's lock. Refuses with `bad_link` where it leads to no such page. */
export async function holdLink(tx: Sql, page: keyof typeof LINK_PATHS, token: string): Promise<HeldLink> {
  const seen = await findMailLink(tx, digest(token));
  if (!seen || KINDS[seen.purpose].path !== page) badLink('unknown');
  const customer = await lockCustomer(tx, seen.customer_id);
  const link = await findMailLink(tx, seen.digest);
  if (!customer || customer.deleting_at !== null || !link) badLink('unknown');
  return { link, customer };
}

/** The link as it is, used or not; undefined where it does not lead to this page. */
export async function lookAtLink(
  service: Pick<Service, 'db'>,
  page: keyof typeof LINK_PATHS,
  token: string,
): Promise<MailLinkRow | undefined> {
  const link = await findMailLink(service.db, digest(token));
  return link && KINDS[link.purpose].path === page ? link : undefined;
}

const WHY = {
  unknown: 'This link is not valid: it is cut short, is no longer needed, or was for something else.',
  used: 'This link was used before: each works once.',
  expired: 'This link is too old.',
  guessed: 'Too many wrong one-time codes were given with this link.',
} as const;

/** Refuses with `bad_link`; the field `reason` says which of these it is. */
export function badLink(reason: keyof typeof WHY): never {
  fail('bad_link', { field: 'token', reason }, `${WHY[reason]} Ask for a new one.`);
}

/** Refuses a link with which codes were guessed at. */
export function requireUnguessed(link: MailLinkRow): void {
  if (link.wrong_codes >= LIMITS.totpWrongPerLink) badLink('guessed');
}

/** Refuses a link that was used, is over, or was guessed with. */
export function requireFresh(link: MailLinkRow, now: Date): void {
  requireUnguessed(link);
  if (link.used_at !== null) badLink('used');
  if (link.expires_at <= now) badLink('expired');
}

/** Who uses a link, for the log of its customer: a session of somebody else is not told of. */
export function actorOfLink(actor: Actor, customerId: string): Actor {
  if (actor.customerId === customerId) return actor;
  return { ...actor, customerId: null, sessionId: null, tokenId: null };
}
