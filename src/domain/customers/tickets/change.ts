/** Opens, answers, and closes tickets, as their customer does. */
import { fail, notFound } from '../../../kernel/fail.ts';
import { formatId, newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import type { CreateTicket, Ticket } from '../../../spec/schemas/ticket.ts';
import { SEALED } from '../../../spec/sealed.ts';
import { lockCustomer } from '../../../store/customers/customers.ts';
import {
  countTicketsSince,
  countWrittenSince,
  insertTicket,
  lockTicket,
  setTicketStatus,
  type TicketRow,
} from '../../../store/customers/tickets.ts';
import { markReportAnswered } from '../../../store/staff/abuse.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';
import { readTicket, requireTicket } from './read.ts';
import { addMessage, cleanSubject, cleanText } from './text.ts';

/** Fails with `limit_reached` if the customer opened many in the last 24 hours. */
export async function createTicket(
  service: Service,
  actor: CustomerActor,
  body: CreateTicket,
): Promise<Ticket> {
  const subject = cleanSubject(body.subject);
  const text = cleanText(body.text);
  const { customerId } = actor;
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    await requireDailyLimits(tx, customerId, now);
    const row = await insertNewTicket(tx, service, { customerId, subject }, now);
    await addMessage(tx, service, { ticket_id: row.id, author: 'customer', staff_id: null, text }, now);
    const ticket = await readTicket(service, tx, row);
    await recordAudit(tx, { actor, action: 'ticket.create', resource: ticket.id }, now);
    await actor.saveResponse?.(tx, ticket);
    return ticket;
  });
}

/** Inserts a ticket that has no message yet. The subject is clean and bounded. */
export async function insertNewTicket(
  tx: Sql,
  { keys }: Pick<Service, 'keys'>,
  { customerId, subject }: { readonly customerId: string; readonly subject: string },
  now: Date,
): Promise<TicketRow> {
  const id = newId(now);
  const row: TicketRow = {
    ...{ id, customer_id: customerId, status: 'open', assignee_id: null },
    ...{ category: 'general', answer_by: null },
    subject_sealed: keys.seal(SEALED.ticketSubject, id, subject),
    ...{ created_at: now, updated_at: now, closed_at: null, mail_id_sealed: null },
  };
  await insertTicket(tx, row);
  return row;
}

/** Adds a message of the customer. A closed ticket opens again. Fails with `limit_reached`. */
export async function replyToTicket(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  body: { readonly text: string },
): Promise<Ticket> {
  const text = cleanText(body.text);
  return await changeTicket(service, actor, { shownId, action: 'ticket.reply' }, async (tx, row, now) => {
    await requireWritingLimit(tx, row.customer_id, now);
    const message = { ticket_id: row.id, author: 'customer', staff_id: null, text } as const;
    await addMessage(tx, service, message, now);
    await setTicketStatus(tx, { id: row.id, status: 'open', now });
  });
}

/** Closes a ticket. A closed one stays as it is. */
export async function closeTicket(service: Service, actor: CustomerActor, shownId: string): Promise<Ticket> {
  return await changeTicket(service, actor, { shownId, action: 'ticket.close' }, async (tx, row, now) => {
    if (row.status !== 'closed') await setTicketStatus(tx, { id: row.id, status: 'closed', now });
  });
}

/** Changes a ticket of the customer under its lock, and records the change. */
export async function changeTicket(
  service: Service,
  actor: CustomerActor,
  {
    shownId,
    action,
  }: { readonly shownId: string; readonly action: `ticket.${'reply' | 'attach' | 'close'}` },
  change: (tx: Sql, row: TicketRow, now: Date) => Promise<void>,
): Promise<Ticket> {
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { id } = await requireTicket(tx, actor, shownId);
    // The customer's lock comes first, as for a new ticket: the day's messages are counted under it.
    (await lockCustomer(tx, actor.customerId)) ?? fail('auth_required');
    await change(tx, (await lockTicket(tx, id)) ?? notFound('ticket'), now);
    if (action !== 'ticket.close') await markReportAnswered(tx, id, now);
    await recordAudit(tx, { actor, action, resource: formatId('ticket', id) }, now);
    const ticket = await readTicket(service, tx, await requireTicket(tx, actor, shownId));
    await actor.saveResponse?.(tx, ticket);
    return ticket;
  });
}

/** Locks the customer. Fails with `limit_reached`. */
export async function requireDailyLimits(tx: Sql, customerId: string, now: Date): Promise<void> {
  (await lockCustomer(tx, customerId)) ?? fail('auth_required');
  const limit = LIMITS.ticketsPerDay;
  const since = new Date(now.getTime() - DAY_MS);
  if ((await countTicketsSince(tx, { customerId, since, limit })) >= limit) {
    fail('limit_reached', { limit }, `You can open ${limit} tickets in 24 hours. Write in an open one.`);
  }
  await requireWritingLimit(tx, customerId, now);
}

/** The caller holds the customer's lock. */
export async function requireWritingLimit(tx: Sql, customerId: string, now: Date): Promise<void> {
  const limit = LIMITS.ticketMessagesPerDay;
  const since = new Date(now.getTime() - DAY_MS);
  if ((await countWrittenSince(tx, { customerId, since, limit })) < limit) return;
  fail('limit_reached', { limit }, `You can write ${limit} messages in 24 hours. Try again later.`);
}
