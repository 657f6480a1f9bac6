/** Findings about machines: stored while they last, logged when they begin and end. */
import { formatId } from '../../../kernel/ids.ts';
import { formatSessionTime } from '../../../kernel/time.ts';
import {
  type Finding,
  type FindingKind,
  type FindingRow,
  listFindings,
  recordFindings,
} from '../../../store/servers/findings.ts';
import type { Service } from '../../context.ts';

/** Consecutive inspections that must agree: one may catch a machine in the middle of a change. */
const CONFIRMATIONS = 2;
/** Per inspection; more than this is one fault, not many. */
const FINDINGS_MAX = 1_000;

/** Findings that the operator sees. The others are repaired, and the repair is logged. */
const MESSAGES: Partial<Record<FindingKind, string>> = {
  unknown_machine: 'belongs to no server and is left alone',
  lost_machine: 'has run but has no machine; it is not recreated',
  should_be_off: 'is suspended but its machine is running; it is being powered off',
  runs_stopped: 'is stopped but its machine is running; it is left on',
  failing_machine: 'should be on but could not be restarted; retrying',
};
/** These leave a customer without a running server. */
const FAILING_KINDS: ReadonlySet<FindingKind> = new Set(['lost_machine', 'failing_machine']);
const REPORTED_KINDS = Object.keys(MESSAGES) as FindingKind[];

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Names a machine for the operator: `srv_…` if it belongs to a server, its raw name otherwise. */
function machineLabel({ kind, subject }: Pick<Finding, 'kind' | 'subject'>): string {
  if (kind === 'unknown_machine') return `machine ${subject}`;
  return UUID.test(subject) ? formatId('server', subject) : `machine ${subject}`;
}

export function isServerId(machine: string): boolean {
  return UUID.test(machine);
}

/** Describes a finding for the operator, without the time. */
function describeFinding(row: Finding): string {
  const hostText = row.host === null ? '' : ` (${row.host})`;
  const reasonText = row.says ? `: ${row.says}` : '';
  return `${machineLabel(row)}${hostText} ${MESSAGES[row.kind] ?? row.kind}${reasonText}`;
}

/** Lists for `status` the findings that the service does not repair automatically. */
export async function listMachineFindings(
  { db }: Pick<Service, 'db'>,
  limit: number,
): Promise<{ level: 'fail' | 'warn'; subject: string; message: string }[]> {
  const rows = await listFindings(db, { kinds: REPORTED_KINDS, minLooks: CONFIRMATIONS, limit });
  return rows.map((row) => {
    const since = `since ${formatSessionTime(row.first_seen_at)} UTC`;
    const level = FAILING_KINDS.has(row.kind) ? 'fail' : 'warn';
    return { level, subject: 'machines', message: `${describeFinding(row)}; ${since}` };
  });
}

/** Stores an inspection's findings and logs new and resolved ones. Returns the confirmed ones. */
export async function reportFindings(
  { db, clock, log }: Pick<Service, 'db' | 'clock' | 'log'>,
  inspection: {
    readonly kinds: readonly FindingKind[];
    readonly findings: readonly Finding[];
    readonly unobserved?: readonly string[];
  },
): Promise<FindingRow[]> {
  if (inspection.findings.length > FINDINGS_MAX) {
    log.error(
      { found: inspection.findings.length, kept: FINDINGS_MAX },
      'too many machine findings; storing only some of them',
    );
  }
  const { current: active, resolved } = await recordFindings(db, {
    kinds: inspection.kinds,
    findings: inspection.findings.slice(0, FINDINGS_MAX),
    unobserved: inspection.unobserved ?? [],
    now: clock.now(),
  });
  for (const row of active)
    if (row.looks === CONFIRMATIONS && MESSAGES[row.kind])
      log.error(findingLogFields(row), describeFinding(row));
  for (const row of resolved) {
    if (row.looks >= CONFIRMATIONS && MESSAGES[row.kind])
      log.info(findingLogFields(row), `resolved: ${describeFinding(row)}`);
  }
  return active.filter(({ looks }) => looks >= CONFIRMATIONS);
}

function findingLogFields(row: FindingRow): { finding: FindingKind; machine: string; host: string | null } {
  return { finding: row.kind, machine: machineLabel(row), host: row.host };
}
