/** Tickets as staff see them, and canned answers. */
import type { Sql } from '../../kernel/sql.ts';
import type { TicketStatus } from '../../spec/schemas/ticket.ts';
import type { TicketRow } from '../customers/tickets.ts';
import { conditionsFor } from '../parameters.ts';

export type StaffTicketRow = Omit<TicketRow, 'mail_id_sealed'> & {
  /** Email addresses. */
  readonly customer: string;
  readonly assignee: string | null;
};

/** Omitted fields match everything. */
export interface StaffTicketFilter {
  readonly status?: TicketStatus;
  readonly customerId?: string;
  readonly assigneeId?: string;
  readonly unassigned?: true;
  /** Only those that follow this one; ids begin with the time. */
  readonly afterId?: string;
}

const SELECT = `select t.id, t.customer_id, t.subject_sealed, t.status, t.assignee_id, t.category,
    t.answer_by, t.created_at, t.updated_at, t.closed_at, c.email as customer, s.email as assignee
  from tickets t join customers c on c.id = t.customer_id left join staff s on s.id = t.assignee_id`;

const CONDITIONS = {
  status: 't.status = $status',
  customerId: 't.customer_id = $customerId',
  assigneeId: 't.assignee_id = $assigneeId',
  unassigned: 't.assignee_id is null and $unassigned::bool',
};

export async function listStaffTickets(
  sql: Sql,
  filter: StaffTicketFilter,
  { limit, oldestFirst }: { readonly limit: number; readonly oldestFirst: boolean },
): Promise<StaffTicketRow[]> {
  const after = oldestFirst ? 't.id > $afterId' : 't.id < $afterId';
  return await sql.rows<StaffTicketRow>(
    `${SELECT} where ${conditionsFor(filter, { ...CONDITIONS, afterId: after })}
      order by t.id ${oldestFirst ? '' : 'desc'} limit $limit`,
    { ...filter, limit },
  );
}

export async function findStaffTicket(sql: Sql, id: string): Promise<StaffTicketRow | undefined> {
  return await sql.row<StaffTicketRow>(`${SELECT} where t.id = $1`, [id]);
}

/** The report of abuse that the ticket is about. */
export async function findReportOfTicket(sql: Sql, ticketId: string): Promise<string | null> {
  const row = await sql.row<{ id: string }>('select id from abuse_reports where ticket_id = $1', [ticketId]);
  return row?.id ?? null;
}

/** Null: no one. */
export async function assignTicket(tx: Sql, id: string, staffId: string | null): Promise<void> {
  await tx.run('update tickets set assignee_id = $2 where id = $1', [id, staffId]);
}

export interface CannedAnswerRow {
  readonly name: string;
  readonly text: string;
  readonly updated_at: Date;
}

/** By name; their number is limited. */
export async function listCannedAnswers(sql: Sql): Promise<CannedAnswerRow[]> {
  return await sql.rows<CannedAnswerRow>('select name, text, updated_at from canned_answers order by name');
}

export async function findCannedAnswer(sql: Sql, name: string): Promise<CannedAnswerRow | undefined> {
  return await sql.row<CannedAnswerRow>('select name, text, updated_at from canned_answers where name = $1', [
    name,
  ]);
}

/** Adds it, or replaces the one with this name. Returns false when there are as many as allowed. */
export async function upsertCannedAnswer(tx: Sql, row: CannedAnswerRow, max: number): Promise<boolean> {
  const written = await tx.run(
    `insert into canned_answers (name, text, updated_at)
     select $name, $text, $updated_at
      where (select count(*) from canned_answers) < $max
         or exists (select from canned_answers where name = $name)
     on conflict (name) do update set text = excluded.text, updated_at = excluded.updated_at`,
    { ...row, max },
  );
  return written === 1;
}

/** Returns false when there is none with this name. */
export async function deleteCannedAnswer(tx: Sql, name: string): Promise<boolean> {
  return (await tx.run('delete from canned_answers where name = $1', [name])) === 1;
}
