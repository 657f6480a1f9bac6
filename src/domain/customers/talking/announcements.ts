/**
 * Announcements as staff publish them. A change raises the version of the rules, so that
 * every process reads the open ones again.
 */
import { fail, invalidRequest } from '../../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../../kernel/ids.ts';
import { requireLine, requireText } from '../../../kernel/operator-error.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS, formatRfc3339 } from '../../../kernel/time.ts';
import type { Action } from '../../../spec/actions.ts';
import {
  type AnnouncementLevel,
  type Audience,
  TALKING_LIMITS as LIMITS,
} from '../../../spec/staff/talking.ts';
import {
  type AnnouncementRow,
  findAnnouncement,
  insertAnnouncement,
  listOpenAnnouncements,
  listAnnouncements as listRows,
  lockAnnouncement,
  saveAnnouncement,
} from '../../../store/customers/announcements.ts';
import { incrementRulesVersion } from '../../../store/service/rules.ts';
import type { Service } from '../../context.ts';
import { requireRegion } from '../../inventory/names.ts';
import { recordAudit, systemActor } from '../../record.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

export interface AnnouncementOrder {
  readonly title: string;
  readonly text: string;
  readonly level: AnnouncementLevel;
  readonly link?: string | undefined;
  /** Only for customers with a server there. */
  readonly region?: string | undefined;
  readonly audience: Audience;
  /** Default: now. */
  readonly from?: Date | undefined;
  readonly until: Date;
}

/** Omitted fields stay. */
export type AnnouncementChange = {
  readonly [Name in keyof AnnouncementOrder]?: AnnouncementOrder[Name] | undefined;
};

export type AnnouncementObject = ReturnType<typeof toObject>;

/** Fails with `invalid_request`, `limit_reached`, or an `OperatorError`. */
export async function createAnnouncement(service: Deps, order: AnnouncementOrder) {
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const row = { id: newId(now), ...(await parseOrder(tx, order, now)), created_at: now };
    const limit = LIMITS.announcementsOpen;
    // The lock on the rules serializes the count.
    await incrementRulesVersion(tx);
    if ((await listOpenAnnouncements(tx, now)).length >= limit) {
      fail('limit_reached', { limit }, `There can be ${limit} open announcements. End one first.`);
    }
    await insertAnnouncement(tx, row);
    return await record(tx, row, 'announcement.create', now);
  });
}

/** Customers who dismissed it do not see it again. Fails like `createAnnouncement`. */
export async function changeAnnouncement(service: Deps, shownId: string, change: AnnouncementChange) {
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    await incrementRulesVersion(tx);
    const before = await requireOpen(tx, shownId, now);
    const order: AnnouncementOrder = {
      ...{ title: before.title, text: before.body, level: before.level, audience: before.audience },
      ...{ link: before.link ?? '', region: before.region_id ?? '' },
      ...{ from: before.starts_at, until: before.ends_at },
      ...Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)),
    };
    const row = { ...before, ...(await parseOrder(tx, order, now)) };
    await saveAnnouncement(tx, row);
    return await record(tx, row, 'announcement.change', now);
  });
}

/** No one sees it from now on. Fails with `not_found` or `conflict_state`. */
export async function endAnnouncement(service: Deps, shownId: string) {
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    await incrementRulesVersion(tx);
    const before = await requireOpen(tx, shownId, now);
    const row = {
      ...before,
      starts_at: before.starts_at > now ? now : before.starts_at,
      ends_at: now,
    };
    await saveAnnouncement(tx, row);
    return await record(tx, row, 'announcement.end', now);
  });
}

async function record(tx: Sql, row: AnnouncementRow, action: Action, now: Date) {
  const resource = formatId('announcement', row.id);
  await recordAudit(tx, { actor: systemActor(now), action, resource }, now);
  return toObject(row, now);
}

