/** Acts on a report of abuse: suspending its server, blocking its mail, and closing it. */
import { fail } from '../../../kernel/fail.ts';
import { formatId } from '../../../kernel/ids.ts';
import { DAY_MS } from '../../../kernel/time.ts';
import { ABUSE_LIMITS, ABUSE_MATCHES, type AbuseClosing } from '../../../spec/staff/abuse.ts';
import { isUnavailable } from '../../../store/connections/errors.ts';
import {
  claimLateSuspension,
  dropSuspension,
  expireAbuseReporter,
  findAbuseReport,
  type LateReportRow,
  listReportsToSuspend,
  markReportSuspended,
} from '../../../store/staff/abuse.ts';
import type { Service } from '../../context.ts';
import { freezeServer, setOutboundMail } from '../../servers/operator/controls.ts';
import { type AbuseReport, readAbuseReport, reportNotFound, requireReportId } from './read.ts';
import { changeOpenReport } from './record.ts';
import { formatMinutes } from './templates.ts';

const CLOSED = 'The report is closed.';

/** Freezes the server; its customer reads the message. Fails with `not_found` and `conflict_state`. */
export async function suspendReportedServer(
  service: Service,
  shownId: string,
  message: string,
): Promise<AbuseReport> {
  const { id, server } = await requireReportedServer(service, shownId);
  await freezeServer(service, server, message, {
    also: async (tx, now) => (await markReportSuspended(tx, id, now)) || fail('conflict_state', {}, CLOSED),
  });
  return await readAbuseReport(service, shownId);
}

/** Fails with `not_found` and `conflict_state`. */
export async function blockReportedMail(service: Service, shownId: string): Promise<AbuseReport> {
  const { server } = await requireReportedServer(service, shownId);
  await setOutboundMail(service, server, false);
  return await readAbuseReport(service, shownId);
}

async function requireReportedServer({ db }: Pick<Service, 'db'>, shownId: string) {
  const row = (await findAbuseReport(db, requireReportId(shownId))) ?? reportNotFound();
  if (row.state === 'closed') fail('conflict_state', {}, CLOSED);
  if (row.server_id === null) fail('conflict_state', {}, ABUSE_MATCHES[row.match]);
  if (row.server_name === null) fail('conflict_state', {}, 'The server was deleted.');
  return { id: row.id, server: formatId('server', row.server_id) };
}

/** Fails with `not_found` and `conflict_state`. */
export async function closeAbuseReport(
  service: Pick<Service, 'db' | 'keys' | 'clock'>,
  shownId: string,
  result: AbuseClosing,
): Promise<AbuseReport> {
  await changeOpenReport(service, shownId, async (tx, row, now) => {
    const reporterUntil = new Date(now.getTime() + ABUSE_LIMITS.reporterDays * DAY_MS);
    await expireAbuseReporter(tx, row.id, reporterUntil);
    return { ...row, state: 'closed', result, closed_at: now, suspend_when_late: false };
  });
  return await readAbuseReport(service, shownId);
}

/**
 * Freezes the servers of overdue reports for which staff asked for it. The freeze and its mark are one
 * commit, so a server is frozen once, and not after its customer answered. Returns those that failed.
 */
export async function suspendLateReports(
  service: Service,
  due: { readonly limit: number; readonly except: readonly string[] },
): Promise<{ readonly done: number; readonly failed: readonly string[] }> {
  const rows = await listReportsToSuspend(service.db, { ...due, now: service.clock.now() });
  const failed: string[] = [];
  for (const row of rows) {
    try {
      await suspendLate(service, row);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      service.log.error(
        { err: error, report: formatId('abuseReport', row.id) },
        'suspending the server failed',
      );
      failed.push(row.id);
    }
  }
  return { done: rows.length - failed.length, failed };
}

async function suspendLate(service: Service, row: LateReportRow): Promise<void> {
  if (row.server_id === null) return await dropSuspension(service.db, row.id);
  const ticket = row.ticket_id === null ? '' : ` (${formatId('ticket', row.ticket_id)})`;
  const message = `No answer to an abuse report by ${formatMinutes(row.due_at)} UTC${ticket}`;
  await freezeServer(service, formatId('server', row.server_id), message, {
    also: (tx, now) => claimLateSuspension(tx, row.id, now),
    // The reason of an earlier freeze is the one to tell.
    keepsReason: true,
  });
}
