/** How many reports of abuse there are: about a customer, about a server, and in all. */
import { formatId } from '../../../kernel/ids.ts';
import { DAY_MS, formatRfc3339 } from '../../../kernel/time.ts';
import { ABUSE_LIMITS } from '../../../spec/staff/abuse.ts';
import {
  countOverdueReports,
  countReportsOf,
  countWaitingReports,
  listOffenders,
  type OffenderRow,
} from '../../../store/staff/abuse-counts.ts';
import type { Service } from '../../context.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

function countedSince({ clock }: Pick<Deps, 'clock'>): Date {
  return new Date(clock.now().getTime() - ABUSE_LIMITS.countedDays * DAY_MS);
}

/** Those that are open, and all of the last 180 days. */
export async function readReportCounts(
  service: Deps,
  about: { readonly customerId: string } | { readonly serverId: string },
): Promise<{ readonly open: number; readonly recent: number }> {
  const { open, recent } = await countReportsOf(service.db, about, countedSince(service));
  return { open: Number(open), recent: Number(recent) };
}

export type AbuseOffender = ReturnType<typeof toOffender>;

/** The customers with the most reports of the last 180 days, most first. */
export async function readOffenders(service: Deps): Promise<AbuseOffender[]> {
  const rows = await listOffenders(service.db, countedSince(service), ABUSE_LIMITS.offendersShown);
  return rows.map(toOffender);
}

function toOffender(row: OffenderRow) {
  return {
    object: 'abuse_offender' as const,
    id: formatId('customer', row.customer_id),
    customer: row.email,
    open: Number(row.open),
    recent: Number(row.recent),
    servers: Number(row.servers),
    latest_at: formatRfc3339(row.latest_at),
  };
}

interface AbuseFinding {
  readonly level: 'warn' | 'note';
  readonly subject: string;
  readonly message: string;
}

/** For `status`. */
export async function abuseFindings({ db, clock }: Deps): Promise<AbuseFinding[]> {
  const subject = 'abuse';
  const overdue = await countOverdueReports(db, clock.now());
  const { open, answered } = await countWaitingReports(db);
  const note = (n: bigint, says: string): AbuseFinding[] =>
    n > 0n ? [{ level: 'note', subject, message: `${n} ${says}` }] : [];
  return [
    ...(overdue > 0n ? [{ level: 'warn', subject, message: `${overdue} past their deadline` } as const] : []),
    ...note(open, 'not sent to a customer yet'),
    ...note(answered, 'answered by the customer'),
  ];
}
