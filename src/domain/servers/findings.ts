/** What was found of machines: kept while it is so, told when it begins and when it ends. */
import { formatId } from '../../kernel/ids.ts';
import { formatSessionTime } from '../../kernel/time.ts';
import {
  type Finding,
  type FindingKind,
  type FindingRow,
  listFindings,
  recordFindings,
} from '../../store/findings.ts';
import type { Service } from '../context.ts';

/** What was so twice in a row is so; once may be a moment in which something changes. */
const CONFIRMATIONS = 2;
/** Of one look; more than that is one fault, not many. */
const FINDINGS_MAX = 1_000;

/** What the operator is told; of the rest something is done, and that is told. */
const MESSAGES: Partial<Record<FindingKind, string>> = {
  unknown_machine: 'belongs to no server; it is left alone',
  lost_machine: 'has run and has no machine; it is not made again',
  should_be_off: 'is suspended and its machine runs; it is being switched off',
  runs_stopped: 'is stopped and its machine runs; it is left on',
  failing_machine: 'should be on and is not as it should be; it is tried again and again',
};
const REPORTED_KINDS = Object.keys(MESSAGES) as FindingKind[];

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A machine's name as the operator knows it: `srv_…` where it is a server's, by whatever name otherwise. */
function machineLabel({ kind, subject }: Pick<Finding, 'kind' | 'subject'>): string {
  if (kind === 'unknown_machine') return `machine ${subject}`;
  return UUID.test(subject) ? formatId('server', subject) : `machine ${subject}`;
}

export function isServerId(machine: string): boolean {
  return UUID.test(machine);
}

/** In words for the operator, without the time. */
function describeFinding(row: Finding): string {
  const hostText = row.host === null ? '' : ` (${row.host})`;
  const reasonText = row.says ? `: ${row.says}` : '';
  return `${machineLabel(row)}${hostText} ${MESSAGES[row.kind] ?? row.kind}${reasonText}`;
}

/** What is not as the service wants it and is not put right by itself, for `status`. */
export async function listMachineFindings(
  { db }: Pick<Service, 'db'>,
  limit: number,
): Promise<{ level: 'look'; subject: string; message: string }[]> {
  const rows = await listFindings(db, { kinds: REPORTED_KINDS, minLooks: CONFIRMATIONS, limit });
  return rows.map((row) => {
    const since = `since ${formatSessionTime(row.first_seen_at)} UTC`;
    return { level: 'look', subject: 'machines', message: `${describeFinding(row)}; ${since}` };
  });
}

/** Keeps what a look found, and tells of what is new or over. Returns what was so in `LOOKS` looks at least. */
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
      'more is wrong with machines than is kept',
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
      log.info(findingLogFields(row), `no longer so: ${describeFinding(row)}`);
  }
  return active.filter(({ looks }) => looks >= CONFIRMATIONS);
}

function findingLogFields(row: FindingRow): { finding: FindingKind; machine: string; host: string | null } {
  return { finding: row.kind, machine: machineLabel(row), host: row.host };
}
