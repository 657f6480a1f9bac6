/** The announcements that one visitor sees on the panel. */
import { formatId, parseId } from '../../../kernel/ids.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import type { AnnouncementLevel } from '../../../spec/staff/talking.ts';
import {
  type AnnouncementRow,
  insertDismissal,
  listAnnouncementsFor,
  listOpenAnnouncements,
} from '../../../store/customers/announcements.ts';
import type { CustomerActor, Service } from '../../context.ts';

/** Current and planned announcements, which a process caches with the rules. */
export type OpenAnnouncements = readonly AnnouncementRow[];

export interface ShownAnnouncement {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly level: AnnouncementLevel;
  readonly link: string | null;
  readonly since: string;
  readonly isDismissed: boolean;
}

export async function readOpenAnnouncements({
  db,
  clock,
}: Pick<Service, 'db' | 'clock'>): Promise<OpenAnnouncements> {
  return await listOpenAnnouncements(db, clock.now());
}

/**
 * Returns those that concern the customer, newest first; null: a visitor. Asks the database only while there
 * is an announcement.
 */
export async function announcementsFor(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  open: OpenAnnouncements,
  customerId: string | null,
): Promise<readonly ShownAnnouncement[]> {
  const now = clock.now();
  const current = open.filter((row) => row.starts_at <= now && now < row.ends_at);
  if (customerId === null) {
    return current.filter(({ audience }) => audience === 'everyone').map((row) => toShown(row, false));
  }
  if (current.length === 0) return [];
  const ids = current.map(({ id }) => id);
  const found = new Map((await listAnnouncementsFor(db, customerId, ids)).map((row) => [row.id, row]));
  return current.flatMap((row) => {
    const own = found.get(row.id);
    return own ? [toShown(row, own.dismissed)] : [];
  });
}

function toShown(row: AnnouncementRow, isDismissed: boolean): ShownAnnouncement {
  return {
    id: formatId('announcement', row.id),
    ...{ title: row.title, text: row.body, level: row.level, link: row.link },
    since: formatRfc3339(row.starts_at),
    isDismissed,
  };
}

/** An unknown or ended announcement is not on the page anyway. */
export async function dismissAnnouncement(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  { customerId }: CustomerActor,
  shownId: string,
): Promise<void> {
  const announcementId = parseId('announcement', shownId);
  if (announcementId === undefined) return;
  await insertDismissal(db, { announcementId, customerId, now: clock.now() });
}
