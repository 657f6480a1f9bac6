/** Counts of abuse reports, and the texts about each kind. */
import { firstIdAt } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { AbuseKind, AbuseState } from '../../spec/staff/abuse.ts';

export interface ReportCounts {
  readonly open: bigint;
  /** Since then, open or closed. */
  readonly recent: bigint;
}

const COUNTED = `count(*) filter (where state <> 'closed') as open,
  count(*) filter (where id >= $2) as recent`;

export async function countReportsOf(
  sql: Sql,
  about: { readonly customerId: string } | { readonly serverId: string },
  since: Date,
): Promise<ReportCounts> {
  const [column, id] =
    'serverId' in about ? ['server_id', about.serverId] : ['customer_id', about.customerId];
  const row = await sql.row<ReportCounts>(`select ${COUNTED} from abuse_reports where ${column} = $1`, [
    id,
    firstIdAt(since),
  ]);
  return row ?? { open: 0n, recent: 0n };
}

export type OffenderRow = ReportCounts & {
  readonly customer_id: string;
  readonly email: string;
  readonly servers: bigint;
  readonly latest_at: Date;
};

/** The customers with the most reports since then. */
export async function listOffenders(sql: Sql, since: Date, limit: number): Promise<OffenderRow[]> {
  return await sql.rows<OffenderRow>(
    `select r.customer_id, c.email, count(*) filter (where r.state <> 'closed') as open, count(*) as recent,
            count(distinct r.server_id) as servers, max(r.created_at) as latest_at
       from abuse_reports r join customers c on c.id = r.customer_id
      where r.id >= $1 group by r.customer_id, c.email
      order by recent desc, latest_at desc, r.customer_id limit $2`,
    [firstIdAt(since), limit],
  );
}

export async function countReportsByState(
  sql: Sql,
): Promise<{ readonly state: AbuseState; readonly kind: AbuseKind; readonly n: bigint }[]> {
  return await sql.rows('select state, kind, count(*) as n from abuse_reports group by state, kind');
}

export async function countOverdueReports(sql: Sql, now: Date): Promise<bigint> {
  const row = await sql.row<{ n: bigint }>(
    `select count(*) as n from abuse_reports where state in ('open', 'forwarded') and due_at <= $1`,
    [now],
  );
  return row?.n ?? 0n;
}

/** How many reports wait for staff: new ones, and those that were answered. */
export async function countWaitingReports(
  sql: Sql,
): Promise<{ readonly open: bigint; readonly answered: bigint }> {
  const row = await sql.row<{ open: bigint; answered: bigint }>(
    `select count(*) filter (where state = 'open') as open,
            count(*) filter (where state = 'answered') as answered
       from abuse_reports where state in ('open', 'answered')`,
  );
  return row ?? { open: 0n, answered: 0n };
}

export interface AbuseTemplateRow {
  readonly kind: AbuseKind;
  readonly deadline_hours: number;
  readonly text: string;
  readonly updated_at: Date;
}

export async function listAbuseTemplates(sql: Sql): Promise<AbuseTemplateRow[]> {
  return await sql.rows<AbuseTemplateRow>(
    'select kind, deadline_hours, text, updated_at from abuse_templates',
  );
}

export async function saveAbuseTemplate(tx: Sql, row: AbuseTemplateRow): Promise<void> {
  await tx.run(
    `insert into abuse_templates (kind, deadline_hours, text, updated_at)
     values ($kind, $deadline_hours, $text, $updated_at)
     on conflict (kind) do update
        set deadline_hours = excluded.deadline_hours, text = excluded.text, updated_at = excluded.updated_at`,
    row,
  );
}
