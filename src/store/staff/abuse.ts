/** Reports of abuse, who sent them, and the texts about each kind. */
import type { Sql } from '../../kernel/sql.ts';
import type { AbuseKind, AbuseMatch, AbuseResult, AbuseState } from '../../spec/staff/abuse.ts';
import { countUpTo } from '../page.ts';
import { assignmentsFor, conditionsFor, parametersFor } from '../parameters.ts';

export interface AbuseReportRow {
  readonly id: string;
  readonly source: 'staff' | 'form';
  readonly kind: AbuseKind;
  readonly state: AbuseState;
  readonly result: AbuseResult | null;
  /** Null: deleted with the account. */
  readonly address_sealed: string | null;
  readonly evidence_sealed: string | null;
  readonly happened_at: Date;
  readonly match: AbuseMatch;
  readonly server_id: string | null;
  readonly customer_id: string | null;
  readonly ticket_id: string | null;
  readonly due_at: Date;
  readonly suspend_when_late: boolean;
  readonly suspended_at: Date | null;
  readonly created_at: Date;
  readonly forwarded_at: Date | null;
  readonly answered_at: Date | null;
  readonly closed_at: Date | null;
}

export type ShownReportRow = AbuseReportRow & {
  readonly email: string | null;
  /** Null: the server was deleted. */
  readonly server_name: string | null;
  readonly mail_allowed: boolean | null;
  readonly frozen_at: Date | null;
  readonly contact_sealed: string | null;
};

const CHANGED = `kind, state, result, address_sealed, evidence_sealed, happened_at, match, server_id,
  customer_id, ticket_id, due_at, suspend_when_late, suspended_at, forwarded_at, answered_at, closed_at`;
const COLUMNS = `id, source, created_at, ${CHANGED}`;

const SELECT = `select ${COLUMNS.replace(/\w+/g, 'r.$&')}, c.email, s.name as server_name, s.mail_allowed,
    s.frozen_at, p.contact_sealed
  from abuse_reports r left join customers c on c.id = r.customer_id
  left join servers s on s.id = r.server_id left join abuse_reporters p on p.report_id = r.id`;

/** Omitted fields match everything. */
export interface AbuseReportFilter {
  readonly state?: AbuseState;
  readonly kind?: AbuseKind;
  readonly customerId?: string;
  readonly serverId?: string;
  /** Only those whose deadline has passed by then. */
  readonly overdueAt?: Date;
  readonly beforeId?: string;
}

const CONDITIONS = {
  state: 'r.state = $state',
  kind: 'r.kind = $kind',
  customerId: 'r.customer_id = $customerId',
  serverId: 'r.server_id = $serverId',
  overdueAt: `r.state in ('open', 'forwarded') and r.due_at <= $overdueAt`,
  beforeId: 'r.id < $beforeId',
};

export async function listAbuseReports(
  sql: Sql,
  filter: AbuseReportFilter,
  limit: number,
): Promise<ShownReportRow[]> {
  return await sql.rows<ShownReportRow>(
    `${SELECT} where ${conditionsFor(filter, CONDITIONS)} order by r.id desc limit $limit`,
    { ...filter, limit },
  );
}

export async function findAbuseReport(sql: Sql, id: string): Promise<ShownReportRow | undefined> {
  return await sql.row<ShownReportRow>(`${SELECT} where r.id = $1`, [id]);
}

export async function lockAbuseReport(tx: Sql, id: string): Promise<AbuseReportRow | undefined> {
  return await tx.row<AbuseReportRow>(`select ${COLUMNS} from abuse_reports where id = $1 for update`, [id]);
}

export async function insertAbuseReport(tx: Sql, row: AbuseReportRow): Promise<void> {
  await tx.run(`insert into abuse_reports (${COLUMNS}) values (${parametersFor(COLUMNS)})`, row);
}

/** Those from the public form that staff have not worked on, up to the limit. */
export async function countOpenFormReports(sql: Sql, limit: number): Promise<number> {
  return await countUpTo(sql, `abuse_reports where state = 'open' and source = 'form'`, { limit });
}

/** The caller holds the lock. */
export async function updateAbuseReport(tx: Sql, row: AbuseReportRow): Promise<void> {
  await tx.run(`update abuse_reports set ${assignmentsFor(CHANGED)} where id = $id`, row);
}

