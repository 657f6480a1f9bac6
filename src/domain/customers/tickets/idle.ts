/** Closes tickets without new messages for long, with a message that says so. */
import { Failure } from '../../../kernel/fail.ts';
import { formatId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { isUnavailable } from '../../../store/connections/errors.ts';
import {
  findIdleTicket,
  isIdleTicket,
  lockTicket,
  setTicketStatus,
} from '../../../store/customers/tickets.ts';
import type { Service } from '../../context.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { mailAnswer } from './desk.ts';
import { addMessage } from './text.ts';

/** A round closes no more, so that the first rounds after an upgrade send few mails. */
export const IDLE_TICKETS_PER_ROUND = 20;
/** A round leaves out tickets that cannot be closed, up to so many. */
const LEFT_PER_ROUND = 100;

const TEXT =
  `We closed this ticket because it had no new messages for ${LIMITS.ticketIdleDays} days. ` +
  'Reply to open it again.';

/** Yields how many it closed. */
export async function* closeIdleTickets(service: Service): AsyncGenerator<number> {
  const now = service.clock.now();
  const before = new Date(now.getTime() - LIMITS.ticketIdleDays * DAY_MS);
  let done = 0;
  const left: string[] = [];
  while (done < IDLE_TICKETS_PER_ROUND && left.length < LEFT_PER_ROUND) {
    const id = await findIdleTicket(service.db, { before, except: left });
    if (id === null) break;
    try {
      if (await service.db.transaction((tx) => closeIfIdle(tx, service, { id, before, now }))) done += 1;
      else left.push(id);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      // A ticket that cannot be closed does not block the others.
      left.push(id);
      service.log.error({ err: error, ticket: formatId('ticket', id) }, 'closing an idle ticket failed');
    }
  }
  if (done > 0) service.wake();
  yield done;
}

async function closeIfIdle(
  tx: Sql,
  service: Service,
  { id, before, now }: { readonly id: string; readonly before: Date; readonly now: Date },
): Promise<boolean> {
  const row = await lockTicket(tx, id);
  // Someone may have written since the list was read.
  if (!row || !(await isIdleTicket(tx, id, before))) return false;
  const cause = await addNotice(tx, service, id, now);
  await setTicketStatus(tx, { id, status: 'closed', now });
  const actor = systemActor(now);
  const resource = formatId('ticket', id);
  await recordAudit(tx, { actor, action: 'ticket.close', resource, customerId: row.customer_id }, now);
  if (cause !== null) await mailAnswer(tx, service, row, { cause, text: TEXT, isClosed: true }, now);
  return true;
}

/** Returns the id of the message. Null: the ticket is full, and is closed without one. */
async function addNotice(tx: Sql, service: Service, ticketId: string, now: Date): Promise<string | null> {
  const message = { ticket_id: ticketId, author: 'staff', staff_id: null, text: TEXT } as const;
  try {
    return await addMessage(tx, service, message, now);
  } catch (error) {
    if (error instanceof Failure && error.code === 'limit_reached') return null;
    throw error;
  }
}
