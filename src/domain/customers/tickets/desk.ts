/** Tickets as staff answer them. */
import { fail } from '../../../kernel/fail.ts';
import { formatId, parseId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import type { TicketStatus } from '../../../spec/schemas/ticket.ts';
import { SEALED } from '../../../spec/sealed.ts';
import {
  listTicketFiles,
  listTicketMessages,
  lockTicket,
  setTicketStatus,
  type TicketRow,
} from '../../../store/customers/tickets.ts';
import {
  assignTicket as assignRow,
  findReportOfTicket,
  findStaffTicket,
  listStaffTickets,
  type StaffTicketRow,
} from '../../../store/staff/tickets.ts';
import type { Service } from '../../context.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { requireStaff } from '../../staff/people.ts';
import { requireCustomer } from '../operator.ts';
import { filesOf, readTicketFile, type TicketFileContent, toListedTicket } from './read.ts';
import { addMessage, cleanText } from './text.ts';

type Deps = Pick<Service, 'db' | 'keys' | 'clock'>;

export interface TicketQuery {
  readonly status?: TicketStatus;
  /** An email address or an id. */
  readonly customer?: string;
  /** A person, or `none`. */
  readonly assignee?: string;
  readonly order?: 'newest' | 'oldest';
  /** `tkt_…`: only those that follow it in the order. */
  readonly before?: string;
  readonly limit: number;
}

export type StaffTicketItem = ReturnType<typeof toItem>;
export type StaffTicket = Awaited<ReturnType<typeof readStaffTicket>>;

/** Newest first unless the query says otherwise, and whether there are more. */
export async function listTicketsForStaff(
  service: Deps,
  { status, customer, assignee, order = 'newest', before, limit }: TicketQuery,
): Promise<{ readonly tickets: readonly StaffTicketItem[]; readonly hasMore: boolean }> {
  const { db } = service;
  const afterId = before === undefined ? undefined : parseId('ticket', before);
  if (before !== undefined && afterId === undefined) return { tickets: [], hasMore: false };
  const filter = {
    ...(status && { status }),
    ...(afterId && { afterId }),
    ...(customer && { customerId: (await requireCustomer(db, customer)).id }),
    ...(assignee === 'none' && { unassigned: true as const }),
    ...(assignee && assignee !== 'none' && { assigneeId: (await requireStaff({ db }, assignee)).staffId }),
  };
  const rows = await listStaffTickets(db, filter, { limit: limit + 1, oldestFirst: order === 'oldest' });
  return { tickets: rows.slice(0, limit).map((row) => toItem(service, row)), hasMore: rows.length > limit };
}

function toItem(service: Pick<Service, 'keys'>, row: StaffTicketRow) {
  return { ...toListedTicket(service, row), customer: row.customer, assignee: row.assignee };
}

/** The ticket with its notes. Fails with `not_found`. */
export async function readStaffTicket(service: Deps, shownId: string) {
  const { db, keys } = service;
  const row = (await findStaffTicket(db, requireId(shownId))) ?? ticketNotFound();
  const messages = await listTicketMessages(db, row.id, true);
  const files = await listTicketFiles(db, row.id);
  const reportId = await findReportOfTicket(db, row.id);
  return {
    ...toItem(service, row),
    /** The report of abuse that it is about. */
    abuse_report: reportId && formatId('abuseReport', reportId),
    messages: messages.map((each) => ({
      id: formatId('ticketMessage', each.id),
      author: each.author,
      staff: each.staff,
      text: keys.open(SEALED.ticketText, each.id, each.text_sealed).toString(),
      files: filesOf(files, each.id),
      created_at: formatRfc3339(each.created_at),
    })),
  };
}

/** Fails with `not_found`. */
export async function readStaffTicketFile(
  service: Deps,
  shownId: string,
  fileId: string,
): Promise<TicketFileContent> {
  return await readTicketFile(service, requireId(shownId), fileId);
}

export interface StaffReply {
  readonly text: string;
  /** Whether the ticket is closed with it. */
  readonly close?: boolean;
}

/** Answers the customer, and mails the answer. `staffId` is null for a command on the machine. */
export async function answerTicket(
  service: Service,
  staffId: string | null,
  shownId: string,
  { text: written, close = false }: StaffReply,
): Promise<StaffTicket> {
  const text = cleanText(written);
  await changeByStaff(service, shownId, 'ticket.answer', async (tx, row, now) => {
    const message = { ticket_id: row.id, author: 'staff', staff_id: staffId, text } as const;
    const cause = await addMessage(tx, service, message, now);
    await setTicketStatus(tx, { id: row.id, status: close ? 'closed' : 'answered', now });
    await mailAnswer(tx, service, row, { cause, text, isClosed: close }, now);
  });
  service.wake();
  return await readStaffTicket(service, shownId);
}

/** `cause` is the id of the message. */
export async function mailAnswer(
  tx: Sql,
  { keys }: Pick<Service, 'keys'>,
  row: TicketRow,
  { cause, ...answer }: { readonly cause: string; readonly text: string; readonly isClosed: boolean },
  now: Date,
): Promise<void> {
  const { id: ticket, subject } = toListedTicket({ keys }, row);
  const lastMail = row.mail_id_sealed && keys.open(SEALED.ticketMail, row.id, row.mail_id_sealed).toString();
  const data = { ticket, subject, ...answer, ...(lastMail && { lastMail }) };
  await enqueueMail(tx, { customerId: row.customer_id, kind: 'ticket_answered', cause, data }, now, keys);
}

/** Adds a note that only staff see. It does not count as an answer. */
export async function noteTicket(
  service: Deps,
  staffId: string | null,
  shownId: string,
  { text: written }: { readonly text: string },
): Promise<StaffTicket> {
  const text = cleanText(written);
  await changeByStaff(service, shownId, null, async (tx, row, now) => {
    await addMessage(tx, service, { ticket_id: row.id, author: 'note', staff_id: staffId, text }, now);
  });
  return await readStaffTicket(service, shownId);
}

/** `assignee` is an email address or `stf_…`; empty: no one. Fails with `not_found`. */
export async function assignTicket(service: Deps, shownId: string, assignee: string): Promise<StaffTicket> {
  const person = assignee.trim() === '' ? null : await requireStaff(service, assignee);
  await changeByStaff(service, shownId, null, (tx, { id }) => assignRow(tx, id, person?.staffId ?? null));
  return await readStaffTicket(service, shownId);
}

/** Closes a ticket, or opens it again. Fails with `conflict_state` if that changes nothing. */
export async function setTicketClosed(service: Deps, shownId: string, closed: boolean): Promise<StaffTicket> {
  const action = closed ? 'ticket.close' : 'ticket.reopen';
  await changeByStaff(service, shownId, action, async (tx, { id, status }, now) => {
    if ((status === 'closed') === closed) fail('conflict_state', {}, `The ticket is ${status}.`);
    await setTicketStatus(tx, { id, status: closed ? 'closed' : 'open', now });
  });
  return await readStaffTicket(service, shownId);
}

async function changeByStaff(
  { db, clock }: Deps,
  shownId: string,
  /** For the customer's audit log; null: the customer does not see the change. */
  action: `ticket.${'answer' | 'close' | 'reopen'}` | null,
  change: (tx: Sql, row: TicketRow, now: Date) => Promise<void>,
): Promise<void> {
  const id = requireId(shownId);
  await db.transaction(async (tx) => {
    const now = clock.now();
    const row = (await lockTicket(tx, id)) ?? ticketNotFound();
    await change(tx, row, now);
    if (action === null) return;
    const entry = { actor: systemActor(now), action, resource: shownId, customerId: row.customer_id };
    await recordAudit(tx, entry, now);
  });
}

function requireId(shownId: string): string {
  return parseId('ticket', shownId) ?? ticketNotFound();
}

function ticketNotFound(): never {
  fail('not_found', {}, 'There is no ticket with this id.');
}