/** Null: the reporter is not known. */
export async function setAbuseReporter(tx: Sql, id: string, contactSealed: string | null): Promise<void> {
  if (contactSealed === null) {
    await tx.run('delete from abuse_reporters where report_id = $1', [id]);
    return;
  }
  await tx.run(
    `insert into abuse_reporters (report_id, contact_sealed) values ($1, $2)
     on conflict (report_id) do update set contact_sealed = excluded.contact_sealed`,
    [id, contactSealed],
  );
}

export async function expireAbuseReporter(tx: Sql, id: string, expiresAt: Date): Promise<void> {
  await tx.run('update abuse_reporters set expires_at = $2 where report_id = $1', [id, expiresAt]);
}

/** The customer wrote in the ticket of a forwarded report. */
export async function markReportAnswered(tx: Sql, ticketId: string, now: Date): Promise<void> {
  await tx.run(
    `update abuse_reports set state = 'answered', answered_at = $2
      where ticket_id = $1 and state = 'forwarded'`,
    [ticketId, now],
  );
}

/** Claims the suspension of a late report. Returns false if it was answered, closed, or suspended before. */
export async function claimLateSuspension(tx: Sql, id: string, now: Date): Promise<boolean> {
  const claimed = await tx.run(
    `update abuse_reports set suspended_at = $2
      where id = $1 and state = 'forwarded' and suspend_when_late and suspended_at is null and due_at <= $2`,
    [id, now],
  );
  return claimed === 1;
}

/** Records that staff suspended the server. Returns false if the report was closed. */
export async function markReportSuspended(tx: Sql, id: string, now: Date): Promise<boolean> {
  const marked = await tx.run(
    `update abuse_reports set suspended_at = $2 where id = $1 and state <> 'closed'`,
    [id, now],
  );
  return marked === 1;
}

const TO_SUSPEND = `abuse_reports r left join servers s on s.id = r.server_id
  where r.state = 'forwarded' and r.suspend_when_late and r.suspended_at is null`;

export interface LateReportRow {
  readonly id: string;
  readonly ticket_id: string | null;
  readonly due_at: Date;
  /** Null: there is no server to suspend. */
  readonly server_id: string | null;
}

/** Late reports whose server is to be suspended, by deadline. */
export async function listReportsToSuspend(
  sql: Sql,
  { now, limit, except }: { readonly now: Date; readonly limit: number; readonly except: readonly string[] },
): Promise<LateReportRow[]> {
  return await sql.rows<LateReportRow>(
    `select r.id, r.ticket_id, r.due_at, case when s.status <> 'destroying' then s.id end as server_id
       from ${TO_SUSPEND} and r.due_at <= $1 and r.id <> all($3::uuid[]) order by r.due_at limit $2`,
    [now, limit, except],
  );
}

export async function nextReportToSuspend(sql: Sql, except: readonly string[]): Promise<Date | null> {
  const row = await sql.row<{ due_at: Date | null }>(
    `select min(r.due_at) as due_at from ${TO_SUSPEND} and r.id <> all($1::uuid[])`,
    [except],
  );
  return row?.due_at ?? null;
}

/** Moves the deadlines of reports whose server is to be suspended. */
export async function deferSuspensions(tx: Sql, until: Date): Promise<void> {
  await tx.run(
    `update abuse_reports set due_at = greatest(due_at, $1)
      where state = 'forwarded' and suspend_when_late and suspended_at is null`,
    [until],
  );
}

/** The server was deleted. */
export async function dropSuspension(tx: Sql, id: string): Promise<void> {
  await tx.run('update abuse_reports set suspend_when_late = false where id = $1', [id]);
}

/** Closes the reports about a customer, and removes what is personal in them, with their files. */
export async function forgetReportsOf(tx: Sql, customerId: string, now: Date): Promise<void> {
  await tx.run(
    `delete from abuse_reporters p using abuse_reports r where p.report_id = r.id and r.customer_id = $1`,
    [customerId],
  );
  await tx.run(
    'delete from abuse_files f using abuse_reports r where f.report_id = r.id and r.customer_id = $1',
    [customerId],
  );
  await tx.run(
    `update abuse_reports
        set state = 'closed', result = coalesce(result, 'account_deleted'),
            closed_at = coalesce(closed_at, $2),
            address_sealed = null, evidence_sealed = null, server_id = null, customer_id = null,
            ticket_id = null, match = 'deleted', suspend_when_late = false
      where customer_id = $1`,
    [customerId, now],
  );
}
