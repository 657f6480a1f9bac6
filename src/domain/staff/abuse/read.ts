/** Reports of abuse as staff read them. */
import { fail, invalidRequest } from '../../../kernel/fail.ts';
import { formatId, parseId } from '../../../kernel/ids.ts';
import { formatRfc3339, HOUR_MS } from '../../../kernel/time.ts';
import { SEALED } from '../../../spec/sealed.ts';
import { ABUSE_MATCHES, type AbuseKind, type AbuseState } from '../../../spec/staff/abuse.ts';
import { findAbuseReport, listAbuseReports, type ShownReportRow } from '../../../store/staff/abuse.ts';
import { listAbuseFiles } from '../../../store/staff/abuse-files.ts';
import type { Service } from '../../context.ts';
import { requireCustomer } from '../../customers/operator.ts';
import { fillTemplate, readAbuseTemplate } from './templates.ts';

type Deps = Pick<Service, 'db' | 'keys' | 'clock'>;

export interface AbuseQuery {
  readonly state?: AbuseState;
  readonly kind?: AbuseKind;
  readonly overdue?: true;
  /** An email address or an id. */
  readonly customer?: string;
  /** `srv_…` */
  readonly server?: string;
  /** `abr_…`: only older reports. */
  readonly before?: string;
  readonly limit: number;
}

export type AbuseReportItem = ReturnType<typeof toItem>;
export type AbuseReport = Awaited<ReturnType<typeof readAbuseReport>>;

/** Newest first, and whether there are more. */
export async function listReportsForStaff(
  service: Deps,
  { state, kind, overdue, customer, server, before, limit }: AbuseQuery,
): Promise<{ readonly reports: readonly AbuseReportItem[]; readonly hasMore: boolean }> {
  const { db, clock } = service;
  const beforeId = before === undefined ? undefined : parseId('abuseReport', before);
  if (before !== undefined && beforeId === undefined) return { reports: [], hasMore: false };
  const filter = {
    ...(state && { state }),
    ...(kind && { kind }),
    ...(overdue && { overdueAt: clock.now() }),
    ...(customer && { customerId: (await requireCustomer(db, customer)).id }),
    ...(server && { serverId: requireServer(server) }),
    ...(beforeId && { beforeId }),
  };
  const rows = await listAbuseReports(db, filter, limit + 1);
  return { reports: rows.slice(0, limit).map((row) => toItem(service, row)), hasMore: rows.length > limit };
}

function requireServer(text: string): string {
  const id = parseId('server', text.trim());
  return id ?? invalidRequest([{ field: 'server', issue: 'invalid_format' }], 'Enter the id of a server.');
}

/** Fails with `not_found`. */
export async function readAbuseReport(service: Deps, shownId: string) {
  const { db, keys } = service;
  const row = (await findAbuseReport(db, requireReportId(shownId))) ?? reportNotFound();
  const item = toItem(service, row);
  const evidence = row.evidence_sealed && keys.open(SEALED.abuseEvidence, row.id, row.evidence_sealed);
  const contact = row.contact_sealed && keys.open(SEALED.abuseReporter, row.id, row.contact_sealed);
  return {
    ...item,
    match_text: ABUSE_MATCHES[row.match],
    mail_allowed: row.mail_allowed,
    server_frozen: row.frozen_at !== null,
    evidence: evidence === null ? null : evidence.toString(),
    reporter: contact === null ? null : contact.toString(),
    files: (await listAbuseFiles(db, row.id)).map(({ id, name_sealed, type, size_bytes, created_at }) => ({
      id: formatId('abuseFile', id),
      report: item.id,
      name: keys.open(SEALED.abuseFileName, id, name_sealed).toString(),
      ...{ type, size_bytes, created_at: formatRfc3339(created_at) },
    })),
    proposal: row.state === 'open' && row.match === 'matched' ? await propose(service, row, item) : null,
  };
}

/** The message and the deadline that the form of forwarding begins with. */
async function propose(
  service: Deps,
  row: ShownReportRow,
  { address, server_name: server }: AbuseReportItem,
) {
  const { deadline_hours: hours, text } = await readAbuseTemplate(service, row.kind);
  const dueAt = new Date(service.clock.now().getTime() + hours * HOUR_MS);
  const values = { server, address, time: row.happened_at, deadline: dueAt };
  return { text: fillTemplate(text, values), deadline: toWholeMinutes(dueAt) };
}

function toWholeMinutes(time: Date): string {
  return formatRfc3339(time).replace(/:\d\d(?:\.\d+)?Z$/, ':00Z');
}

function toItem({ keys, clock }: Pick<Deps, 'keys' | 'clock'>, row: ShownReportRow) {
  const time = (value: Date | null) => value && formatRfc3339(value);
  const isDue = row.state === 'open' || row.state === 'forwarded';
  return {
    object: 'abuse_report' as const,
    id: formatId('abuseReport', row.id),
    kind: row.kind,
    state: row.state,
    overdue: isDue && row.due_at <= clock.now(),
    result: row.result,
    source: row.source,
    /** Null: deleted with the account that had it. */
    address: row.address_sealed && keys.open(SEALED.abuseAddress, row.id, row.address_sealed).toString(),
    time: formatRfc3339(row.happened_at),
    match: row.match,
    server: row.server_id && formatId('server', row.server_id),
    /** Null: it was deleted. */
    server_name: row.server_name,
    customer: row.email,
    customer_id: row.customer_id && formatId('customer', row.customer_id),
    ticket: row.ticket_id && formatId('ticket', row.ticket_id),
    deadline: formatRfc3339(row.due_at),
    suspend_when_late: row.suspend_when_late,
    suspended_at: time(row.suspended_at),
    created_at: formatRfc3339(row.created_at),
    forwarded_at: time(row.forwarded_at),
    answered_at: time(row.answered_at),
    closed_at: time(row.closed_at),
  };
}

export function requireReportId(shownId: string): string {
  return parseId('abuseReport', shownId) ?? reportNotFound();
}

export function reportNotFound(): never {
  fail('not_found', {}, 'There is no report of abuse with this id.');
}
