/** Mailings as staff preview, start, pause, and stop them. A worker sends them (send-mailings.ts). */
import { fail, invalidRequest } from '../../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import type { Action } from '../../../spec/actions.ts';
import { NEWS_OFF_PATHS } from '../../../spec/paths.ts';
import { type MailingCriteria, type MailingKind, TALKING_LIMITS } from '../../../spec/staff/talking.ts';
import {
  findMailing,
  insertMailing,
  listMailings as listRows,
  lockMailing,
  type MailingRow,
  previewRecipients,
  saveMailing,
  settleRecipients,
  withdrawQueuedMails,
} from '../../../store/customers/mailings.ts';
import type { Service } from '../../context.ts';
import { renderMail } from '../../mail/render.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { cleanSubject, cleanText } from '../tickets/text.ts';
import { describeCriteria, givenCriteria, readCents, toRecipientFilter } from './criteria.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'settings'>;

export interface MailingOrder extends MailingCriteria {
  readonly kind: MailingKind;
  readonly subject: string;
  readonly text: string;
}

export type MailingObject = ReturnType<typeof toObject>;
export type MailingPreview = Awaited<ReturnType<typeof previewMailing>>;

/** Shows who would get it now, and the mail. Sends nothing. Fails with `invalid_request`. */
export async function previewMailing({ db, settings }: Pick<Deps, 'db' | 'settings'>, order: MailingOrder) {
  const { kind, subject, body } = checkMailing(order);
  const filter = await toRecipientFilter(db, kind, order);
  const { count, first } = await previewRecipients(db, filter, TALKING_LIMITS.recipientsShown);
  return {
    object: 'mailing_preview' as const,
    to: describeCriteria(kind, order),
    recipients: count,
    first: first.map(({ id, email }) => ({ id: formatId('customer', id), email })),
    mail: renderMailing({ kind, subject, body }, settings.baseUrl),
    /** The previewed input, to send the same. */
    order: { kind, subject, text: body, ...givenCriteria(order) },
  };
}

/** The link that turns news off differs for each customer. */
function renderMailing({ kind, subject, body }: Pick<MailingRow, 'kind' | 'subject' | 'body'>, url: string) {
  const off = {
    path: `${NEWS_OFF_PATHS.page}?token=…`,
    postPath: `${NEWS_OFF_PATHS.post}?token=…`,
  };
  const data = { subject, text: body, off: kind === 'news' ? off : null };
  const rendered = renderMail('mailing', data, { baseUrl: url });
  return { subject: rendered.subject, text: rendered.text };
}

/** Checks everything that needs no database. Fails with `invalid_request`. */
export function checkMailing(order: MailingOrder): Pick<MailingRow, 'kind' | 'subject' | 'body'> {
  const { subjectMaxChars, mailingMaxChars } = TALKING_LIMITS;
  const subject = cleanSubject(order.subject);
  const body = cleanText(order.text);
  if (subject.length > subjectMaxChars)
    invalidRequest([{ field: 'subject', issue: 'max_length', max: subjectMaxChars }]);
  if (body.length > mailingMaxChars)
    invalidRequest([{ field: 'text', issue: 'max_length', max: mailingMaxChars }]);
  readCents('balance_below_usd', order);
  readCents('balance_above_usd', order);
  return { kind: order.kind, subject, body };
}

/**
 * Fixes the set of customers, and starts to send. Fails with `invalid_request`, and with `conflict_state` if
 * the service sends no mail, or no customer matches.
 */
export async function createMailing(
  service: Deps & Pick<Service, 'mailer' | 'wake'>,
  order: MailingOrder,
): Promise<MailingObject> {
  const content = checkMailing(order);
  if (service.mailer === null)
    fail('conflict_state', {}, 'This service sends no email. Set SKERRY_SMTP_URL.');
  const now = service.clock.now();
  const id = newId(now);
  const created = await service.db.transaction(async (tx) => {
    const filter = await toRecipientFilter(tx, content.kind, order);
    const criteria = givenCriteria(order);
    const row = { id, ...content, criteria, status: 'running', next_at: now, created_at: now } as const;
    if ((await insertMailing(tx, row, filter)) === 0)
      fail('conflict_state', {}, 'No customer matches. Change the criteria.');
    return await record(tx, id, 'mailing.create', now);
  });
  service.wake();
  return created;
}

