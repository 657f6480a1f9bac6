/** Sends a report of abuse to the customer, in a ticket. */
import { fail } from '../../../kernel/fail.ts';
import { formatId, newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { HOUR_MS } from '../../../kernel/time.ts';
import { SEALED } from '../../../spec/sealed.ts';
import { ABUSE_LIMITS, ABUSE_MATCHES } from '../../../spec/staff/abuse.ts';
import { lockCustomer } from '../../../store/customers/customers.ts';
import { isDeletingCustomer } from '../../../store/customers/deletion.ts';
import { insertTicket } from '../../../store/customers/tickets.ts';
import { findAbuseReport, lockAbuseReport, updateAbuseReport } from '../../../store/staff/abuse.ts';
import type { Service } from '../../context.ts';
import { storeFile } from '../../customers/tickets/attach.ts';
import { addMessage } from '../../customers/tickets/text.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { shareFiles } from './files.ts';
import { type AbuseReport, readAbuseReport, reportNotFound, requireReportId } from './read.ts';
import { requireDeadline, requireMaySuspend, requireNotForwarded, requireText } from './record.ts';
import { fillTemplate, readAbuseTemplate } from './templates.ts';

export interface ForwardOrder {
  /** Default: the text of the kind. */
  readonly text?: string;
  /** The part of the evidence that the customer may read. Never who sent the report. */
  readonly evidence?: string;
  /** Whether the customer gets the files of the report, too. */
  readonly share_files?: boolean;
  /** RFC 3339. Default: that of the kind, from now. */
  readonly deadline?: string;
  readonly suspend_when_late?: boolean;
}

const FILE_NAME = 'evidence.txt';

interface Message {
  readonly staffId: string | null;
  /** The report whose files are shared; null: none are. */
  readonly filesOf: string | null;
  readonly customerId: string;
  readonly serverName: string | null;
  readonly text: string;
  readonly evidence: string | null;
  readonly dueAt: Date;
}

/** `staffId` is null for a command. Fails with `not_found`, `invalid_request`, and `conflict_state`. */
export async function forwardAbuseReport(
  service: Service,
  staffId: string | null,
  shownId: string,
  order: ForwardOrder,
): Promise<AbuseReport> {
  const { db, keys, clock } = service;
  const now = clock.now();
  const found = (await findAbuseReport(db, requireReportId(shownId))) ?? reportNotFound();
  const template = await readAbuseTemplate(service, found.kind);
  const proposed = new Date(now.getTime() + template.deadline_hours * HOUR_MS);
  const dueAt = order.deadline === undefined ? proposed : requireDeadline(order.deadline, now);
  const evidence = order.evidence?.trim()
    ? requireText('evidence', order.evidence, ABUSE_LIMITS.evidenceMaxChars)
    : null;
  const written = requireText('text', order.text ?? template.text, ABUSE_LIMITS.textMaxChars);
  await db.transaction(async (tx) => {
    // The customer's lock comes first, as for a reply in a ticket.
    if (found.customer_id !== null) await lockCustomer(tx, found.customer_id);
    const row = (await lockAbuseReport(tx, found.id)) ?? reportNotFound();
    requireNotForwarded(row);
    const { customer_id: customerId } = row;
    if (customerId === null || customerId !== found.customer_id) {
      fail('conflict_state', {}, `There is no one to send it to. ${ABUSE_MATCHES[row.match]}`);
    }
    if (await isDeletingCustomer(tx, customerId)) {
      fail('conflict_state', {}, 'The account is being deleted.');
    }
    const address =
      row.address_sealed && keys.open(SEALED.abuseAddress, row.id, row.address_sealed).toString();
    const values = { server: found.server_name, address, time: row.happened_at, deadline: dueAt };
    const text = fillTemplate(written, values);
    const filesOf = order.share_files ? row.id : null;
    const about = { staffId, filesOf, customerId, serverName: found.server_name };
    const message = { ...about, text, evidence, dueAt };
    const ticketId = await openTicket(tx, service, message, now);
    const suspendWhenLate = order.suspend_when_late ?? row.suspend_when_late;
    await requireMaySuspend(tx, suspendWhenLate);
    await updateAbuseReport(tx, {
      ...{ ...row, state: 'forwarded', ticket_id: ticketId, forwarded_at: now, due_at: dueAt },
      suspend_when_late: suspendWhenLate,
    });
  });
  service.wake();
  return await readAbuseReport(service, shownId);
}

/** Opens a ticket that waits for the customer, and mails it. Returns its id. */
async function openTicket(
  tx: Sql,
  service: Service,
  { staffId, filesOf, customerId, serverName, text, evidence, dueAt }: Message,
  now: Date,
): Promise<string> {
  const { keys } = service;
  const id = newId(now);
  const subject = `Abuse report about ${serverName ?? 'a deleted server'}`;
  await insertTicket(tx, {
    ...{ id, customer_id: customerId, status: 'answered', assignee_id: staffId },
    ...{ category: 'abuse', answer_by: dueAt },
    subject_sealed: keys.seal(SEALED.ticketSubject, id, subject),
    ...{ created_at: now, updated_at: now, closed_at: null, mail_id_sealed: null },
  });
  const message = { ticket_id: id, author: 'staff', staff_id: staffId, text } as const;
  const cause = await addMessage(tx, service, message, now);
  if (evidence !== null) {
    const file = { name: FILE_NAME, type: 'text/plain', content: Buffer.from(evidence) } as const;
    await storeFile(tx, service, { messageId: cause, file }, now);
  }
  if (filesOf !== null) await shareFiles(tx, service, { reportId: filesOf, messageId: cause }, now);
  const ticket = formatId('ticket', id);
  const audited = { actor: systemActor(now), action: 'ticket.open', resource: ticket, customerId } as const;
  await recordAudit(tx, audited, now);
  const data = { ticket, subject, text, answerBy: dueAt };
  await enqueueMail(tx, { customerId, kind: 'ticket_opened', cause, data }, now, keys);
  return id;
}
