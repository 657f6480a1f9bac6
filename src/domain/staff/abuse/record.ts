/** Records reports of abuse, changes them, and finds who had the address at that time. */
import { isIP } from 'node:net';
import { fail, invalidRequest } from '../../../kernel/fail.ts';
import { formatId, newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, parseRfc3339 } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { SEALED } from '../../../spec/sealed.ts';
import { ABUSE_KINDS, ABUSE_LIMITS, type AbuseKind } from '../../../spec/staff/abuse.ts';
import { setTicketDeadline } from '../../../store/customers/tickets.ts';
import { listAssignments } from '../../../store/inventory/address-history.ts';
import { findAddress } from '../../../store/inventory/find-address.ts';
import {
  type AbuseReportRow,
  countOpenFormReports,
  insertAbuseReport,
  lockAbuseReport,
  setAbuseReporter,
  updateAbuseReport,
} from '../../../store/staff/abuse.ts';
import { listApprovalRules } from '../../../store/staff/approvals.ts';
import type { Service } from '../../context.ts';
import { cleanText } from '../../customers/tickets/text.ts';
import { type AbuseReport, readAbuseReport, reportNotFound, requireReportId } from './read.ts';
import { readAbuseTemplate } from './templates.ts';

type Deps = Pick<Service, 'db' | 'keys' | 'clock'>;

export interface NewAbuseReport {
  readonly kind: AbuseKind;
  readonly address: string;
  /** When it happened, as RFC 3339. */
  readonly time: string;
  readonly evidence: string;
  readonly reporter?: string;
  /** RFC 3339; default: that of the kind. */
  readonly deadline?: string;
  readonly suspend_when_late?: boolean;
}

/** Fails with `invalid_request`. */
export async function createAbuseReport(
  service: Deps,
  order: NewAbuseReport,
  source: AbuseReportRow['source'] = 'staff',
): Promise<AbuseReport> {
  const { db, keys, clock } = service;
  const now = clock.now();
  const address = requireAddress(order.address);
  const happenedAt = requirePastTime(order.time, now);
  const evidence = requireText('evidence', order.evidence, ABUSE_LIMITS.evidenceMaxChars);
  const { deadline_hours: hours } = await readAbuseTemplate(service, order.kind);
  const proposed = new Date(now.getTime() + hours * HOUR_MS);
  const dueAt = order.deadline === undefined ? proposed : requireDeadline(order.deadline, now);
  const id = newId(now);
  const row: AbuseReportRow = {
    ...{ id, source, kind: order.kind, state: 'open', result: null },
    address_sealed: keys.seal(SEALED.abuseAddress, id, address),
    evidence_sealed: keys.seal(SEALED.abuseEvidence, id, evidence),
    happened_at: happenedAt,
    ...(await findHolder(db, { address, at: happenedAt, now })),
    ...{ ticket_id: null, due_at: dueAt, suspend_when_late: order.suspend_when_late ?? false },
    ...{ suspended_at: null, created_at: now, forwarded_at: null, answered_at: null, closed_at: null },
  };
  await requireMaySuspend(db, order.suspend_when_late);
  const reporter = sealReporter(service, id, order.reporter ?? '');
  await db.transaction(async (tx) => {
    await insertAbuseReport(tx, row);
    await setAbuseReporter(tx, id, reporter);
  });
  return await readAbuseReport(service, formatId('abuseReport', id));
}

/**
 * Records a report of anyone, from the public form. Returns its id. Fails with `invalid_request` and
 * `limit_reached`.
 */
export async function reportAbuse(
  service: Deps,
  {
    kind: word,
    ...form
  }: { readonly kind: string } & Pick<NewAbuseReport, 'address' | 'time' | 'evidence'> & {
      readonly reporter: string;
    },
): Promise<string> {
  const kind = ABUSE_KINDS.find((each) => each === word);
  if (!kind) invalidRequest([{ field: 'kind', issue: 'invalid_value' }]);
  const evidence = requireText('evidence', form.evidence, ABUSE_LIMITS.formTextMaxChars);
  const limit = ABUSE_LIMITS.formOpenMax;
  if ((await countOpenFormReports(service.db, limit)) >= limit) {
    fail('limit_reached', {}, 'We cannot take more reports now. Try again tomorrow.');
  }
  return (await createAbuseReport(service, { ...form, kind, evidence }, 'form')).id;
}