async function requireOpen(tx: Sql, shownId: string, now: Date): Promise<AnnouncementRow> {
  const id = parseId('announcement', shownId);
  const row = id === undefined ? undefined : await lockAnnouncement(tx, id);
  if (!row) announcementNotFound();
  if (row.ends_at <= now) fail('conflict_state', {}, 'This announcement has ended. Publish another one.');
  return row;
}

async function parseOrder(tx: Sql, order: AnnouncementOrder, now: Date) {
  const title = requireLine('title', order.title);
  const body = requireText('text', order.text);
  requireLength('title', title, LIMITS.titleMaxChars);
  requireLength('text', body, LIMITS.announcementMaxChars);
  const region = order.region?.trim() || null;
  if (region !== null) await requireRegion(tx, region);
  if (region !== null && order.audience === 'everyone') {
    const message = 'Visitors have no servers. Show an announcement about a region to customers only.';
    invalidRequest([{ field: 'audience', issue: 'invalid_value' }], message);
  }
  const starts = order.from ?? now;
  requirePeriod(starts, order.until, now);
  return {
    ...{ title, body, level: order.level, link: parseLink(order.link?.trim() ?? '') },
    ...{ region_id: region, audience: order.audience, starts_at: starts, ends_at: order.until },
  };
}

function requireLength(field: string, text: string, max: number): void {
  if (text.length > max) invalidRequest([{ field, issue: 'max_length', max }]);
}

function requirePeriod(from: Date, until: Date, now: Date): void {
  const latest = new Date(now.getTime() + LIMITS.announcementMaxDays * DAY_MS);
  if (until > from && until > now && until <= latest) return;
  const message = `An announcement ends after it begins, and within ${LIMITS.announcementMaxDays} days.`;
  invalidRequest([{ field: 'until', issue: 'invalid_value' }], message);
}

/** A page of the panel, or an address on the web. */
function parseLink(text: string): string | null {
  if (text === '') return null;
  const isPath = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text);
  const url = URL.parse(text);
  const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '';
  if (text.length <= LIMITS.linkMaxChars && (isPath || isWeb)) return isPath ? text : url?.href || null;
  const message = 'A link is a page of the panel such as /status, or begins with https://.';
  return invalidRequest([{ field: 'link', issue: 'invalid_format' }], message);
}

/** Newest first, and whether there are more. */
export async function listAnnouncements(
  { db, clock }: Deps,
  { before, limit }: { readonly before?: string; readonly limit: number },
): Promise<{ readonly announcements: AnnouncementObject[]; readonly hasMore: boolean }> {
  const beforeId = before === undefined ? null : parseId('announcement', before);
  if (beforeId === undefined) return { announcements: [], hasMore: false };
  const rows = await listRows(db, { beforeId, limit: limit + 1 });
  const now = clock.now();
  return {
    announcements: rows.slice(0, limit).map((row) => toObject(row, now)),
    hasMore: rows.length > limit,
  };
}

/** Fails with `not_found`. */
export async function readAnnouncement({ db, clock }: Deps, shownId: string): Promise<AnnouncementObject> {
  const id = parseId('announcement', shownId);
  const row = id === undefined ? undefined : await findAnnouncement(db, id);
  return toObject(row ?? announcementNotFound(), clock.now());
}

function toObject(row: AnnouncementRow, now: Date) {
  return {
    object: 'announcement' as const,
    id: formatId('announcement', row.id),
    title: row.title,
    text: row.body,
    level: row.level,
    link: row.link,
    region: row.region_id,
    audience: row.audience,
    state: stateOf(row, now),
    starts_at: formatRfc3339(row.starts_at),
    ends_at: formatRfc3339(row.ends_at),
    created_at: formatRfc3339(row.created_at),
  };
}

function stateOf(row: AnnouncementRow, now: Date): 'planned' | 'shown' | 'ended' {
  if (row.ends_at <= now) return 'ended';
  return row.starts_at > now ? 'planned' : 'shown';
}

function announcementNotFound(): never {
  fail('not_found', {}, 'Announcement not found.');
}
