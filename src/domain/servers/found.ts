/** What was found of machines: kept while it is so, told when it begins and when it ends. */
import { showId } from '../../kernel/ids.ts';
import { sessionTime } from '../../kernel/time.ts';
import {
  type FindingKind,
  type FindingRow,
  type Found,
  listFindings,
  noteFindings,
} from '../../store/findings.ts';
import type { Service } from '../context.ts';

/** What was so twice in a row is so; once may be a moment in which something changes. */
const LOOKS = 2;
/** Of one look; more than that is one fault, not many. */
const FOUND_MAX = 1_000;

/** What the operator is told; of the rest something is done, and that is told. */
const SAYS: Partial<Record<FindingKind, string>> = {
  unknown_machine: 'belongs to no server; it is left alone',
  lost_machine: 'has run and has no machine; it is not made again',
  should_be_off: 'is suspended and its machine runs; it is being switched off',
  runs_stopped: 'is stopped and its machine runs; it is left on',
  failing_machine: 'should be on and is not as it should be; it is tried again and again',
};
const TOLD = Object.keys(SAYS) as FindingKind[];

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A machine's name as the operator knows it: `srv_…` where it is a server's, by whatever name otherwise. */
function shownMachine({ kind, subject }: Pick<Found, 'kind' | 'subject'>): string {
  if (kind === 'unknown_machine') return `machine ${subject}`;
  return UUID.test(subject) ? showId('server', subject) : `machine ${subject}`;
}

export function isServerId(machine: string): boolean {
  return UUID.test(machine);
}

/** In words for the operator, without the time. */
function findingText(row: Found): string {
  const where = row.host === null ? '' : ` (${row.host})`;
  const why = row.says ? `: ${row.says}` : '';
  return `${shownMachine(row)}${where} ${SAYS[row.kind] ?? row.kind}${why}`;
}

/** What is not as the service wants it and is not put right by itself, for `status`. */
export async function machineFaults(
  { db }: Pick<Service, 'db'>,
  limit: number,
): Promise<{ level: 'look'; what: string; says: string }[]> {
  const rows = await listFindings(db, { kinds: TOLD, looks: LOOKS, limit });
  return rows.map((row) => {
    const since = `since ${sessionTime(row.first_seen_at)} UTC`;
    return { level: 'look', what: 'machines', says: `${findingText(row)}; ${since}` };
  });
}

/** Keeps what a look found, and tells of what is new or over. Returns what was so in `LOOKS` looks at least. */
export async function keepFindings(
  { db, clock, log }: Pick<Service, 'db' | 'clock' | 'log'>,
  look: {
    readonly kinds: readonly FindingKind[];
    readonly found: readonly Found[];
    readonly unseen?: readonly string[];
  },
): Promise<FindingRow[]> {
  if (look.found.length > FOUND_MAX) {
    log.error({ found: look.found.length, kept: FOUND_MAX }, 'more is wrong with machines than is kept');
  }
  const { there, gone } = await noteFindings(db, {
    kinds: look.kinds,
    found: look.found.slice(0, FOUND_MAX),
    unseen: look.unseen ?? [],
    now: clock.now(),
  });
  for (const row of there) if (row.looks === LOOKS && SAYS[row.kind]) log.error(shown(row), findingText(row));
  for (const row of gone) {
    if (row.looks >= LOOKS && SAYS[row.kind]) log.info(shown(row), `no longer so: ${findingText(row)}`);
  }
  return there.filter(({ looks }) => looks >= LOOKS);
}

function shown(row: FindingRow): { finding: FindingKind; machine: string; host: string | null } {
  return { finding: row.kind, machine: shownMachine(row), host: row.host };
}