export type ReportChange = Partial<NewAbuseReport>;

/** Omitted fields stay. Fails with `not_found`, `invalid_request`, and `conflict_state`. */
export async function changeAbuseReport(
  service: Deps,
  shownId: string,
  change: ReportChange,
): Promise<AbuseReport> {
  await changeOpenReport(service, shownId, async (tx, row, now) => {
    const { id } = row;
    if (!row.suspend_when_late) await requireMaySuspend(tx, change.suspend_when_late);
    if (change.reporter !== undefined) {
      await setAbuseReporter(tx, id, sealReporter(service, id, change.reporter));
    }
    const evidence =
      change.evidence === undefined
        ? null
        : requireText('evidence', change.evidence, ABUSE_LIMITS.evidenceMaxChars);
    return {
      ...row,
      ...(change.kind && { kind: change.kind }),
      ...(evidence !== null && { evidence_sealed: service.keys.seal(SEALED.abuseEvidence, id, evidence) }),
      ...(change.deadline !== undefined && (await changedDeadline(tx, row, change.deadline, now))),
      ...(change.suspend_when_late !== undefined && { suspend_when_late: change.suspend_when_late }),
      ...(await changedEvent(service, tx, row, { change, now })),
    };
  });
  return await readAbuseReport(service, shownId);
}

/**
 * A form sends the current deadline, too. The customer knows theirs, so it only moves to a later time, and
 * the ticket shows it. An answered report waits for another answer until then.
 */
async function changedDeadline(
  tx: Sql,
  row: AbuseReportRow,
  text: string,
  now: Date,
): Promise<Partial<AbuseReportRow>> {
  const time = requireTime('deadline', text);
  if (Math.abs(time.getTime() - row.due_at.getTime()) < 1_000) return {};
  const dueAt = requireDeadline(text, now);
  if (row.ticket_id === null) return { due_at: dueAt };
  if (dueAt < row.due_at) {
    const message = 'The customer has until then to answer. Enter a later time.';
    invalidRequest([{ field: 'deadline', issue: 'invalid_value' }], message);
  }
  await setTicketDeadline(tx, row.ticket_id, dueAt);
  return { due_at: dueAt, state: 'forwarded', answered_at: null };
}

/** Fails with `conflict_state` if a rule asks a second person before servers are frozen. */
export async function requireMaySuspend(sql: Sql, isWanted: boolean | undefined): Promise<void> {
  if (!isWanted) return;
  const rules = await listApprovalRules(sql);
  const isRuled = rules.some(
    ({ operation }) => operation === 'servers.freeze' || operation === 'abuse_reports.suspend',
  );
  if (isRuled) fail('conflict_state', {}, 'A second person has to approve each suspension of a server.');
}

/** Another address or time: the report is matched again, which a forwarded one cannot be. */
async function changedEvent(
  { keys }: Pick<Deps, 'keys'>,
  tx: Sql,
  row: AbuseReportRow,
  { change, now }: { readonly change: ReportChange; readonly now: Date },
): Promise<Partial<AbuseReportRow>> {
  const known = row.address_sealed && keys.open(SEALED.abuseAddress, row.id, row.address_sealed).toString();
  const address = change.address === undefined ? known : requireAddress(change.address);
  const asked = change.time === undefined ? row.happened_at : requirePastTime(change.time, now);
  const isSameTime = Math.abs(asked.getTime() - row.happened_at.getTime()) < 1_000;
  if (address === null || (address === known && isSameTime)) return {};
  requireNotForwarded(row);
  return {
    address_sealed: keys.seal(SEALED.abuseAddress, row.id, address),
    happened_at: asked,
    ...(await findHolder(tx, { address, at: asked, now })),
  };
}

