/** Reads a customer's tickets; another customer's ticket is not found. */
import { notFound } from '../../../kernel/fail.ts';
import { formatId, parseId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import type { Page, PageRequest } from '../../../spec/lists.ts';
import type { ListedTicket, Ticket, TicketFileType } from '../../../spec/schemas/ticket.ts';
import { SEALED } from '../../../spec/sealed.ts';
import {
  findTicket as findRow,
  findTicketFile,
  listTicketFiles,
  listTicketMessages,
  pageTickets,
  type TicketFileRow,
  type TicketRow,
} from '../../../store/customers/tickets.ts';
import type { CustomerActor, Service } from '../../context.ts';

type Deps = Pick<Service, 'db' | 'keys'>;
type Keys = Pick<Service, 'keys'>;

export async function listTickets(
  service: Deps,
  { customerId }: CustomerActor,
  page: PageRequest,
): Promise<Page<ListedTicket>> {
  const { rows, next } = await pageTickets(service.db, customerId, page);
  return { items: rows.map((row) => toListedTicket(service, row)), next };
}

/** Returns a ticket by its public id. Unknown, malformed, and another customer's ids are `not_found`. */
export async function findTicket(service: Deps, actor: CustomerActor, shownId: string): Promise<Ticket> {
  return await readTicket(service, service.db, await requireTicket(service.db, actor, shownId));
}

export async function requireTicket(
  sql: Sql,
  { customerId }: CustomerActor,
  shownId: string,
): Promise<TicketRow> {
  const id = parseId('ticket', shownId) ?? notFound('ticket');
  return (await findRow(sql, customerId, id)) ?? notFound('ticket');
}

/** The ticket with what the customer sees of it. */
export async function readTicket({ keys }: Keys, sql: Sql, row: TicketRow): Promise<Ticket> {
  const messages = await listTicketMessages(sql, row.id, false);
  const files = await listTicketFiles(sql, row.id);
  return {
    ...toListedTicket({ keys }, row),
    messages: messages.map((each) => ({
      id: formatId('ticketMessage', each.id),
      author: each.author === 'customer' ? 'customer' : 'staff',
      text: keys.open(SEALED.ticketText, each.id, each.text_sealed).toString(),
      files: filesOf(files, each.id),
      created_at: formatRfc3339(each.created_at),
    })),
  };
}

export function filesOf(files: readonly TicketFileRow[], messageId: string) {
  const own = files.filter(({ message_id: id }) => id === messageId);
  return own.map(({ id, name, type, size_bytes }) => ({
    id: formatId('ticketFile', id),
    ...{ name, type, size_bytes },
  }));
}

export function toListedTicket({ keys }: Keys, row: Omit<TicketRow, 'mail_id_sealed'>): ListedTicket {
  return {
    id: formatId('ticket', row.id),
    object: 'ticket',
    subject: keys.open(SEALED.ticketSubject, row.id, row.subject_sealed).toString(),
    status: row.status,
    category: row.category,
    answer_by: row.answer_by && formatRfc3339(row.answer_by),
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
    closed_at: row.closed_at && formatRfc3339(row.closed_at),
  };
}

export interface TicketFileContent {
  readonly name: string;
  readonly type: TicketFileType;
  readonly content: Buffer;
}

/** Fails with `not_found`. The caller may read the ticket. */
export async function readTicketFile(
  { db, keys }: Deps,
  ticketId: string,
  shownFileId: string,
): Promise<TicketFileContent> {
  const fileId = parseId('ticketFile', shownFileId) ?? notFound('ticketFile');
  const row = (await findTicketFile(db, ticketId, fileId)) ?? notFound('ticketFile');
  const content = keys.open(SEALED.ticketFile, row.id, row.content_sealed);
  return { name: row.name, type: row.type, content: Buffer.from(content) };
}
