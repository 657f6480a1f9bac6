/**
 * Queues the mails of mailings, at the rate of a setting. One step is one commit: it takes over what became
 * of earlier mails, and queues the next ones, each under the mailing and the customer as its cause. A step
 * that is repeated or cut off therefore mails no one twice.
 */
import type { Sql } from '../../../kernel/sql.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import { TALKING_LIMITS } from '../../../spec/staff/talking.ts';
import {
  countQueuedRecipients,
  listNextRecipients,
  listUnsettledMailings,
  lockRunningMailing,
  type MailingRow,
  markRecipients,
  saveMailing,
  settleRecipients,
} from '../../../store/customers/mailings.ts';
import type { Service } from '../../context.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import { causePrefix } from './mailings.ts';
import { newsOffPaths } from './news.ts';

const STEPS_PER_MINUTE = 6;

/** How many mails a step queues, and how long the next one waits: no minute has more than the rate. */
export function paceOf(perMinute: number): { readonly batch: number; readonly everyMs: number } {
  const even = Math.max(1, Math.floor(perMinute / STEPS_PER_MINUTE));
  const batch = Math.min(even, TALKING_LIMITS.mailingBatchMax);
  return { batch, everyMs: Math.ceil((batch * MINUTE_MS) / perMinute) };
}

/** Does one step of the oldest running mailing. Returns how much was done: 0 when nothing is due. */
export async function advanceMailings(
  service: Pick<Service, 'db' | 'clock' | 'keys' | 'settings'>,
): Promise<number> {
  const { db, clock, settings } = service;
  for (const id of await listUnsettledMailings(db)) await settleRecipients(db, id, causePrefix(id));
  return await db.transaction(async (tx) => {
    const now = clock.now();
    const mailing = await lockRunningMailing(tx);
    if (!mailing || mailing.next_at > now) return 0;
    await settleRecipients(tx, mailing.id, causePrefix(mailing.id));
    const { batch, everyMs } = paceOf(settings.mailingsPerMinute);
    const pending = await countQueuedRecipients(tx, mailing.id);
    // While the mail server is away, the queue grows by no more than a minute's mails.
    const room = Math.min(batch, settings.mailingsPerMinute - pending);
    const next = room > 0 ? await queueNext(tx, service, mailing, room, now) : null;
    const isDone = next !== null && next.found === 0 && pending === 0;
    await saveMailing(tx, {
      id: mailing.id,
      status: isDone ? 'done' : 'running',
      more_left_out: next?.leftOut ?? 0,
      next_at: new Date(now.getTime() + everyMs),
      finished_at: isDone ? now : null,
    });
    return 1 + (next?.found ?? 0);
  });
}

async function queueNext(
  tx: Sql,
  { keys }: Pick<Service, 'keys'>,
  { id, kind, subject, body }: MailingRow,
  limit: number,
  now: Date,
): Promise<{ readonly found: number; readonly leftOut: number }> {
  const isNews = kind === 'news';
  const rows = await listNextRecipients(tx, { mailingId: id, isNews, limit });
  const queued = rows.filter(({ wanted }) => wanted).map(({ customer_id }) => customer_id);
  const leftOut = rows.filter(({ wanted }) => !wanted).map(({ customer_id }) => customer_id);
  for (const customerId of queued) {
    const data = { subject, text: body, off: isNews ? newsOffPaths(keys, customerId) : null };
    const cause = `${causePrefix(id)}${customerId}`;
    await enqueueMail(tx, { customerId, kind: 'mailing', cause, data }, now, keys);
  }
  await markRecipients(tx, id, { queued, leftOut });
  return { found: rows.length, leftOut: leftOut.length };
}
