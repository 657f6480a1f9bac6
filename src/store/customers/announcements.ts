/** Announcements on the panel, and which customers dismissed them. */
import type { Sql } from '../../kernel/sql.ts';
import type { AnnouncementLevel, Audience } from '../../spec/staff/talking.ts';
import { assignmentsFor, parametersFor } from '../parameters.ts';

export interface AnnouncementRow {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly level: AnnouncementLevel;
  readonly link: string | null;
  /** Only for customers with a server there; null: for all. */
  readonly region_id: string | null;
  readonly audience: Audience;
  readonly starts_at: Date;
  readonly ends_at: Date;
  readonly created_at: Date;
}

const VALUES = 'title, body, level, link, region_id, audience, starts_at, ends_at';
const COLUMNS = `id, ${VALUES}, created_at`;

export async function insertAnnouncement(tx: Sql, row: AnnouncementRow): Promise<void> {
  await tx.run(`insert into announcements (${COLUMNS}) values (${parametersFor(COLUMNS)})`, row);
}

export async function saveAnnouncement(tx: Sql, row: AnnouncementRow): Promise<void> {
  await tx.run(`update announcements set ${assignmentsFor(VALUES)} where id = $id`, row);
}

export async function findAnnouncement(tx: Sql, id: string): Promise<AnnouncementRow | undefined> {
  return await tx.row<AnnouncementRow>(`select ${COLUMNS} from announcements where id = $1`, [id]);
}

export async function lockAnnouncement(tx: Sql, id: string): Promise<AnnouncementRow | undefined> {
  return await tx.row<AnnouncementRow>(`select ${COLUMNS} from announcements where id = $1 for update`, [id]);
}

/** Newest first. `beforeId` null: from the newest. */
export async function listAnnouncements(
  tx: Sql,
  { beforeId, limit }: { readonly beforeId: string | null; readonly limit: number },
): Promise<AnnouncementRow[]> {
  return await tx.rows<AnnouncementRow>(
    `select ${COLUMNS} from announcements where $1::uuid is null or id < $1 order by id desc limit $2`,
    [beforeId, limit],
  );
}

/** Returns current and planned ones, newest first. */
export async function listOpenAnnouncements(tx: Sql, now: Date): Promise<AnnouncementRow[]> {
  return await tx.rows<AnnouncementRow>(
    `select ${COLUMNS} from announcements where ends_at > $1 order by starts_at desc, id desc`,
    [now],
  );
}

/** Returns those among `ids` that concern the customer, and whether the customer dismissed each. */
export async function listAnnouncementsFor(
  tx: Sql,
  customerId: string,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly dismissed: boolean }[]> {
  return await tx.rows(
    `select a.id, exists (select from announcement_dismissals d
                           where d.customer_id = $1 and d.announcement_id = a.id) as dismissed
       from announcements a
      where a.id = any($2::uuid[])
        and (a.region_id is null or exists (select from servers s
              where s.customer_id = $1 and s.region_id = a.region_id and s.status <> 'destroying'))`,
    [customerId, ids],
  );
}

/** Does nothing if the customer dismissed it before, or if it does not exist. */
export async function insertDismissal(
  tx: Sql,
  row: { readonly announcementId: string; readonly customerId: string; readonly now: Date },
): Promise<void> {
  await tx.run(
    `insert into announcement_dismissals (announcement_id, customer_id, dismissed_at)
     select id, $customerId, $now from announcements where id = $announcementId and ends_at > $now
     on conflict do nothing`,
    row,
  );
}
