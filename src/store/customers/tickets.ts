/** Tickets of customers, with their messages and files. Texts are sealed. */
import type { Sql } from '../../kernel/sql.ts';
import type { PageRequest } from '../../spec/lists.ts';
import type { TicketCategory, TicketFileType, TicketStatus } from '../../spec/schemas/ticket.ts';
import { BY_CREATION, countUpTo, type Page, readPage } from '../page.ts';
import { parametersFor } from '../parameters.ts';

export interface TicketRow {
  readonly id: string;
  readonly customer_id: string;
  readonly subject_sealed: string;
  readonly status: TicketStatus;
  readonly assignee_id: string | null;
  readonly category: TicketCategory;
  /** By when we ask the customer to answer. */
  readonly answer_by: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly closed_at: Date | null;
  /** The Message-ID of the customer's last mail in the ticket. */
  readonly mail_id_sealed: string | null;
}

export interface TicketMessageRow {
  readonly id: string;
  readonly ticket_id: string;
  /** `note`: among staff. */
  readonly author: 'customer' | 'staff' | 'note';
  readonly staff_id: string | null;
  readonly text_sealed: string;
  readonly created_at: Date;
}

export type ShownMessageRow = TicketMessageRow & { readonly staff: string | null };

export interface TicketFileRow {
  readonly id: string;
  readonly message_id: string;
  readonly name: string;
  readonly type: TicketFileType;
  readonly size_bytes: number;
}

const COLUMNS = `id, customer_id, subject_sealed, status, assignee_id, category, answer_by, created_at,
  updated_at, closed_at, mail_id_sealed`;
const MESSAGE_COLUMNS = 'id, ticket_id, author, staff_id, text_sealed, created_at';
const FILE_COLUMNS = 'id, message_id, name, type, size_bytes';

export async function insertTicket(tx: Sql, row: TicketRow): Promise<void> {
  await tx.run(`insert into tickets (${COLUMNS}) values (${parametersFor(COLUMNS)})`, row);
}

export async function insertTicketMessage(tx: Sql, row: TicketMessageRow): Promise<void> {
  await tx.run(
    `insert into ticket_messages (${MESSAGE_COLUMNS}) values (${parametersFor(MESSAGE_COLUMNS)})`,
    row,
  );
}

export async function insertTicketFile(
  tx: Sql,
  row: TicketFileRow & { readonly content_sealed: string },
): Promise<void> {
  const columns = `${FILE_COLUMNS}, content_sealed`;
  await tx.run(`insert into ticket_files (${columns}) values (${parametersFor(columns)})`, row);
}

export async function pageTickets(sql: Sql, customerId: string, page: PageRequest): Promise<Page<TicketRow>> {
  return await readPage<TicketRow>(
    sql,
    {
      columns: COLUMNS,
      from: 'tickets',
      where: 'customer_id = $customerId',
      values: { customerId },
      sorts: BY_CREATION,
      filters: { status: { where: 'status = $status', indexed: true } },
    },
    page,
  );
}

/** Finds the customer's own ticket. Another customer's ticket looks like a missing one. */
export async function findTicket(sql: Sql, customerId: string, id: string): Promise<TicketRow | undefined> {
  return await sql.row<TicketRow>(`select ${COLUMNS} from tickets where id = $1 and customer_id = $2`, [
    id,
    customerId,
  ]);
}

/** Locks a ticket of any customer, which orders its messages. */
export async function lockTicket(tx: Sql, id: string): Promise<TicketRow | undefined> {
  return await tx.row<TicketRow>(`select ${COLUMNS} from tickets where id = $1 for update`, [id]);
}

/** Sets the status, and when it was closed. The caller holds the lock. */
export async function setTicketStatus(
  tx: Sql,
  ticket: { readonly id: string; readonly status: TicketStatus; readonly now: Date },
): Promise<void> {
  await tx.run(
    `update tickets set status = $status, updated_at = $now,
            closed_at = case when $status = 'closed' then $now::timestamptz end
      where id = $id`,
    ticket,
  );
}

const IDLE = `t.status <> 'closed' and t.updated_at < $before and not exists (
  select from ticket_messages m where m.ticket_id = t.id and m.created_at >= $before)`;

/** The ticket that waits for the longest time without a message or note since then. */
export async function findIdleTicket(
  sql: Sql,
  query: { readonly before: Date; readonly except: readonly string[] },
): Promise<string | null> {
  const [row] = await sql.rows<{ id: string }>(
    `select t.id from tickets t join customers c on c.id = t.customer_id
      where ${IDLE} and c.deleting_at is null and t.id <> all ($except::uuid[])
      order by t.updated_at limit 1`,
    query,
  );
  return row?.id ?? null;
}