/** Looks again who had the address: the pool may have got it since. */
export async function matchAbuseReport(service: Deps, shownId: string): Promise<AbuseReport> {
  await changeOpenReport(service, shownId, async (tx, row, now) => {
    requireNotForwarded(row);
    if (row.address_sealed === null) return row;
    const address = service.keys.open(SEALED.abuseAddress, row.id, row.address_sealed).toString();
    return { ...row, ...(await findHolder(tx, { address, at: row.happened_at, now })) };
  });
  return await readAbuseReport(service, shownId);
}

/** Changes a report that is not closed, under its lock. */
export async function changeOpenReport(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  shownId: string,
  change: (tx: Sql, row: AbuseReportRow, now: Date) => Promise<AbuseReportRow>,
): Promise<void> {
  const id = requireReportId(shownId);
  await db.transaction(async (tx) => {
    const row = (await lockAbuseReport(tx, id)) ?? reportNotFound();
    if (row.state === 'closed') fail('conflict_state', {}, 'The report is closed.');
    await updateAbuseReport(tx, await change(tx, row, clock.now()));
  });
}

export function requireNotForwarded({ state }: AbuseReportRow): void {
  if (state !== 'open') fail('conflict_state', {}, 'The report was sent to the customer.');
}

interface Event {
  readonly address: string;
  readonly at: Date;
  readonly now: Date;
}

/** Who had the address at that time, which may not be who has it now. */
async function findHolder(
  sql: Sql,
  { address, at, now }: Event,
): Promise<Pick<AbuseReportRow, 'match' | 'server_id' | 'customer_id'>> {
  const [holder] = await listAssignments(sql, address, { at, limit: 1 });
  if (holder && holder.email !== null) {
    return { match: 'matched', server_id: holder.server_id, customer_id: holder.customer_id };
  }
  const none = { server_id: null, customer_id: null };
  if (holder) return { match: 'deleted', ...none };
  if (!(await findAddress(sql, address))) return { match: 'not_ours', ...none };
  const keptFrom = now.getTime() - LIMITS.addressHistoryDays * DAY_MS;
  return { match: at.getTime() < keptFrom ? 'not_kept' : 'nobody', ...none };
}

/** Null: without one. */
function sealReporter({ keys }: Pick<Deps, 'keys'>, id: string, text: string): string | null {
  if (text.trim() === '') return null;
  const contact = requireText('reporter', text.replace(/\s+/gu, ' '), ABUSE_LIMITS.reporterMaxChars);
  return keys.seal(SEALED.abuseReporter, id, contact);
}

function requireAddress(text: string): string {
  const address = text.trim().toLowerCase();
  if (isIP(address) !== 0 && !address.includes('%')) return address;
  invalidRequest([{ field: 'address', issue: 'invalid_format' }], 'Enter an IPv4 or IPv6 address.');
}

function requireTime(field: string, text: string): Date {
  const message = 'Enter a time such as 2026-12-01T22:00:00Z.';
  return parseRfc3339(fullTime(text.trim())) ?? invalidRequest([{ field, issue: 'invalid_format' }], message);
}

/** `2026-12-01 22:00` is in UTC. */
function fullTime(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)$/, '$1T$2:00Z');
}

/** The clocks of others may be a little fast. */
function requirePastTime(text: string, now: Date): Date {
  const time = requireTime('time', text);
  if (time.getTime() <= now.getTime() + 5 * MINUTE_MS) return time;
  invalidRequest([{ field: 'time', issue: 'invalid_value' }], 'Enter a time in the past.');
}

export function requireDeadline(text: string, now: Date): Date {
  const time = requireTime('deadline', text);
  const hours = (time.getTime() - now.getTime()) / HOUR_MS;
  if (hours > 0 && hours <= ABUSE_LIMITS.deadlineMaxHours) return time;
  const days = ABUSE_LIMITS.deadlineMaxHours / 24;
  invalidRequest([{ field: 'deadline', issue: 'invalid_value' }], `Enter a time in the next ${days} days.`);
}

/** Text without control characters. Fails with `invalid_request`. */
export function requireText(field: string, text: string, max: number): string {
  const clean = cleanText(text, field);
  if (clean.length > max) invalidRequest([{ field, issue: 'max_length', max }]);
  return clean;
}