/** Takes back what the mail server does not have yet. Fails with `not_found` or `conflict_state`. */
export async function pauseMailing(service: Deps, shownId: string): Promise<MailingObject> {
  return await change(service, shownId, ['running'], 'mailing.pause', async (tx, row) => {
    await takeBack(tx, row);
    return { ...row, status: 'paused' };
  });
}

/** Fails with `not_found` or `conflict_state`. */
export async function resumeMailing(
  service: Deps & Pick<Service, 'wake'>,
  shownId: string,
): Promise<MailingObject> {
  const resumed = await change(service, shownId, ['paused'], 'mailing.resume', async (_tx, row) => ({
    ...row,
    status: 'running',
  }));
  service.wake();
  return resumed;
}

/** Ends it for good: those who were not mailed are left out. Fails with `not_found` or `conflict_state`. */
export async function stopMailing(service: Deps, shownId: string): Promise<MailingObject> {
  return await change(service, shownId, ['running', 'paused'], 'mailing.stop', async (tx, row, now) => {
    await takeBack(tx, row);
    return { ...row, status: 'stopped', finished_at: now };
  });
}

async function takeBack(tx: Sql, { id }: MailingRow): Promise<void> {
  await settleRecipients(tx, id, causePrefix(id));
  await withdrawQueuedMails(tx, id, causePrefix(id));
}

type Change = (tx: Sql, row: MailingRow, now: Date) => Promise<MailingRow>;

async function change(
  service: Deps,
  shownId: string,
  from: readonly MailingRow['status'][],
  action: Action,
  verb: Change,
): Promise<MailingObject> {
  const id = parseId('mailing', shownId) ?? mailingNotFound();
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const row = (await lockMailing(tx, id)) ?? mailingNotFound();
    if (!from.includes(row.status)) fail('conflict_state', {}, `This mailing is ${row.status}.`);
    await saveMailing(tx, { ...(await verb(tx, row, now)), more_left_out: 0 });
    return await record(tx, id, action, now);
  });
}

async function record(tx: Sql, id: string, action: Action, now: Date): Promise<MailingObject> {
  const resource = formatId('mailing', id);
  await recordAudit(tx, { actor: systemActor(now), action, resource }, now);
  return toObject((await findMailing(tx, id)) ?? mailingNotFound());
}

/** The cause of a mail: with the id of a customer, it exists once. */
export function causePrefix(mailingId: string): string {
  return `mailing:${mailingId}:`;
}

/** Newest first, and whether there are more. */
export async function listMailings(
  { db }: Pick<Deps, 'db'>,
  { before, limit }: { readonly before?: string; readonly limit: number },
): Promise<{ readonly mailings: MailingObject[]; readonly hasMore: boolean }> {
  const beforeId = before === undefined ? null : parseId('mailing', before);
  if (beforeId === undefined) return { mailings: [], hasMore: false };
  const rows = await listRows(db, { beforeId, limit: limit + 1 });
  return { mailings: rows.slice(0, limit).map(toObject), hasMore: rows.length > limit };
}

/** With the mail as customers read it. Fails with `not_found`. */
export async function readMailing({ db, settings }: Pick<Deps, 'db' | 'settings'>, shownId: string) {
  const id = parseId('mailing', shownId) ?? mailingNotFound();
  const row = (await findMailing(db, id)) ?? mailingNotFound();
  return { ...toObject(row), mail: renderMailing(row, settings.baseUrl) };
}

function toObject(row: MailingRow) {
  const isOver = row.finished_at !== null;
  return {
    object: 'mailing' as const,
    id: formatId('mailing', row.id),
    kind: row.kind,
    subject: row.subject,
    to: describeCriteria(row.kind, row.criteria),
    state: row.status,
    recipients: row.total,
    sent: row.sent,
    failed: row.failed,
    left_out: isOver ? row.total - row.sent - row.failed : row.left_out,
    /** Waiting, or in the queue. */
    left: isOver ? 0 : row.total - row.sent - row.failed - row.left_out,
    created_at: formatRfc3339(row.created_at),
    finished_at: row.finished_at && formatRfc3339(row.finished_at),
  };
}

function mailingNotFound(): never {
  fail('not_found', {}, 'Mailing not found.');
}