/** The caller holds the lock. */
export async function isIdleTicket(tx: Sql, id: string, before: Date): Promise<boolean> {
  const found = await tx.row(`select from tickets t where t.id = $id and ${IDLE}`, { id, before });
  return found !== undefined;
}

/** By when we ask the customer to answer. */
export async function setTicketDeadline(tx: Sql, id: string, at: Date): Promise<void> {
  await tx.run('update tickets set answer_by = $2 where id = $1', [id, at]);
}

export async function setTicketMail(tx: Sql, id: string, mailIdSealed: string): Promise<void> {
  await tx.run('update tickets set mail_id_sealed = $2 where id = $1', [id, mailIdSealed]);
}

/** Returns false if the mail was received before. */
export async function insertTicketMail(tx: Sql, digest: Buffer, now: Date): Promise<boolean> {
  const inserted = await tx.run(
    'insert into ticket_mails (digest, received_at) values ($1, $2) on conflict do nothing',
    [digest, now],
  );
  return inserted === 1;
}

/** Oldest first; the limit of messages bounds their number. `withNotes`: also those among staff. */
export async function listTicketMessages(
  sql: Sql,
  ticketId: string,
  withNotes: boolean,
): Promise<ShownMessageRow[]> {
  return await sql.rows<ShownMessageRow>(
    `select m.id, m.ticket_id, m.author, m.staff_id, m.text_sealed, m.created_at, s.email as staff
       from ticket_messages m left join staff s on s.id = m.staff_id
      where m.ticket_id = $1 and ($2 or m.author <> 'note') order by m.id`,
    [ticketId, withNotes],
  );
}

/** The files of a ticket, without their content. */
export async function listTicketFiles(sql: Sql, ticketId: string): Promise<TicketFileRow[]> {
  return await sql.rows<TicketFileRow>(
    `select f.id, f.message_id, f.name, f.type, f.size_bytes
       from ticket_messages m join ticket_files f on f.message_id = m.id
      where m.ticket_id = $1 order by f.id`,
    [ticketId],
  );
}

/** The files that the customer attached: their number in the ticket, and their bytes in all tickets. */
export async function sumOwnFiles(
  sql: Sql,
  ticket: { readonly ticketId: string; readonly customerId: string },
): Promise<{ readonly files: number; readonly bytes: number }> {
  const row = await sql.row<{ files: bigint; bytes: bigint }>(
    `select count(*) filter (where t.id = $ticketId) as files,
            coalesce(sum(f.size_bytes), 0)::bigint as bytes
       from tickets t join ticket_messages m on m.ticket_id = t.id join ticket_files f on f.message_id = m.id
      where t.customer_id = $customerId and m.author = 'customer'`,
    ticket,
  );
  return { files: Number(row?.files ?? 0n), bytes: Number(row?.bytes ?? 0n) };
}

/** Finds a file of a ticket, with its content. */
export async function findTicketFile(
  sql: Sql,
  ticketId: string,
  fileId: string,
): Promise<(TicketFileRow & { readonly content_sealed: string }) | undefined> {
  return await sql.row(
    `select f.id, f.message_id, f.name, f.type, f.size_bytes, f.content_sealed
       from ticket_files f join ticket_messages m on m.id = f.message_id
      where f.id = $1 and m.ticket_id = $2`,
    [fileId, ticketId],
  );
}

/** Counts up to `limit`. */
export async function countTicketMessages(tx: Sql, ticketId: string, limit: number): Promise<number> {
  return await countUpTo(tx, 'ticket_messages where ticket_id = $ticketId', { ticketId, limit });
}

/** The tickets that the customer opened since then, up to the limit. */
export async function countTicketsSince(
  tx: Sql,
  customer: { readonly customerId: string; readonly since: Date; readonly limit: number },
): Promise<number> {
  return await countUpTo(tx, 'tickets where customer_id = $customerId and created_at > $since', {
    ...customer,
  });
}

/** The messages that the customer wrote since then, up to the limit. */
export async function countWrittenSince(
  tx: Sql,
  customer: { readonly customerId: string; readonly since: Date; readonly limit: number },
): Promise<number> {
  const from = `tickets t join ticket_messages m on m.ticket_id = t.id
    where t.customer_id = $customerId and m.author = 'customer' and m.created_at > $since`;
  return await countUpTo(tx, from, { ...customer });
}
